"""Copying all strategies of a feature: to other environments, or with the whole feature."""

from collections.abc import Sequence
from uuid import uuid4

from app.catalogue.features import dependencies
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
from app.releases.switching import variants


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
        copies += [_copy(each, found.id, target, place + each.sort_order) for each in originals]
    _store(actor, found, copies)
    return len(originals)


def clone(
    actor: Actor, project_id: str, feature: str, *, name: str, replace_group_id: bool = True
) -> None:
    """Create a feature with the settings, strategies, variants and parent of another; off.

    ``replace_group_id``: its rollouts go by its own name.
    """
    original = features.get(actor, project_id, feature)
    if original.feature.archived_at is not None:
        raise Conflict(f"{feature} is archived. Revive it before you clone it.")
    settings = {key: getattr(original.feature, key) for key in Feature.settings}
    created = features.create(actor, project_id, name=name, **settings | {"stale": False})
    copies = []
    for state in original.environments:
        for strategy in state.strategies:
            new = _copy(strategy, created.feature.id, state.name, strategy.sort_order)
            if replace_group_id and "groupId" in new.parameters:
                new.parameters = new.parameters | {"groupId": name}
            copies.append(new)
        variants.replace(actor, created.feature, created.state(state.name), state.variants)
    _store(actor, created.feature, copies)
    for parent in original.dependencies:
        rule = parent._asdict()
        dependencies.add(actor, project_id, name, rule.pop("feature"), **rule)


def _store(actor: Actor, feature: Feature, copies: list[Strategy]) -> None:
    db.session.add_all(copies)
    flush()
    queries.note_change({each.environment for each in copies}, feature.id)
    payloads = [
        EventPayload(project=feature.project_id, feature_name=feature.name, data=each.snapshot())
        for each in copies
    ]
    events.record_together(actor, EventType.FEATURE_STRATEGY_ADDED, payloads)


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


def _copy(strategy: Strategy, feature_id: int, environment: str, place: int) -> Strategy:
    """A copy of a strategy for another place; not stored."""
    return Strategy(
        id=str(uuid4()),
        feature_id=feature_id,
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
