from typing import Any

from app.core.permissions import Access
from app.transfer import schemas, service
from app.transfer.service import Export
from app.web.caller import current_actor
from app.web.routes import ApiBlueprint

bp = ApiBlueprint(
    "transfer",
    __name__,
    url_prefix="/api/admin/features-batch",
    description="Features as a document, in Unleash’s format.",
)


@bp.post("/export", needs=Access.SIGNED_IN, refuses=(404,), writes=False)
@bp.arguments(schemas.ExportQuery, example={"environment": "production", "project": "default"})
@bp.response(200, schemas.ExportDocument)
def export(data: dict[str, Any]) -> Export | tuple[Export, dict[str, str]]:
    """Export features

    The active features that the caller can see and that fit all of what is asked for, with their
    states and strategies in one environment, and the tags, context fields and parents that these
    name. Unleash imports the answer.
    """
    is_file = data.pop("download_file", False)
    found = service.export(current_actor, **data)
    if not is_file:
        return found
    name = service.file_name(data["environment"], data.get("project"))
    return found, {"Content-Disposition": f'attachment; filename="{name}"'}
