"""Undoing what one act did to the strategies and the state of a feature in an environment."""

from collections.abc import Mapping
from typing import Any

from app.catalogue.features import service as features
from app.catalogue.strategies.models import Strategy
from app.catalogue.strategies.service import Fields
from app.core.actor import Actor
from app.core.errors import Conflict, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.permissions import Permission
from app.releases.switching import service, strategies

_NEEDED = {
    EventType.FEATURE_STRATEGY_ADDED: Permission.DELETE_FEATURE_STRATEGY,
    EventType.FEATURE_STRATEGY_UPDATED: Permission.UPDATE_FEATURE_STRATEGY,
    EventType.FEATURE_STRATEGY_REMOVED: Permission.CREATE_FEATURE_STRATEGY,
    EventType.FEATURE_ENVIRONMENT_ENABLED: Permission.UPDATE_FEATURE_ENVIRONMENT,
    EventType.FEATURE_ENVIRONMENT_DISABLED: Permission.UPDATE_FEATURE_ENVIRONMENT,
}
"""What can be undone, and the permission to do so."""


def undo(actor: Actor, project_id: str, name: str, environment: str, batch_id: str) -> None:
    """Undo the events of a batch, if no one changed the same strategies since.

    Raises:
        NotFound: when the batch did nothing here that can be undone.
        Conflict: when a strategy is no longer as the batch left it.

    """
    features.lock_for_change(actor, project_id, name)
    found = [
        event
        for event in events.of_batch(batch_id, project=project_id, feature=name)
        if event.type in _NEEDED
        and (event.data or event.pre_data or {})["environment"] == environment
    ]
    if not found:
        raise NotFound(f"There is nothing to undo in {environment}.")
    for event in found:
        actor.require(_NEEDED[event.type], project_id)
    types = {event.type for event in found}
    # Off first and on last, or a feature would be on without a strategy in between.
    if EventType.FEATURE_ENVIRONMENT_ENABLED in types:
        service.switch(actor, project_id, environment, [name], on=False)
    for event in reversed(found):
        _undo_strategy(actor, (project_id, name, environment), event)
    if EventType.FEATURE_ENVIRONMENT_DISABLED in types:
        service.switch(actor, project_id, environment, [name], on=True)


def _undo_strategy(actor: Actor, place: tuple[str, str, str], event: Event) -> None:
    state = strategies.state(actor, *place)
    present = {strategy.id: strategy for strategy in state.strategies}
    before, after = event.pre_data or {}, event.data or {}
    strategy = present.get((after or before).get("id", ""))
    match event.type:
        case EventType.FEATURE_STRATEGY_ADDED:
            strategies.remove(actor, _unchanged(strategy, after))
        case EventType.FEATURE_STRATEGY_UPDATED:
            strategies.update(
                actor,
                place[0],
                _unchanged(strategy, after),
                replace_parameters=True,
                **_fields(before),
            )
        case EventType.FEATURE_STRATEGY_REMOVED:
            strategies.add(actor, *place, id=before["id"], **_fields(before))


def _unchanged(strategy: Strategy | None, recorded: Mapping[str, Any]) -> Strategy:
    """The strategy, which must be as it was recorded, wherever it stands among the others."""
    if strategy is None or strategy.snapshot() | {"sortOrder": 0} != {**recorded, "sortOrder": 0}:
        raise Conflict(
            "Someone changed this strategy since, so it can’t be undone. The history says who."
        )
    return strategy


def _fields(snapshot: Mapping[str, Any]) -> Fields:
    return Fields(
        name=snapshot["name"],
        title=snapshot["title"],
        disabled=snapshot["disabled"],
        sort_order=snapshot["sortOrder"],
        parameters=snapshot["parameters"],
        constraints=snapshot["constraints"],
        segments=snapshot["segments"],
        variants=snapshot["variants"],
    )


def _environment(event: Event) -> str:
    recorded: dict[str, Any] = event.data or event.pre_data or {}
    return str(recorded["environment"])
