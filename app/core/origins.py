"""Where pages may be called by, and from where a form may come: this portal itself alone."""

from urllib.parse import urlsplit

from flask import request

from app.core.errors import DomainError
from app.core.settings import current_settings

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class ForeignForm(DomainError):
    """A page of somebody else had the browser send this."""

    name = "ForeignFormError"

    def __init__(self) -> None:
        super().__init__(
            "This form was not sent from a page of this portal, so it was not accepted. "
            "Nothing was changed."
        )


class ForeignHost(DomainError):
    """The browser calls this server by a name that is not its own; whose, it takes the page for."""

    name = "ForeignHostError"

    def __init__(self) -> None:
        super().__init__(
            f"These pages are at {current_settings().base_url}, and nowhere else. An operator can "
            "change that: FLAGSTAFF_BASE_URL."
        )


def refuse_foreign_form() -> None:
    """Refuse what another site had the browser send; old browsers say less, then Origin decides."""
    site = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin")
    if site is not None and site not in {"same-origin", "none"}:
        raise ForeignForm
    if origin is not None and origin not in _own_origins():
        raise ForeignForm


def refuse_foreign_host() -> None:
    """Refuse a name that leads here but is not ours: its owner may lead it elsewhere."""
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
