from typing import Any

from flask import Response, url_for

from app.catalogue.tags import duplicates, schemas, service
from app.catalogue.tags.duplicates import Pair
from app.catalogue.tags.models import TagName, TagType
from app.core.paging import Page
from app.core.permissions import Access, Permission
from app.core.quotas import NOTHING
from app.web.current import current_actor
from app.web.listing import PageQuery, whole
from app.web.requests import check_if_match
from app.web.routes import ApiBlueprint, no_body
from app.web.schemas import MAX_ITEMS

bp = ApiBlueprint(
    "tags", __name__, url_prefix="/api/admin", description="Tags, and the types that group them."
)


@bp.get("/tags", needs=Access.SIGNED_IN)
@bp.arguments(whole(schemas.TagQuery), location="query")
@bp.response(200, schemas.TagList)
def index(query: dict[str, Any]) -> Page[Any]:
    """List tags"""
    return service.search(current_actor, **query)


@bp.get("/duplicate-tags", needs=Access.SIGNED_IN)
@bp.response(200, schemas.PairList)
def index_pairs() -> dict[str, list[Pair]]:
    """List tags that are spelled nearly alike

    Pairs of one type that differ in case, in punctuation, in a plural or in one letter. Of more
    than 5,000 tags the most used are compared. To merge a pair, send it to `/tags/merge`.
    """
    return {"pairs": duplicates.pairs(current_actor)}


@bp.post("/tags", needs=Permission.CREATE_TAG_TYPE, refuses=(404,))
@bp.arguments(schemas.TagRef, example={"type": "simple", "value": "payments"})
@bp.response(201, schemas.TagDetail)
def create(data: dict[str, str]) -> dict[str, TagName]:
    """Create a tag before a feature has it"""
    name = TagName(data["type"], data["value"])
    service.create(current_actor, name)
    return {"tag": name}


@bp.get("/tags/<key:type>", needs=Access.SIGNED_IN)
@bp.response(200, schemas.TagList)
def index_of_type(type: str) -> Page[Any]:
    """List the tags of a type"""
    return service.search(current_actor, limit=MAX_ITEMS, offset=0, type=type)


@bp.get("/tags/<key:type>/<path:value>", needs=Access.SIGNED_IN)
@bp.response(200, schemas.TagDetail)
def show(type: str, value: str) -> dict[str, TagName]:
    """Read a tag"""
    return {"tag": service.get(TagName(type, value))}


@bp.get("/tag-types", needs=Access.SIGNED_IN)
@bp.arguments(whole(PageQuery), location="query")
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


@bp.post("/tag-types/validate", needs=Access.SIGNED_IN, keeps=NOTHING, writes=False, refuses=(409,))
@bp.arguments(schemas.NewTagType, example={"name": "team"})
@bp.response(200, schemas.ValidTagType)
def validate_type(data: dict[str, Any]) -> dict[str, Any]:
    """Check the name of a tag type"""
    service.check_type_name(data["name"])
    return {"tag_type": data}


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
