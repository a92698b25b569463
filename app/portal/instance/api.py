from flask import Response

from app.core.maintenance import service as maintenance
from app.core.permissions import Permission
from app.portal.instance import schemas
from app.web.current import current_actor
from app.web.routes import ApiBlueprint, no_body

bp = ApiBlueprint(
    "maintenance",
    __name__,
    url_prefix="/api/admin/maintenance",
    description="Make this Flagstaff read-only for a while.",
)


@bp.get("", needs=Permission.ADMIN)
@bp.response(200, schemas.MaintenanceMode)
def show() -> dict[str, bool]:
    """Read whether maintenance mode is on"""
    return {"enabled": maintenance.current() is not None}


@bp.post("", needs=Permission.ADMIN, even_in_maintenance=True)
@bp.arguments(schemas.MaintenanceMode, example={"enabled": True})
@bp.response(204)
def switch(data: dict[str, bool]) -> Response:
    """Switch maintenance mode on or off

    While it is on, all changes are refused with 503. Reading, dry runs, sign-in and applications go
    on. Scheduled change requests wait until it ends.
    """
    maintenance.switch(current_actor, on=data["enabled"])
    return no_body(204)
