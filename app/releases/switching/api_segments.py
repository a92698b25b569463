from typing import Any
from uuid import UUID

from app.catalogue.segments.queries import SegmentView
from app.catalogue.segments.schemas import SegmentList
from app.core.errors import Invalid
from app.core.permissions import Access, Permission
from app.core.quotas import NOTHING
from app.releases.switching import schemas, strategies
from app.web.current import current_actor
from app.web.routes import ApiBlueprint

bp = ApiBlueprint(
    "segments_of_strategies",
    __name__,
    url_prefix="/api/admin/segments",
    description="The segments of a strategy.",
)


@bp.get("/strategies/<uuid:strategy>", needs=Access.SIGNED_IN)
@bp.response(200, SegmentList)
def index(strategy: UUID) -> dict[str, list[SegmentView]]:
    """List the segments of a strategy"""
    return {"items": strategies.segments_of(current_actor, str(strategy))}


@bp.post("/strategies", needs=Access.SIGNED_IN, keeps=NOTHING, refuses=(403, 404))
@bp.arguments(
    schemas.SegmentsOfStrategy,
    example={
        "projectId": "checkout",
        "environmentId": "production",
        "strategyId": "5f8cf0a5-6bd4-4d5c-9f3c-7d1d6c3a2b10",
        "segmentIds": [1],
    },
)
@bp.response(201, schemas.SegmentsOfStrategy)
def choose(data: dict[str, Any]) -> dict[str, Any]:
    """Choose the segments of a strategy

    They replace those it has. Needs UPDATE_FEATURE_STRATEGY in the project.
    """
    current_actor.require(Permission.UPDATE_FEATURE_STRATEGY, data["project_id"])
    strategy = strategies.find_for_change(
        current_actor, data["project_id"], data["environment_id"], str(data["strategy_id"])
    )
    segments = data["segment_ids"]
    try:
        strategies.update(current_actor, data["project_id"], strategy, segments=segments)
    except Invalid as error:
        raise error.moved("/segments", "/segmentIds") from None
    return data
