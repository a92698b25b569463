"""Copying all strategies of a feature from one environment to others."""

from collections.abc import Sequence
from uuid import uuid4

from app.catalogue.features import service as features
from app.catalogue.features.models import Feature
from app.catalogue.strategies import queries
from app.catalogue.strategies.models import MAX_STRATEGIES, Strategy
from app.catalogue.strategies.service import project_environment
from app.core.actor import Actor
from app.core.db import db, flush
from app.core.errors import Conflict, Invalid
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.service import EventPayload
from app.core.words import counted


def copy(
    actor: Actor, project_id: str, feature: str, environment: str, targets: Sequence[str]
) -> int:
    """Append copies of the strategies to each target. Return the number per target.

    All or none. Paused strategies stay paused, and no feature is switched on or off.
    """
    found, originals = to_copy(actor, project_id, feature, environment, targets)
    copies = []
    for target in targets:
        place = len(queries.strategies_in(target, [found.id]).get(found.id, []))
        if place + len(originals) > MAX_STRATEGIES:
            has = counted(place, "strategy", "strategies")
            raise Conflict(
                f"{feature} has {has} in {target}. With {len(originals)} more it would have more "
                f"than {MAX_STRATEGIES}, the most there can be."
            )
        copies += [_copy(each, target, place + each.sort_order) for each in originals]
    db.session.add_all(copies)
    flush()
    queries.note_change(targets, found.id)
    payloads = [
        EventPayload(project=project_id, feature_name=feature, data=each.snapshot())
        for each in copies
    ]
    events.record_together(actor, EventType.FEATURE_STRATEGY_ADDED, payloads)
    return len(originals)


def to_copy(
    actor: Actor, project_id: str, feature: str, environment: str, targets: Sequence[str]
) -> tuple[Feature, list[Strategy]]:
    """Check the targets. Return the feature, locked for this transaction, and its strategies."""
    found = features.lock_for_change(actor, project_id, feature)
    for name in (environment, *targets):
        project_environment(project_id, name)
    if environment in targets:
        raise Invalid.at("/targets", f"The strategies are in {environment} already.")
    originals = queries.strategies_in(environment, [found.id]).get(found.id, [])
    if not originals:
        raise Conflict(f"{feature} has no strategy in {environment} to copy.")
    return found, originals


def _copy(strategy: Strategy, environment: str, place: int) -> Strategy:
    """A copy of a strategy for another environment; not stored."""
    return Strategy(
        id=str(uuid4()),
        feature_id=strategy.feature_id,
        environment=environment,
        name=strategy.name,
        title=strategy.title,
        disabled=strategy.disabled,
        sort_order=place,
        parameters=strategy.parameters,
        constraints=strategy.constraints,
        segments=list(strategy.segments),
        variants=strategy.variants,
    )
