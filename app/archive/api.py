from flask import Response

from app.archive import schemas, service
from app.archive.service import Plan
from app.core.actor import current_actor
from app.core.blueprints import ApiBlueprint, no_body
from app.core.permissions import Permission

bp = ApiBlueprint(
    "archive",
    __name__,
    url_prefix="/api/admin/projects/<key:project_id>",
    description="Looking ahead, then putting features away.",
)


@bp.post("/archive/validate", needs=Permission.DELETE_FEATURE, refuses=(404,))
@bp.arguments(schemas.FeatureNames, example={"features": ["checkout.new-flow"]})
@bp.response(200, schemas.ArchiveValidation)
def validate(data: dict[str, list[str]], project_id: str) -> Plan:
    """Validate archiving of features

    Says what archiving would do, and changes nothing. Unknown and archived names are ignored.
    """
    return service.plan(current_actor, project_id, data["features"])


@bp.post("/archive/plan", needs=Permission.DELETE_FEATURE, refuses=(404,))
@bp.arguments(schemas.FeatureNames, example={"features": ["checkout.new-flow"]})
@bp.response(200, schemas.ArchivePlan)
def plan(data: dict[str, list[str]], project_id: str) -> Plan:
    """Plan archiving of features

    What would be archived, what stands in the way, which dependencies go, and which names have
    nothing to archive here. Changes nothing.
    """
    return service.plan(current_actor, project_id, data["features"])


@bp.post("/archive", needs=Permission.DELETE_FEATURE, refuses=(404,))
@bp.arguments(schemas.FeatureNames, example={"features": ["checkout.new-flow"]})
@bp.response(202)
def archive(data: dict[str, list[str]], project_id: str) -> Response:
    """Archive features

    All or none: while a feature outside the request depends on one inside it, none is archived.
    """
    service.archive(current_actor, project_id, data["features"])
    return no_body(202)


@bp.post("/revive-features", needs=Permission.DELETE_FEATURE, refuses=(404,))
@bp.arguments(schemas.FeatureNames, example={"features": ["checkout.new-flow"]})
@bp.response(200, schemas.Revived)
def revive(data: dict[str, list[str]], project_id: str) -> dict[str, list[str]]:
    """Revive archived features

    Each regains the parent it had, if that is active and the rules still allow it.
    """
    return {"revived": service.revive(current_actor, project_id, data["features"]).names}
