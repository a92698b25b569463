from typing import Any

from app.accounts.models import Account
from app.core.events import service as events
from app.core.events.models import Event
from app.core.paging import Page
from app.core.permissions import Access, Permission
from app.core.quotas import NOTHING
from app.portal.event_log import schemas, service, undoing
from app.web.current import current_actor
from app.web.routes import ApiBlueprint
from app.web.schemas import MAX_ITEMS

bp = ApiBlueprint(
    "events",
    __name__,
    url_prefix="/api/admin/events",
    description="Who changed what, when and from where.",
)


@bp.get("", needs=Access.SIGNED_IN, refuses=(403,))
@bp.arguments(schemas.EventQuery, location="query")
@bp.response(200, schemas.EventList)
def index(query: dict[str, Any]) -> dict[str, Any]:
    """List events

    Newest first. Needs READ_LOGS, or with `project` a role in that project. Without READ_LOGS,
    `ip` and `tokenId` are null. Events of private projects are for their members and Admins.
    """
    current_actor.require_events(query.get("project"))
    events, total = service.search(current_actor, **query)
    more = len(events) == query["limit"]
    return {"events": events, "total": total, "next_before": events[-1].id if more else None}


@bp.get("/<key:feature>", needs=Access.SIGNED_IN)
@bp.response(200, schemas.FeatureEvents)
def index_of_feature(feature: str) -> dict[str, Any]:
    """List the events of a feature

    Newest first: those that the caller may read.
    """
    found, total = service.search(current_actor, limit=MAX_ITEMS, feature=feature)
    return {"toggle_name": feature, "events": found, "total": total}


@bp.post("/<id:event_id>/undo", needs=Access.SIGNED_IN, keeps=NOTHING, refuses=(403, 404, 409))
@bp.response(200, schemas.Undone)
def undo(event_id: int) -> dict[str, Any]:
    """Undo an event

    And all others of its batch, or none: 409 says why. It needs the permission to make such a
    change by hand. Strategies, switches, tags, settings, members and people's accounts can be
    undone, as long as no one changed the same thing since.
    """
    actor = current_actor.for_act(events.new_batch())
    undone = undoing.undo(actor, event_id=event_id)
    return {"undone": [event.id for event in undone], "batch_id": actor.batch_id}


search_bp = ApiBlueprint(
    "event search",
    __name__,
    url_prefix="/api/admin",
    description="Events by several filters at once, and who caused any.",
)


@search_bp.get("/search/events", needs=Access.SIGNED_IN)
@search_bp.arguments(schemas.EventSearch, location="query")
@search_bp.response(200, schemas.FoundEvents)
def search(query: dict[str, Any]) -> Page[Event]:
    """Search events

    Newest first: those that the caller may read.
    """
    return service.search_by(current_actor, **query)


@search_bp.get("/event-creators", needs=Permission.READ_LOGS)
@search_bp.response(200, schemas.EventCreator(many=True))
def index_creators() -> list[Account]:
    """List the accounts that caused events"""
    return service.creators(current_actor)
