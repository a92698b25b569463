"""Bodies of messages: events as the API shows them to people who can't see addresses and tokens."""

import json
from datetime import datetime
from typing import Any

from app.core.clock import in_text, utcnow
from app.core.events.models import Event

TEST = "test"
"""The type of a test message, which has no event."""
MAX_BODY = 256 * 1024
"""Characters. Longer messages are sent without ``data`` and ``preData``."""
DIGEST_BYTES = 8


def message_id(event: Event) -> str:
    """Return the id by which receivers detect duplicates.

    It contains the event's digest, because after a restore another event can have its number.
    """
    return f"evt_{event.id}_{event.digest[:DIGEST_BYTES].hex()}"


def body_of(event: Event) -> str:
    data: dict[str, Any] = {
        "id": event.id,
        "type": event.type.value,
        "createdAt": in_text(event.created_at),
        "createdBy": event.created_by,
        "createdByUserId": event.created_by_user_id,
        "tokenId": None,
        "ip": None,
        "project": event.project,
        "featureName": event.feature_name,
        "data": event.data,
        "preData": event.pre_data,
        "reason": event.reason,
        "batchId": event.batch_id,
    }
    body = _message(event.type, event.created_at, data)
    if len(body) <= MAX_BODY:
        return body
    left_out = {"data": None, "preData": None, "isTooLarge": True}
    return _message(event.type, event.created_at, data | left_out)


def body_of_test(name: str) -> str:
    return _message(TEST, utcnow(), {"webhook": name})


def _message(type: str, at: datetime, data: dict[str, Any]) -> str:
    message = {"type": type, "timestamp": in_text(at), "data": data}
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))
