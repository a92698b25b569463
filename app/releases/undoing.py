"""Undoing what was done to the strategies and the state of a feature in an environment."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from app.catalogue.features import service as features
from app.catalogue.strategies.models import Strategy
from app.catalogue.strategies.service import Fields
from app.core.actor import Actor
from app.core.errors import Conflict
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.events.undoing import Inverse, each
from app.core.permissions import Permission
from app.core.words import listed
from app.releases.switching import service, strategies


def _undo_strategy(actor: Actor, event: Event) -> None:
    before, after = event.pre_data or {}, event.data or {}
    place = _place(event)
    features.lock_for_change(actor, *place[:2])
    present = {strategy.id: strategy for strategy in strategies.state(actor, *place).strategies}
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


_undo_strategies = each(_undo_strategy)


def _undo_switches(actor: Actor, events: Sequence[Event]) -> None:
    on = events[0].type is EventType.FEATURE_ENVIRONMENT_DISABLED
    names: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for event in events:
        project_id, name, environment = _place(event)
        names[project_id, environment].add(name)
    for (project_id, environment), switched in names.items():
        _, changed = service.switch(actor, project_id, environment, sorted(switched), on=on)
        if already := switched.difference(changed):
            now = f"already {'on' if on else 'off'} again in {environment}"
            raise Conflict(f"{listed(already)}: {now}.")


INVERSES = {
    EventType.FEATURE_STRATEGY_ADDED: Inverse(Permission.DELETE_FEATURE_STRATEGY, _undo_strategies),
    EventType.FEATURE_STRATEGY_UPDATED: Inverse(
        Permission.UPDATE_FEATURE_STRATEGY, _undo_strategies
    ),
    EventType.FEATURE_STRATEGY_REMOVED: Inverse(
        Permission.CREATE_FEATURE_STRATEGY, _undo_strategies
    ),
    # Off first and on last, or a feature would be on without a strategy in between.
    EventType.FEATURE_ENVIRONMENT_ENABLED: Inverse(
        Permission.UPDATE_FEATURE_ENVIRONMENT, _undo_switches, place=-1
    ),
    EventType.FEATURE_ENVIRONMENT_DISABLED: Inverse(
        Permission.UPDATE_FEATURE_ENVIRONMENT, _undo_switches, place=1
    ),
}


def _place(event: Event) -> tuple[str, str, str]:
    """The project, the feature and the environment."""
    recorded = event.data or event.pre_data or {}
    return event.project or "", event.feature_name or "", recorded["environment"]


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
