"""Messages for people, by mail or chat. Apprise knows how each service takes them.

It needs 45 MB, so it is loaded where there is something to send.
"""

import logging
import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlencode

SECONDS = 10.0
SHORTEST_SECRET = 6
"""Shorter parts of an address may be words, and stay in what its service said."""

logging.getLogger("apprise").propagate = False  # it logs addresses; outcomes have what it says


class Mail(NamedTuple):
    to: str
    subject: str
    text: str


class Outcome(NamedTuple):
    """``error``: None if the message was taken. Otherwise ``may_have_arrived`` or not."""

    error: str | None = None
    may_have_arrived: bool = False


def is_known(url: str) -> bool:
    """Whether Apprise knows what this address is."""
    import apprise  # noqa: PLC0415 - see above

    return bool(apprise.Apprise().add(url))


def send_mail(
    mail_url: str, mail: Mail, *, sender: str, headers: Mapping[str, str] | None = None
) -> Outcome:
    """Send a mail by the mail server of ``FLAGSTAFF_MAIL_URL``. ``sender``: see ``send``."""
    more = {"to": mail.to, "format": "text"} | {f"+{n}": v for n, v in (headers or {}).items()}
    url = f"{mail_url}{'&' if '?' in mail_url else '?'}{urlencode(more)}"
    return send(url, mail.subject, mail.text, sender=sender)


def send(url: str, title: str, body: str, *, sender: str) -> Outcome:
    """Send a message to an address as Apprise takes it. ``sender``: the address of this server."""
    import apprise  # noqa: PLC0415 - see above

    own = apprise.AppriseAsset(
        app_id="Flagstaff",
        app_desc="Flagstaff",
        app_url=sender,
        image_url_mask="",
        image_url_logo="",
    )
    service = apprise.Apprise(asset=own)
    if not service.add(url):
        return Outcome("Apprise doesn’t know this address.")
    result = service.notify(title=title, body=body, body_format="text", timeout=SECONDS)
    if result:
        return Outcome()
    if result.status is apprise.AppriseResultStatus.TIMEOUT:
        late = f"No complete answer within {SECONDS:.0f} seconds. It may have arrived."
        return Outcome(late, may_have_arrived=True)
    said = [entry.message for entry in result.logs() if entry.level in {"WARNING", "ERROR"}]
    return Outcome(without_secrets(" ".join(["The message was not taken.", *said]), url))


def without_secrets(text: str, url: str) -> str:
    """The text without the parts of the address, which are mostly tokens and passwords."""
    for part in sorted(re.split(r"[^\w~.-]+", url), key=len, reverse=True):
        if len(part) >= SHORTEST_SECRET:
            text = text.replace(part, "…")
    return text
