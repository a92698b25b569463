"""The description of the API, and what those ask who look after the service."""

from ipaddress import ip_address

from flask import Flask, Response, current_app, jsonify, request
from sqlalchemy.exc import SQLAlchemyError

from app.core import arrival, migrations
from app.core.actor import admit
from app.core.blueprints import ApiBlueprint
from app.core.db import db
from app.core.errors import NotFound, Unavailable
from app.core.http import current_metrics
from app.core.metrics import CONTENT_TYPE
from app.core.openapi import openapi_document
from app.core.permissions import Access
from app.core.settings import current_key, current_settings

bp = ApiBlueprint("service", __name__, description="The service itself.")


def init_app(app: Flask) -> None:
    """Have the metrics say whether the service is ready."""
    app.extensions["flagstaff.metrics"].watch(
        "flagstaff_ready", "Whether the database answers and has the right schema.", _is_ready
    )


@bp.get("/health", needs=Access.PUBLIC)
@bp.response(200)
def health() -> Response:
    """Whether the process answers"""
    return jsonify(status="ok")


@bp.get("/ready", needs=Access.PUBLIC)
@bp.response(200)
def ready() -> Response:
    """Whether the database answers and has the schema that this version needs"""
    if not migrations.is_current(db.engine):
        raise Unavailable
    return jsonify(status="ready")


@bp.get("/api/openapi.json", needs=Access.PUBLIC)
@bp.response(200)
def openapi() -> Response:
    """Describe this API as OpenAPI 3.1"""
    return jsonify(openapi_document(current_app))


@bp.get("/metrics", needs=Access.PUBLIC, refuses=(401,))
@bp.response(200)
def metrics() -> Response:
    """Figures for Prometheus

    With any valid token; without one from the machine itself alone.
    """
    if not _comes_from_this_machine():
        admit(bp.identify(), Access.SIGNED_IN, None)
    return Response(current_metrics().text(), content_type=CONTENT_TYPE)


@bp.post("/arrival", needs=Access.PUBLIC, refuses=(404,))
@bp.response(200)
def what_arrived() -> Response:
    """What of a request arrives here, behind a reverse proxy

    For `flagstaff doctor --proxy`, which alone can send what proves that the operator asks.
    """
    if not arrival.is_asked_for(request.headers.get("Authorization", ""), current_key()):
        raise NotFound("Only flagstaff doctor gets an answer here, by a proof in Authorization.")
    return jsonify(arrival.seen(request))


def _is_ready() -> bool:
    try:
        return migrations.is_current(db.engine)
    except SQLAlchemyError:
        return False


def _comes_from_this_machine() -> bool:
    """Whoever comes by a proxy does not, even where the proxy is on this machine.

    Its word for where they come from counts if it is trusted. If none is, everybody seems to come
    from here who comes by one; so then only where people use no other machine's name.
    """
    settings = current_settings()
    address = ip_address(request.remote_addr or "")
    is_local = settings.trusted_proxy is not None or settings.base_is_loopback
    return address.is_loopback and is_local
