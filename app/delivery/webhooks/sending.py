"""Sends one message to a receiver, and says what came of it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from app.core import outgoing
from app.core.config.allowed_hosts import AllowedHost

SETTING = "FLAGSTAFF_WEBHOOK_HOSTS"
SECONDS = 10.0
MAX_ANSWER = 1_024
DELIVERED, REDIRECTS = range(200, 300), range(300, 400)


class DeliveryOutcome(NamedTuple):
    """The outcome of one attempt. ``error``: None if the message was delivered.

    ``is_final``: whether it must not be sent again, because it may have arrived.
    """

    status: int | None = None
    error: str | None = None
    answer: str | None = None
    is_final: bool = False


def post(
    url: str, body: bytes, headers: Mapping[str, str], hosts: Sequence[AllowedHost]
) -> DeliveryOutcome:
    """Send a message. Failures are in the outcome, not raised."""
    try:
        status, content = outgoing.post(
            url, body, headers, hosts, SETTING, seconds=SECONDS, most=MAX_ANSWER
        )
    except outgoing.Unanswered as error:
        return DeliveryOutcome(error=str(error))
    beginning = content.decode("utf-8", "replace").replace("\0", "�")
    if status in DELIVERED:
        return DeliveryOutcome(status, None, beginning)
    hint = " Redirects are not followed." if status in REDIRECTS else ""
    return DeliveryOutcome(status, f"Answered with {status}.{hint}", beginning)
