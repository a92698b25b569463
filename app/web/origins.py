"""Which hosts pages answer to, and from where a form may come: only from this portal."""

from urllib.parse import urlsplit

from flask import request

from app.core.errors import DomainError
from app.web.current import current_settings

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class ForeignForm(DomainError):
    """A page of another site made the browser send this."""

    name = "ForeignFormError"
    only_on_pages = True
    title = "This form came from another site"
    when = "A form was sent from another site, or the proxy hides the name that people use."
    remedy = "Open the page again. If that does not help, run flagstaff doctor --proxy URL."

    def __init__(self) -> None:
        super().__init__(
            "This form was not sent from a page of this portal, so it was refused. "
            "Nothing has changed."
        )


class ForeignHost(DomainError):
    """The browser knows this server by a name that someone else could own."""

    name = "ForeignHostError"
    only_on_pages = True
    title = "These pages have another address"
    when = "A page was requested under a host name that is not that of FLAGSTAFF_BASE_URL."
    remedy = "Use the address that the message names, or set FLAGSTAFF_BASE_URL to yours."

    def __init__(self) -> None:
        super().__init__(
            f"These pages are only at {current_settings().address()}. The operator can change that "
            "with FLAGSTAFF_BASE_URL."
        )


def refuse_foreign_form() -> None:
    """Refuse a form that a browser says is from another site."""
    site = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin")
    if site is not None and site not in {"same-origin", "none"}:
        raise ForeignForm
    if origin is not None and origin not in _own_origins():
        raise ForeignForm


def is_own_form() -> bool:
    """Whether the browser says that the form is from this site; old ones say nothing."""
    refuse_foreign_form()
    return "Origin" in request.headers or request.headers.get("Sec-Fetch-Site") == "same-origin"


def refuse_foreign_host() -> None:
    """Refuse a host name that leads here but is not ours: its owner could change where it leads."""
    try:
        host = urlsplit(f"//{request.host}").hostname or ""
    except ValueError:
        raise ForeignHost from None
    own = urlsplit(current_settings().base_url).hostname
    if host.removesuffix(".") not in LOOPBACK | {own, current_settings().host}:
        raise ForeignHost


def _own_origins() -> set[str]:
    base = urlsplit(current_settings().base_url)
    return {request.host_url.rstrip("/"), f"{base.scheme}://{base.netloc}"}
