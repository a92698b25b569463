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


@bp.post("/archive/validate", needs=Permission.DELETE_FEATURE)
@bp.arguments(schemas.FeatureNames)
@bp.response(200, schemas.ArchiveValidation)
def validate(data: dict[str, list[str]], project_id: str) -> Plan:
    """Validate archiving of features

    Says what archiving would do, and changes nothing. Unknown and archived names are ignored.
    """
    return service.plan(current_actor, project_id, data["features"])


@bp.post("/archive", needs=Permission.DELETE_FEATURE, refuses=(404, 409))
@bp.arguments(schemas.FeatureNames)
@bp.response(202)
def archive(data: dict[str, list[str]], project_id: str) -> Response:
    """Archive features

    All or none: while a feature outside the request depends on one inside it, none is archived.
    """
    service.archive(current_actor, project_id, data["features"])
    return no_body(202)
