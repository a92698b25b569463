"""The description of the API, and whether the service is well."""

from flask import Response, current_app, jsonify

from app.core import migrations
from app.core.blueprints import ApiBlueprint
from app.core.db import db
from app.core.errors import Unavailable
from app.core.openapi import openapi_document
from app.core.permissions import Access

bp = ApiBlueprint("service", __name__, description="The service itself.")


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
