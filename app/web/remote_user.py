"""The user that an authenticating proxy names in its headers."""

from dataclasses import dataclass

from flask import request

from app.web.current import current_settings
from app.web.http import came_from_proxy

LONGEST = 255


@dataclass(frozen=True, slots=True)
class RemoteUser:
    """``groups``: None if no header for them is set."""

    subject: str
    email: str | None
    name: str | None
    groups: list[str] | None


def remote_user() -> RemoteUser | None:
    """The person in the headers of a request that came directly from a trusted proxy.

    None without such a header, or if the server doesn’t say where the request came from.
    """
    settings = current_settings()
    if settings.sign_on_header is None or not came_from_proxy():
        return None
    subject = _value(settings.sign_on_header)
    if subject is None or "," in subject:  # a comma: the client sent the header too
        return None
    groups = settings.sign_on_header_groups
    return RemoteUser(
        subject,
        _value(settings.sign_on_header_email),
        _value(settings.sign_on_header_name),
        None if groups is None else [name for n in _text(groups).split(",") if (name := n.strip())],
    )


def _value(header: str | None) -> str | None:
    text = _text(header) if header is not None else ""
    return text if text and text.isprintable() and len(text) <= LONGEST else None


def _text(header: str) -> str:
    """A header as text: WSGI decodes it as Latin-1, but proxies send UTF-8."""
    raw = request.headers.get(header, "")
    try:
        return raw.encode("latin-1").decode().strip()
    except UnicodeError:
        return ""
