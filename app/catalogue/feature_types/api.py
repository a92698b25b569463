from typing import Any

from app.catalogue.feature_types import schemas, service
from app.catalogue.feature_types.service import TypeOfFeature
from app.catalogue.features.models import FeatureType
from app.core.errors import NotFound
from app.core.permissions import Access, Permission
from app.web.current import current_actor
from app.web.routes import ApiBlueprint

bp = ApiBlueprint(
    "feature types",
    __name__,
    url_prefix="/api/admin/feature-types",
    description="Types of features, and how long features of each are expected to live.",
)


@bp.get("", needs=Access.SIGNED_IN)
@bp.response(200, schemas.FeatureTypeList)
def index() -> dict[str, list[TypeOfFeature]]:
    """List the types of features"""
    return {"types": service.list_all()}


@bp.put("/<key:id>/lifetime", needs=Permission.ADMIN)
@bp.arguments(schemas.Lifetime, example={"lifetimeDays": 40})
@bp.response(200, schemas.FeatureTypeRow)
def set_lifetime(data: dict[str, Any], id: str) -> TypeOfFeature:
    """Set how long features of a type are expected to live

    Older features are proposed as stale.
    """
    if id not in set(FeatureType):
        raise NotFound(f"There is no type of feature named {id}.")
    service.set_lifetimes(current_actor, {FeatureType(id): data["lifetime_days"]})
    return next(type for type in service.list_all() if type.id == id)
