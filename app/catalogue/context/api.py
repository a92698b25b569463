from typing import Any

from flask import Response, url_for

from app.catalogue.context import schemas, service
from app.catalogue.context.models import ContextField
from app.core.permissions import Access, Permission
from app.core.quotas import NOTHING
from app.web.current import current_actor
from app.web.requests import check_if_match
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "context",
    __name__,
    url_prefix="/api/admin/context",
    description="Context fields: what applications tell about the person who asks.",
)


@bp.get("", needs=Access.SIGNED_IN)
@bp.response(200, schemas.ContextFieldRow(many=True))
def index() -> list[ContextField]:
    """List context fields"""
    return service.list_all()


@bp.post("", needs=Permission.CREATE_CONTEXT_FIELD)
@bp.arguments(
    schemas.NewContextField,
    example={"name": "plan", "legalValues": [{"value": "free"}, {"value": "gold"}]},
)
@bp.response(201, schemas.ContextFieldRow, etag=True)
def create(data: dict[str, Any]) -> tuple[ContextField, dict[str, str]]:
    """Create a context field"""
    field = service.create(current_actor, **data)
    return field, {"Location": url_for(".show", name=field.name)}


@bp.post("/validate", needs=Access.SIGNED_IN, keeps=NOTHING, writes=False, refuses=(409,))
@bp.arguments(schemas.ContextFieldName, example={"name": "plan"})
@bp.response(200)
def validate(data: dict[str, Any]) -> Response:
    """Check the name of a context field"""
    service.check_name(**data)
    return no_body()


@bp.get("/<key:name>", needs=Access.SIGNED_IN)
@bp.response(200, schemas.ContextFieldRow, etag=True)
def show(name: str) -> ContextField:
    """Read a context field"""
    return service.get(name)


@bp.put("/<key:name>", needs=Permission.UPDATE_CONTEXT_FIELD, refuses=(409, 412))
@bp.arguments(schemas.ContextFieldChanges, example={"stickiness": True})
@bp.response(200)
def update(data: dict[str, Any], name: str) -> Response:
    """Update a context field

    Fields that are left out stay as they are.
    """
    field = service.get(name, for_change=True)
    check_if_match(schemas.ContextFieldRow, field)
    service.update(current_actor, field, **data)
    return no_body()


@bp.delete("/<key:name>", needs=Permission.DELETE_CONTEXT_FIELD, refuses=(409, 412))
@bp.response(200)
def remove(name: str) -> Response:
    """Delete a context field"""
    field = service.get(name, for_change=True)
    check_if_match(schemas.ContextFieldRow, field)
    service.remove(current_actor, field)
    return no_body()


@bp.post("/<key:name>/legal-values", needs=Permission.UPDATE_CONTEXT_FIELD)
@bp.arguments(schemas.NewLegalValue, example={"value": "gold", "description": "Pays monthly"})
@bp.response(200)
def set_legal_value(data: dict[str, Any], name: str) -> Response:
    """Add a legal value, or describe one that exists"""
    service.set_legal_value(current_actor, service.get(name, for_change=True), **data)
    return no_body()


@bp.delete(
    "/<key:name>/legal-values/<path:value>", needs=Permission.UPDATE_CONTEXT_FIELD, refuses=(409,)
)
@bp.response(200)
def remove_legal_value(name: str, value: str) -> Response:
    """Remove a legal value"""
    service.remove_legal_value(current_actor, service.get(name, for_change=True), value)
    return no_body()
