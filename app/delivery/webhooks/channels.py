"""Sends messages to channels: chats and mailboxes, whose addresses the operator named.

Apprise knows how each service takes them. It needs 45 MB, so it is loaded for the first message.
"""

import logging
import re
from collections.abc import Callable, Iterable

from app.core.config.kinds import Channel
from app.delivery.webhooks.sending import SECONDS, DeliveryOutcome
from app.delivery.webhooks.texts import Text

SHORTEST_SECRET = 6
"""Shorter parts of an address may be words, and stay in what its service said."""

logging.getLogger("apprise").propagate = False  # it logs addresses; outcomes have what it says


def unusable(channels: Iterable[Channel]) -> list[str]:
    """A sentence for each channel whose address Apprise doesn't know."""
    if not channels:
        return []
    import apprise  # noqa: PLC0415 - see above

    return [unknown(one) for one in channels if not apprise.Apprise().add(one.url)]


def unknown(channel: Channel) -> str:
    return f"Apprise doesn’t know the address of channel {channel.name} in FLAGSTAFF_CHANNELS."


def send(channel: Channel, text: Text, address: Callable[[str], str]) -> DeliveryOutcome:
    """Send a message. Failures are in the outcome. ``address`` makes a URL of a path."""
    import apprise  # noqa: PLC0415 - see above

    own = apprise.AppriseAsset(
        app_id="Flagstaff",
        app_desc="Flagstaff",
        app_url=address(""),
        image_url_mask="",
        image_url_logo="",
    )
    receiver = apprise.Apprise(asset=own)
    if not receiver.add(channel.url):
        return DeliveryOutcome(error=unknown(channel))
    link = address(text.path) if text.path else ""
    body = "\n".join(filter(None, [text.reason, link])) or text.title
    result = receiver.notify(title=text.title, body=body, body_format="text", timeout=SECONDS)
    if result:
        return DeliveryOutcome()
    if result.status is apprise.AppriseResultStatus.TIMEOUT:
        late = f"No complete answer within {SECONDS:.0f} seconds. It may have arrived."
        return DeliveryOutcome(error=late, is_final=True)
    said = [entry.message for entry in result.logs() if entry.level in {"WARNING", "ERROR"}]
    why = " ".join(["The message was not taken.", *said])
    return DeliveryOutcome(error=without_secrets(why, channel.url))


def without_secrets(text: str, url: str) -> str:
    """The text without the parts of the address, which are mostly tokens and passwords."""
    for part in sorted(re.split(r"[^\w~.-]+", url), key=len, reverse=True):
        if len(part) >= SHORTEST_SECRET:
            text = text.replace(part, "…")
    return text
