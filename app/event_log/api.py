from typing import Any

from app.core.actor import current_actor
from app.core.blueprints import ApiBlueprint
from app.core.permissions import Permission
from app.event_log import schemas, service

bp = ApiBlueprint(
    "events",
    __name__,
    url_prefix="/api/admin/events",
    description="Who changed what, when and from where.",
)


@bp.get("", needs=Permission.READ_LOGS)
@bp.arguments(schemas.EventQuery, location="query")
@bp.response(200, schemas.EventList)
def index(query: dict[str, Any]) -> dict[str, Any]:
    """List events

    Newest first. Events of private projects are shown to those who may know of these.
    """
    events, total = service.search(current_actor, **query)
    more = len(events) == query["limit"]
    return {"events": events, "total": total, "next_before": events[-1].id if more else None}
