from typing import Any

from app.catalogue.features import everywhere, schemas
from app.catalogue.features.queries import FeatureView
from app.core.paging import Page
from app.core.permissions import Access
from app.web.caller import current_actor
from app.web.routes import ApiBlueprint
from app.web.settings import current_settings

bp = ApiBlueprint(
    "all features",
    __name__,
    url_prefix="/api/admin/features",
    description="Features of all projects that the caller can see.",
)


@bp.get("", needs=Access.SIGNED_IN)
@bp.arguments(schemas.AllFeaturesQuery, location="query")
@bp.response(200, schemas.FeatureList)
def index(query: dict[str, Any]) -> Page[FeatureView]:
    """List features of all projects"""
    after = current_settings().stale_after
    return everywhere.search(current_actor, stale_after=after, **query)
