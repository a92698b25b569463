"""What someone had typed when their session ended, kept while they sign in at the provider.

Without a session the server can't keep it, so the signed cookie carries it.
"""

import zlib

from flask import json, session

from app.web.browsers import Fields

MOST_BYTES = 2_300
"""After compression. Browsers drop cookies above 4,096 bytes, and this one has other values too."""
_KEY = "kept"


def fits(fields: Fields) -> bool:
    return len(zlib.compress(json.dumps(fields).encode())) <= MOST_BYTES


def put(path: str, fields: Fields) -> None:
    """Keep the fields of the form at ``path``, unless they are too large."""
    session.pop(_KEY, None)
    if fits(fields):
        session[_KEY] = [path, fields]


def take(path: str) -> Fields | None:
    """The fields that were kept for the form at ``path``."""
    kept_path, fields = session.pop(_KEY, None) or (None, None)
    return fields if kept_path == path else None
