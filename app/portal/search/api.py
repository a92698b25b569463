from typing import Any

from app.core.permissions import Access
from app.portal.search import schemas, service
from app.portal.search.pages_places import entries
from app.portal.search.service import Results
from app.web.current import current_actor
from app.web.routes import ApiBlueprint

bp = ApiBlueprint(
    "search",
    __name__,
    url_prefix="/api/admin/search",
    description="Finding anything that the caller can see, by its name.",
)


@bp.get("", needs=Access.SIGNED_IN)
@bp.arguments(schemas.SearchQuery, location="query")
@bp.response(200, schemas.SearchResults)
def index(query: dict[str, Any]) -> Results:
    """Search

    In groups by kind. The best match is first in each, and a kind in which something has exactly
    this name comes before the others. Nothing that the caller can't see is found or counted.
    """
    return service.search(
        current_actor,
        query["q"],
        kind=query.get("in_"),
        limit=query["limit"],
        offset=query["offset"],
        pages=entries(current_actor),
    )
