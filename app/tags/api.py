from typing import Any

from app.core.blueprints import ApiBlueprint
from app.core.paging import Page, PageQuery
from app.core.permissions import Access
from app.tags import schemas, service
from app.tags.models import TagType

bp = ApiBlueprint(
    "tags", __name__, url_prefix="/api/admin", description="Tags and the types that sort them."
)


@bp.get("/tags", needs=Access.SIGNED_IN)
@bp.arguments(PageQuery, location="query")
@bp.response(200, schemas.TagList)
def index(page: dict[str, int]) -> Page[Any]:
    """List tags"""
    return service.search(**page)


@bp.get("/tag-types", needs=Access.SIGNED_IN)
@bp.arguments(PageQuery, location="query")
@bp.response(200, schemas.TagTypeList)
def index_types(page: dict[str, int]) -> Page[TagType]:
    """List tag types"""
    return service.search_types(**page)
