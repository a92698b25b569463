"""For machines: health, readiness, metrics, where to report security problems, robots.txt."""

from datetime import timedelta
from ipaddress import ip_address
from mmap import mmap
from typing import Any

from flask import Flask, Response, current_app, jsonify, request

from app.core import migrations, secrets, storage
from app.core.clock import in_text, utcnow
from app.core.db import db
from app.core.errors import NotFound, NotOffered, Unavailable
from app.core.permissions import Access
from app.core.quotas import NOTHING
from app.core.streaming import COMMENT, STREAM, STREAM_HEADERS, KeepOpen
from app.web.current import admit, current_key, current_settings
from app.web.extended import are_wanted
from app.web.http import came_from_proxy, current_metrics
from app.web.metrics import CONTENT_TYPE
from app.web.routes import ApiBlueprint

bp = ApiBlueprint("service", __name__, description="The state of the service itself.")

CONTACT_LASTS = timedelta(days=30)


class Leaving:
    """Whether load balancers are to choose another server. All processes forked later share it."""

    def __init__(self) -> None:
        self._shared = mmap(-1, 1)

    def begin(self) -> None:
        self._shared[0] = 1

    def __bool__(self) -> bool:
        return bool(self._shared[0])


def init_app(app: Flask) -> None:
    """Add readiness to the metrics."""
    app.extensions["flagstaff.leaving"] = Leaving()
    app.extensions["flagstaff.metrics"].watch(
        "flagstaff_ready",
        "Whether the database answers, has the right schema and can be written to.",
        _is_ready,
        unknown=0,
    )


@bp.get("/health", needs=Access.PUBLIC, snapshot=False)
@bp.response(200)
def health() -> Response:
    """Check that the process answers

    With `extended=true` it has `status` too.
    """
    return _good(status="ok")


@bp.get("/ready", needs=Access.PUBLIC, snapshot=False)
@bp.response(200)
def ready() -> Response:
    """Check that the database answers, has the right schema and can be written to

    503 also while the server ends, and after SIGUSR1, so that load balancers choose another one.
    """
    if current_app.extensions["flagstaff.leaving"]:
        raise Unavailable("This server is about to end.", result="Send requests to another one.")
    if not _is_ready():
        raise Unavailable
    return _good(status="ready")


def _good(**own: str) -> Response:
    """The answer that checks for Unleash expect."""
    return jsonify({"health": "GOOD"} | (own if are_wanted() else {}))


@bp.get("/metrics", needs=Access.PUBLIC, refuses=(401,), snapshot=False)
@bp.response(200)
def metrics() -> Response:
    """Metrics for Prometheus

    Needs a valid token, except for requests from the machine itself.
    """
    if not _comes_from_this_machine():
        admit(bp.identify(), Access.SIGNED_IN, None)
    return Response(current_metrics().text(), content_type=CONTENT_TYPE)


@bp.get("/.well-known/security.txt", needs=Access.PUBLIC, refuses=(404,), snapshot=False)
@bp.response(200)
def security_txt() -> Response:
    """Where to report security problems

    As RFC 9116 asks, if the operator has set FLAGSTAFF_SECURITY_CONTACT.
    """
    contact = current_settings().security_contact
    if contact is None:
        raise NotFound("The operator has not set where to report security problems.")
    expires = in_text(utcnow() + CONTACT_LASTS)
    text = f"Contact: {contact}\nExpires: {expires}\n"
    return Response(text, content_type="text/plain; charset=utf-8")


@bp.get("/robots.txt", needs=Access.PUBLIC, snapshot=False)
@bp.response(200)
def crawlers() -> Response:
    """Ask search engines to leave this server out"""
    return Response("User-agent: *\nDisallow: /\n", content_type="text/plain; charset=utf-8")


@bp.post(
    "/arrival", needs=Access.PUBLIC, keeps=NOTHING, refuses=(404,), writes=False, snapshot=False
)
@bp.response(200)
def show_request() -> Response:
    """Show how a request arrives through a reverse proxy

    For `flagstaff doctor --proxy`, which proves with the secret key that the operator asks.
    """
    _admit_doctor()
    return jsonify(_request_facts())


@bp.post(
    "/arrival/stream",
    needs=Access.PUBLIC,
    keeps=NOTHING,
    refuses=(404, 501),
    writes=False,
    snapshot=False,
)
@bp.response(200)
def show_stream() -> Response:
    """Show whether a reverse proxy passes on the beginning of a response that stays open

    For `flagstaff doctor --proxy`, which proves with the secret key that the operator asks.
    """
    _admit_doctor()
    keep_open: KeepOpen | None = request.environ.get(STREAM)
    if keep_open is None:
        raise NotOffered("This server offers no streams.")
    keep_open(lambda stream: stream.send(COMMENT))
    return Response(iter(()), headers=STREAM_HEADERS)


def _admit_doctor() -> None:
    if not secrets.is_valid_proof(request.headers.get("Authorization", ""), current_key()):
        raise NotFound("Only flagstaff doctor can use this path, with a proof in Authorization.")


def _request_facts() -> dict[str, Any]:
    """The parts of a request that links, cookies and the log depend on. ``body``: in bytes."""
    return {
        "scheme": request.scheme,
        "host": request.host,
        "prefix": request.script_root,
        "path": request.path,
        "client": request.remote_addr,
        "forwardedFor": request.headers.get("X-Forwarded-For"),
        "body": len(request.get_data()),
        "user": _user(),
    }


def _user() -> str | None:
    """The value of the header for single sign-on, if it comes from the trusted proxy."""
    header = current_settings().sign_on_header
    return request.headers.get(header) if header and came_from_proxy() else None


def _is_ready() -> bool:
    return migrations.is_current(db.engine) and storage.is_writable(db.engine)


def _comes_from_this_machine() -> bool:
    """Whether the client is on this machine, and not merely a reverse proxy.

    A trusted proxy names the client. Without one, a proxy's requests all seem to be local, so they
    count only if people use the loopback address itself.
    """
    settings = current_settings()
    address = ip_address(request.remote_addr or "")
    return address.is_loopback and (bool(settings.trusted_proxy) or settings.base_is_loopback)
