"""What features of a project get when they are switched on without a strategy of their own."""

from typing import Any

from flask import Response

from app.catalogue.strategies.models import Strategy
from app.catalogue.strategies.schemas import DefaultStrategy, DefaultStrategyRow
from app.core.permissions import Access, Permission
from app.releases.switching import defaults
from app.web.current import current_actor
from app.web.requests import check_if_match
from app.web.routes import ApiBlueprint, no_body

PLACE = "/environments/<key:environment>/default-strategy"
STRATEGY = {"name": "flexibleRollout", "parameters": {"rollout": "10", "stickiness": "userId"}}

bp = ApiBlueprint(
    "default_strategies",
    __name__,
    url_prefix="/api/admin/projects/<key:project_id>",
    description="What features get when they are switched on without a strategy of their own.",
)


@bp.get(PLACE, needs=Access.SIGNED_IN)
@bp.response(200, DefaultStrategyRow, etag=True)
def show(project_id: str, environment: str) -> Strategy:
    """Read the default strategy of an environment

    On for everyone, unless the project has chosen another one.
    """
    return defaults.get(current_actor, project_id, environment)


@bp.post(PLACE, needs=Permission.UPDATE_PROJECT, refuses=(404, 412))
@bp.arguments(DefaultStrategy, example=STRATEGY)
@bp.response(200, DefaultStrategyRow, etag=True)
def choose(data: dict[str, Any], project_id: str, environment: str) -> Strategy:
    """Choose the default strategy of an environment

    Features that are on already keep their strategies.
    """
    present = defaults.get_for_change(current_actor, project_id, environment)
    check_if_match(DefaultStrategyRow, present)
    return defaults.choose(current_actor, present, **data)


@bp.delete(PLACE, needs=Permission.UPDATE_PROJECT, refuses=(409, 412))
@bp.response(200)
def reset(project_id: str, environment: str) -> Response:
    """Reset the default strategy of an environment

    It is on for everyone again.
    """
    present = defaults.get_for_change(current_actor, project_id, environment)
    check_if_match(DefaultStrategyRow, present)
    defaults.reset(current_actor, present)
    return no_body()
