from typing import Any

from app.catalogue.features import schemas_search as schemas
from app.catalogue.features import searching
from app.catalogue.features.queries import FeatureView
from app.core.paging import Page
from app.core.permissions import Access
from app.web.current import current_actor, current_settings
from app.web.routes import ApiBlueprint

bp = ApiBlueprint(
    "feature search",
    __name__,
    url_prefix="/api/admin/search",
    description="Features of all projects by several filters at once.",
)


@bp.get("/features", needs=Access.SIGNED_IN)
@bp.arguments(schemas.FeatureSearch, location="query")
@bp.response(200, schemas.FoundFeatures)
def search(query: dict[str, Any]) -> Page[FeatureView]:
    """Search features"""
    after = current_settings().stale_after
    return searching.search(current_actor, stale_after=after, **query)
