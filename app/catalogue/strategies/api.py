from typing import Any

from flask import Response, url_for

from app.catalogue.strategies import custom
from app.catalogue.strategies import schemas_types as schemas
from app.catalogue.strategies.models import StrategyType
from app.core.permissions import Access, Permission
from app.web.current import current_actor
from app.web.requests import check_if_match
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "strategies",
    __name__,
    url_prefix="/api/admin/strategies",
    description="The types of strategies: those that SDKs know, and those that people created.",
)

BY_REGION = {
    "name": "by-region",
    "description": "People by the region of their shop",
    "parameters": [{"name": "regions", "type": "list", "required": True}],
}


@bp.get("", needs=Access.SIGNED_IN)
@bp.response(200, schemas.StrategyTypeList)
def index() -> dict[str, Any]:
    """List strategy types"""
    return {"strategies": custom.with_built_in()}


@bp.post("", needs=Permission.CREATE_STRATEGY)
@bp.arguments(schemas.StrategyTypeRequest, example=BY_REGION)
@bp.response(201, schemas.StrategyTypeRow, etag=True)
def create(data: dict[str, Any]) -> tuple[StrategyType, dict[str, str]]:
    """Create a strategy type

    SDKs get its strategies; applications must implement it. Evaluated here it is always off.
    """
    type = custom.create(current_actor, **data)
    return type, {"Location": url_for(".show", name=type.name)}


@bp.get("/<key:name>", needs=Access.SIGNED_IN)
@bp.response(200, schemas.StrategyTypeRow, etag=True)
def show(name: str) -> StrategyType:
    """Read a strategy type"""
    return custom.read(name)


@bp.put("/<key:name>", needs=Permission.UPDATE_STRATEGY, refuses=(409, 412))
@bp.arguments(schemas.StrategyTypeChanges, example={"description": "People by their region"})
@bp.response(200)
def update(data: dict[str, Any], name: str) -> Response:
    """Update a strategy type

    Fields that are left out stay as they are. Its parameters stay while strategies have the type.
    """
    type = custom.get(name, for_change=True)
    check_if_match(schemas.StrategyTypeRow, type)
    custom.update(current_actor, type, **data)
    return no_body()


@bp.delete("/<key:name>", needs=Permission.DELETE_STRATEGY, refuses=(409, 412))
@bp.response(200)
def remove(name: str) -> Response:
    """Delete a strategy type"""
    type = custom.get(name, for_change=True)
    check_if_match(schemas.StrategyTypeRow, type)
    custom.remove(current_actor, type)
    return no_body()


@bp.post("/<key:name>/deprecate", needs=Permission.UPDATE_STRATEGY, refuses=(404,))
@bp.response(200)
def deprecate(name: str) -> Response:
    """Deprecate a strategy type

    Pages no longer offer it. Strategies that have it stay as they are.
    """
    custom.set_deprecated(current_actor, custom.get(name, for_change=True), deprecated=True)
    return no_body()


@bp.post("/<key:name>/reactivate", needs=Permission.UPDATE_STRATEGY, refuses=(404,))
@bp.response(200)
def reactivate(name: str) -> Response:
    """Reactivate a strategy type"""
    custom.set_deprecated(current_actor, custom.get(name, for_change=True), deprecated=False)
    return no_body()
