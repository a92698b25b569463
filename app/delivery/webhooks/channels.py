"""Sends messages to channels: chats and mailboxes, whose addresses the operator named."""

from collections.abc import Callable, Iterable

from app.core import messages
from app.core.config.kinds import Channel
from app.delivery.webhooks.sending import DeliveryOutcome
from app.delivery.webhooks.texts import Text


def unusable(channels: Iterable[Channel]) -> list[str]:
    """A sentence for each channel whose address Apprise doesn't know."""
    return [
        f"Apprise doesn’t know the address of channel {one.name} in FLAGSTAFF_CHANNELS."
        for one in channels
        if not messages.is_known(one.url)
    ]


def send(channel: Channel, text: Text, address: Callable[[str], str]) -> DeliveryOutcome:
    """Send a message. Failures are in the outcome. ``address`` makes a URL of a path."""
    link = address(text.path) if text.path else ""
    body = "\n".join(filter(None, [text.reason, link])) or text.title
    error, may_have_arrived = messages.send(channel.url, text.title, body, sender=address(""))
    return DeliveryOutcome(error=error, is_final=may_have_arrived)
