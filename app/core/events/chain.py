"""The hash chain of the event log: changed or removed events break it.

Each event's digest covers the digest of the event before.
"""

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

START = bytes(32)
"""The digest before the first event."""

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
    """The digest of an event, from the digest before and the event's columns.

    ``text_of``: encodes ``data`` and ``pre_data``, for callers that cache the text.
    """
    write = text_of or as_text
    facts = [event[name] for name in FACTS]
    facts[FACTS.index("created_at")] = event["created_at"].isoformat()
    parts = (as_text(facts), write(event["data"]), write(event["pre_data"]))
    return sha256(before + "\n".join(parts).encode()).digest()
