"""What someone had typed when their session ended, for the way to the provider and back.

There is no session to keep it on the server, so the cookie carries it, signed.
"""

import zlib

from flask import json, session

from app.web.browsers import Fields

MOST_BYTES = 2_300
"""Compressed. Browsers drop a cookie of more than 4,096 bytes, and it holds more than this."""
_KEY = "kept"


def fits(fields: Fields) -> bool:
    return len(zlib.compress(json.dumps(fields).encode())) <= MOST_BYTES


def put(path: str, fields: Fields) -> None:
    """Keep the fields of the form at ``path``, unless they are too many."""
    session.pop(_KEY, None)
    if fits(fields):
        session[_KEY] = [path, fields]


def take(path: str) -> Fields | None:
    """The fields that were kept for the form at ``path``."""
    kept_path, fields = session.pop(_KEY, None) or (None, None)
    return fields if kept_path == path else None
