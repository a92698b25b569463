"""The API described as OpenAPI. For people: app/portal/help/pages.py."""

from flask import Response, current_app, jsonify

from app.core.permissions import Access
from app.web.openapi import openapi_document
from app.web.routes import ApiBlueprint

bp = ApiBlueprint("description", __name__, description="The description of this API.")


@bp.get("/api/openapi.json", needs=Access.PUBLIC)
@bp.response(200)
def openapi() -> Response:
    """Describe this API as OpenAPI 3.1"""
    return jsonify(openapi_document(current_app))
