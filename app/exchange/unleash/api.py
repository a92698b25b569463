from typing import Any

from app.core.permissions import Access
from app.core.quotas import NOTHING
from app.exchange.documents.plans import Wanted
from app.exchange.unleash import features, formats, schemas, schemas_imports, service
from app.exchange.unleash.features import Findings
from app.exchange.unleash.service import Export
from app.web.current import current_actor
from app.web.routes import ApiBlueprint

bp = ApiBlueprint(
    "transfer",
    __name__,
    url_prefix="/api/admin/features-batch",
    description="Features as a document, in Unleash’s format.",
)


EXAMPLE = {
    "project": "default",
    "environment": "production",
    "data": {"features": [{"name": "checkout.new-flow", "type": "release"}]},
}


@bp.post("/export", needs=Access.SIGNED_IN, keeps=NOTHING, refuses=(404,), writes=False)
@bp.arguments(schemas.ExportQuery, example={"environment": "production", "project": "default"})
@bp.response(200, schemas.ExportDocument)
def export(data: dict[str, Any]) -> Export | tuple[Export, dict[str, str]]:
    """Export features

    The active features that the caller can see and that fit all of what is asked for, with their
    states and strategies in one environment, and the tags, context fields and parents that these
    name.

    Unleash imports the answer. Version 8 refuses all of it while a constraint has the operator
    IN_CIDR, or a strategy has a type that it does not know: userWithId, gradualRolloutUserId,
    gradualRolloutSessionId, gradualRolloutRandom, or one of your own that was not created there.
    For IN_CIDR, use a strategy remoteAddress, whose addresses can be networks. For userWithId, use
    flexibleRollout with a constraint on userId, and for the others flexibleRollout with the same
    share and group, and with stickiness userId, sessionId or random.
    """
    is_file = data.pop("download_file", False)
    found = service.export(current_actor, **data)
    if not is_file:
        return found
    name = service.file_name(data["environment"], data.get("project"))
    return found, {"Content-Disposition": f'attachment; filename="{name}"'}


@bp.post("/validate", needs=Access.SIGNED_IN, keeps=NOTHING, refuses=(404, 409), writes=False)
@bp.arguments(schemas.FeatureImport, example=EXAMPLE)
@bp.response(200, schemas.ImportFindings)
def validate(data: dict[str, Any]) -> Findings:
    """Check an import of features

    What is in the way of importing what an export answered, here or in an Unleash. Changes nothing.
    """
    place = data["project"], data["environment"]
    wanted, notes = _wanted(*place, data["data"])
    return features.validate(current_actor, *place, wanted, notes)


@bp.post("/import", needs=Access.SIGNED_IN, keeps=NOTHING, refuses=(403, 404, 409))
@bp.arguments(schemas.FeatureImport, example=EXAMPLE)
@bp.response(200, schemas.FeatureImportResult)
def import_features(data: dict[str, Any]) -> dict[str, Any]:
    """Import features

    Creates them, or changes them to what the export says about them and about their states in this
    environment. All or nothing. Segments must be here by their name. Where changes need approvals,
    they are proposed in change requests.
    """
    place = data["project"], data["environment"]
    wanted, _ = _wanted(*place, data["data"])
    batch_id, requests = features.import_features(current_actor, *place, wanted)
    return {"batch_id": batch_id, "change_requests": requests}


def _wanted(project_id: str, environment: str, data: Any) -> tuple[Wanted, list[str]]:
    translation = formats.translation(features.only(data, project_id, environment), "an export")
    notes = translation.notes
    return schemas_imports.wanted(translation, [environment]), notes
