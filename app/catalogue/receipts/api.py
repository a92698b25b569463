from typing import Any

from flask import Flask

from app.catalogue.features import service as features
from app.catalogue.receipts import arrival, schemas, service, watching
from app.catalogue.receipts.arrival import Arrival
from app.catalogue.receipts.models import WATCHED_INSTANCES
from app.catalogue.receipts.service import Receipts
from app.core.permissions import Access, Permission
from app.web.current import current_actor
from app.web.routes import ApiBlueprint

bp = ApiBlueprint(
    "receipts",
    __name__,
    url_prefix="/api/admin",
    description="Which running instances of applications have a change.",
)

SWITCH = Permission.UPDATE_FEATURE_ENVIRONMENT
PLACE = "/projects/<key:project_id>/features/<key:name>/environments/<key:environment>"


def init_app(app: Flask) -> None:
    """Add the instances that are late to the metrics."""
    app.extensions["flagstaff.metrics"].watch(
        "flagstaff_unconfirmed_instances",
        "Instances that have not confirmed a change made more than 5 minutes ago.",
        lambda: sum(one.processes for one in arrival.late()),
    )


@bp.get(f"{PLACE}/receipts", needs=Access.SIGNED_IN)
@bp.arguments(schemas.ReceiptsQuery, location="query")
@bp.response(200, schemas.ReceiptsRow, whole=True)
def show(query: dict[str, int], project_id: str, name: str, environment: str) -> Receipts:
    """Read which instances have a change of a feature"""
    return service.read(features.get(current_actor, project_id, name), environment, **query)


@bp.post(
    f"{PLACE}/receipts/notify",
    needs=Access.SIGNED_IN,
    keeps=(WATCHED_INSTANCES,),
    refuses=(403, 404),
)
@bp.arguments(schemas.ReceiptsEvent, example={"event": 2113})
@bp.response(200, schemas.WatchedRow, whole=True)
def notify(data: dict[str, int], project_id: str, name: str, environment: str) -> dict[str, int]:
    """Get a notice when an instance that is silent since a change asks again

    For 7 days. Needs READ_LOGS, or a role in the project.
    """
    found = service.read(features.get(current_actor, project_id, name), environment, **data)
    return {"watched": watching.watch(current_actor, found)}


@bp.post(f"{PLACE}/instances/mark-as-ended", needs=SWITCH, refuses=(404,))
@bp.arguments(schemas.EndedEvent, example={"event": 2113})
@bp.response(200, schemas.EndedRow, whole=True)
def mark_as_ended(
    data: dict[str, Any], project_id: str, name: str, environment: str
) -> dict[str, int]:
    """Mark instances as ended that are silent since a change

    If one still runs, it appears again.
    """
    as_of = data.pop("as_of", None)
    found = service.read(features.get(current_actor, project_id, name), environment, **data)
    return {"ended": service.mark_as_ended(current_actor, found, as_of=as_of)}


@bp.get("/arrival", needs=Access.SIGNED_IN)
@bp.response(200, schemas.ArrivalList, whole=True)
def index() -> dict[str, list[Arrival]]:
    """List which applications have the newest state of their environments

    Also those that ran in the last 7 days: they have no instances.
    """
    return {"applications": arrival.of_all()}
