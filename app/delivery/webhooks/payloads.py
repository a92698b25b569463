"""What is sent: the event as the API shows it to people without access to addresses and tokens."""

import json
from datetime import datetime
from typing import Any

from app.core.clock import in_text, utcnow
from app.core.events.models import Event

TEST = "test"
"""The type of a message that tells of no event."""
MAX_BODY = 256 * 1024
"""Characters. What is longer comes without ``data`` and ``preData``."""
DIGEST_BYTES = 8


def message_id(event: Event) -> str:
    """The id by which receivers know a message that they already have.

    It has the event's digest in it: after a restore, another event can have the same number.
    """
    return f"evt_{event.id}_{event.digest[:DIGEST_BYTES].hex()}"


def body_of(event: Event) -> str:
    facts: dict[str, Any] = {
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
    body = _message(event.type, event.created_at, facts)
    if len(body) <= MAX_BODY:
        return body
    left_out = {"data": None, "preData": None, "isTooLarge": True}
    return _message(event.type, event.created_at, facts | left_out)


def body_of_test(name: str) -> str:
    return _message(TEST, utcnow(), {"webhook": name})


def _message(type: str, at: datetime, data: dict[str, Any]) -> str:
    message = {"type": type, "timestamp": in_text(at), "data": data}
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))
