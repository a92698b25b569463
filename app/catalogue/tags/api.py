from typing import Any

from flask import Response, url_for

from app.catalogue.tags import duplicates, schemas, service
from app.catalogue.tags.duplicates import Pair
from app.catalogue.tags.models import TagType
from app.core.paging import Page
from app.core.permissions import Access, Permission
from app.web.current import current_actor
from app.web.listing import PageQuery
from app.web.requests import check_if_match
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "tags", __name__, url_prefix="/api/admin", description="Tags, and the types that group them."
)


@bp.get("/tags", needs=Access.SIGNED_IN)
@bp.arguments(schemas.TagQuery, location="query")
@bp.response(200, schemas.TagList)
def index(query: dict[str, Any]) -> Page[Any]:
    """List tags"""
    return service.search(current_actor, **query)


@bp.get("/tags/nearly-alike", needs=Access.SIGNED_IN)
@bp.response(200, schemas.PairList)
def index_pairs() -> dict[str, list[Pair]]:
    """List tags that are spelled nearly alike

    Pairs of one type that differ in case, in punctuation, in a plural or in one letter. Of more
    than 5,000 tags the most used are compared. To merge a pair, send it to `/tags/merge`.
    """
    return {"pairs": duplicates.pairs(current_actor)}


@bp.get("/tag-types", needs=Access.SIGNED_IN)
@bp.arguments(PageQuery, location="query")
@bp.response(200, schemas.TagTypeList)
def index_types(page: dict[str, int]) -> Page[TagType]:
    """List tag types"""
    return service.search_types(**page)


@bp.post("/tag-types", needs=Permission.CREATE_TAG_TYPE)
@bp.arguments(schemas.NewTagType, example={"name": "team", "hue": 2})
@bp.response(201, schemas.TagTypeRow, etag=True)
def create_type(data: dict[str, Any]) -> tuple[TagType, dict[str, str]]:
    """Create a tag type"""
    tag_type = service.create_type(current_actor, **data)
    return tag_type, {"Location": url_for(".show_type", name=tag_type.name)}


@bp.get("/tag-types/<key:name>", needs=Access.SIGNED_IN)
@bp.response(200, schemas.TagTypeRow, etag=True)
def show_type(name: str) -> TagType:
    """Read a tag type"""
    return service.get_type(name, for_change=False)


@bp.put("/tag-types/<key:name>", needs=Permission.UPDATE_TAG_TYPE, refuses=(412,))
@bp.arguments(schemas.TagTypeUpdate, example={"description": "The team that owns the feature"})
@bp.response(200)
def update_type(data: dict[str, Any], name: str) -> Response:
    """Update a tag type

    Fields that are left out stay as they are.
    """
    tag_type = service.get_type(name)
    check_if_match(schemas.TagTypeRow, tag_type)
    service.update_type(current_actor, tag_type, **data)
    return no_body()


@bp.delete("/tag-types/<key:name>", needs=Permission.DELETE_TAG_TYPE, refuses=(409, 412))
@bp.response(200)
def remove_type(name: str) -> Response:
    """Delete a tag type and its unused tags

    Refused while a feature, active or archived, has a tag of this type.
    """
    tag_type = service.get_type(name)
    check_if_match(schemas.TagTypeRow, tag_type)
    service.remove_type(current_actor, tag_type)
    return no_body()
