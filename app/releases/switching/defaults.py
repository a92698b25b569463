"""Default strategies: what features get when they are switched on without an active one."""

from typing import Unpack
from uuid import uuid4

from app.catalogue.projects import service as projects
from app.catalogue.projects.models import Project
from app.catalogue.strategies import queries, types
from app.catalogue.strategies import service as strategies
from app.catalogue.strategies.models import Copy, Strategy
from app.catalogue.strategies.service import Fields, project_environment
from app.core.actor import Actor
from app.core.db import db, flush
from app.core.events import service as events
from app.core.events.event_types import EventType


def get(actor: Actor, project_id: str, environment: str) -> Strategy:
    """The default strategy that the project has chosen there, or else a rollout to everyone."""
    project = projects.get(actor, project_id)
    project_environment(project_id, environment)
    return of(project, environment)


def get_for_change(actor: Actor, project_id: str, environment: str) -> Strategy:
    """The default strategy, with its project locked for this transaction."""
    project = projects.get_for_change(actor, project_id)
    project_environment(project_id, environment)
    return of(project, environment)


def of(project: Project, environment: str) -> Strategy:
    return queries.default_in(project.id, environment) or everyone(project, environment)


def copy(
    default: Strategy, feature: str, feature_id: int, place: int, id: str | None = None
) -> Copy:
    """The default strategy as a feature's own; not stored."""
    parameters = default.parameters
    if "groupId" in types.TYPES.get(default.name, {}):
        # The feature is its own group unless the default names one.
        parameters = {"groupId": feature} | parameters
    return Copy(default, id or str(uuid4()), feature_id, place, parameters)


def choose(actor: Actor, present: Strategy, **fields: Unpack[Fields]) -> Strategy:
    """Replace a default strategy from ``get_for_change``."""
    project = projects.get(actor, str(present.project_id))
    is_stored = present in db.session
    before = present.snapshot() if is_stored else None
    chosen = present if is_stored else everyone(project, present.environment)
    chosen.parameters = {}
    defaults = {"stickiness": project.default_stickiness}
    strategies.compose(
        chosen, strategies.blank() | fields, project_id=project.id, defaults=defaults
    )
    db.session.add(chosen)
    flush()
    if chosen.snapshot() != before:
        _record(actor, chosen, before, chosen.snapshot())
    return chosen


def reset(actor: Actor, present: Strategy) -> bool:
    """Go back to a rollout to everyone. Return whether the project had chosen another one.

    ``present``: from ``get_for_change``.
    """
    if present not in db.session:
        return False
    before = present.snapshot()
    db.session.delete(present)
    flush()
    _record(actor, present, before, {"environment": present.environment})
    return True


def everyone(project: Project, environment: str) -> Strategy:
    """A rollout to everyone; not stored."""
    return Strategy(
        id=str(uuid4()),
        project_id=project.id,
        environment=environment,
        name=types.ROLLOUT,
        title=None,
        disabled=False,
        sort_order=0,
        parameters={"rollout": "100", "stickiness": project.default_stickiness},
        constraints=[],
        segments=[],
        variants=[],
    )


def _record(
    actor: Actor, strategy: Strategy, before: dict[str, object] | None, after: dict[str, object]
) -> None:
    events.record(
        actor,
        EventType.DEFAULT_STRATEGY_UPDATED,
        project=strategy.project_id,
        pre_data=before,
        data=after,
    )
