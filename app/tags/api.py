from typing import Any

from flask import Response

from app.core.actor import current_actor
from app.core.blueprints import ApiBlueprint, no_body
from app.core.paging import Page, PageQuery
from app.core.permissions import Access, Permission
from app.tags import schemas, service
from app.tags.models import TagType

bp = ApiBlueprint(
    "tags", __name__, url_prefix="/api/admin", description="Tags and the types that sort them."
)


@bp.get("/tags", needs=Access.SIGNED_IN)
@bp.arguments(schemas.TagQuery, location="query")
@bp.response(200, schemas.TagList)
def index(query: dict[str, Any]) -> Page[Any]:
    """List tags"""
    return service.search(**query)


@bp.get("/tag-types", needs=Access.SIGNED_IN)
@bp.arguments(PageQuery, location="query")
@bp.response(200, schemas.TagTypeList)
def index_types(page: dict[str, int]) -> Page[TagType]:
    """List tag types"""
    return service.search_types(**page)


@bp.post("/tag-types", needs=Permission.CREATE_TAG_TYPE)
@bp.arguments(schemas.NewTagType, example={"name": "team", "hue": 2})
@bp.response(201, schemas.TagTypeRow)
def create_type(data: dict[str, Any]) -> TagType:
    """Create a tag type"""
    return service.create_type(current_actor, **data)


@bp.put("/tag-types/<key:name>", needs=Permission.UPDATE_TAG_TYPE)
@bp.arguments(schemas.TagTypeUpdate, example={"description": "Who looks after it"})
@bp.response(200)
def update_type(data: dict[str, Any], name: str) -> Response:
    """Update a tag type"""
    service.update_type(current_actor, service.get_type(name), **data)
    return no_body()


@bp.delete("/tag-types/<key:name>", needs=Permission.DELETE_TAG_TYPE, refuses=(409,))
@bp.response(200)
def remove_type(name: str) -> Response:
    """Delete a tag type

    Refused while features carry tags of it.
    """
    service.remove_type(current_actor, service.get_type(name))
    return no_body()
