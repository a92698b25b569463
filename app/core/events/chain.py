"""Each event's digest has the one before in it: none can be changed or taken out unnoticed."""

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

START = bytes(32)
"""What the first event of all follows."""

FACTS = (
    "id",
    "type",
    "created_at",
    "created_by",
    "created_by_user_id",
    "token_id",
    "ip",
    "project",
    "feature_name",
    "reason",
    "batch_id",
)

as_text = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
"""JSON in its one canonical form."""


def link(
    before: bytes, event: Mapping[str, Any], text_of: Callable[[Any], str] | None = None
) -> bytes:
    """The digest of an event, from the one before and the event's columns.

    ``text_of``: how to write ``data`` and ``pre_data``, for callers that write the same ones often.
    """
    write = text_of or as_text
    facts = [event[name] for name in FACTS]
    facts[FACTS.index("created_at")] = event["created_at"].isoformat()
    parts = (as_text(facts), write(event["data"]), write(event["pre_data"]))
    return sha256(before + "\n".join(parts).encode()).digest()
