"""The strategies of a feature in an environment: adding, changing, sorting and deleting them."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

from app.constraints import service as constraints
from app.constraints.models import Constraint
from app.context import service as context
from app.core.actor import Actor
from app.core.db import db, save
from app.core.errors import Conflict, Invalid, NotFound
from app.events import service as events
from app.events.models import EventType
from app.features import service as features
from app.features.models import Feature
from app.projects import service as projects
from app.projects.approvals import guard
from app.strategies import queries, types
from app.strategies.models import MAX_STRATEGIES, Strategy, Variant
from app.strategies.queries import State
from app.switching.service import use_of


class Fields(TypedDict, total=False):
    """The fields of a strategy. In an update, those left out stay as they are."""

    name: str
    title: str | None
    disabled: bool
    sort_order: int
    parameters: dict[str, str]
    constraints: list[Constraint]
    variants: list[Variant]


def state(actor: Actor, project_id: str, feature: str, environment: str) -> State:
    """The feature in this environment, with its strategies."""
    view = features.get(actor, project_id, feature)
    use_of(project_id, environment)
    return next(each for each in view.environments if each.name == environment)


def get(actor: Actor, project_id: str, feature: str, environment: str, id: str) -> Strategy:
    found = state(actor, project_id, feature, environment)
    return _with_id(found.strategies, id)


def add(
    actor: Actor, project_id: str, feature: str, environment: str, **fields: Unpack[Fields]
) -> Strategy:
    """Add a strategy, by default after the others."""
    found, present = _for_change(actor, project_id, feature, environment)
    if len(present) >= MAX_STRATEGIES:
        raise Conflict(
            f"{feature} already has {MAX_STRATEGIES} strategies in {environment}, the most there "
            "can be."
        )
    strategy = Strategy(
        feature_id=found.id,
        environment=environment,
        name=fields.get("name", types.ROLLOUT),
        title=fields.get("title"),
        disabled=fields.get("disabled", False),
        parameters={},
        constraints=fields.get("constraints", []),
        variants=fields.get("variants", []),
    )
    _set_parameters(actor, project_id, found, strategy, fields.get("parameters", {}))
    _check(strategy)
    place = min(fields.get("sort_order", len(present)), len(present))
    strategy.sort_order = place
    save(strategy)
    _number([*present[:place], strategy, *present[place:]])
    _record(actor, EventType.FEATURE_STRATEGY_ADDED, found, data=strategy.snapshot())
    return strategy


def update(actor: Actor, project_id: str, strategy: Strategy, **fields: Unpack[Fields]) -> bool:
    """Change a strategy from ``get_for_change``; whether that changed anything."""
    found = db.session.get_one(Feature, strategy.feature_id)
    before = strategy.snapshot()
    for key in ("name", "title", "disabled", "constraints", "variants"):
        if key in fields:
            setattr(strategy, key, fields[key])
    if "parameters" in fields or "name" in fields:
        kept = strategy.parameters if strategy.name == before["name"] else {}
        given = kept | fields.get("parameters", {})
        _set_parameters(actor, project_id, found, strategy, given)
    _check(strategy)
    if "sort_order" in fields:
        present = queries.strategies_in(strategy.environment, [found.id])[found.id]
        others = [each for each in present if each.id != strategy.id]
        place = min(fields["sort_order"], len(others))
        _number([*others[:place], strategy, *others[place:]])
    after = strategy.snapshot()
    if after == before:
        return False
    db.session.flush()
    _record(actor, EventType.FEATURE_STRATEGY_UPDATED, found, pre_data=before, data=after)
    _switch_off_without_strategy(actor, found, strategy.environment)
    return True


def remove(actor: Actor, project_id: str, strategy: Strategy) -> None:
    """Delete a strategy from ``get_for_change``. Without any, the feature is switched off."""
    projects.require_for_content(actor, project_id)
    found = db.session.get_one(Feature, strategy.feature_id)
    before, environment = strategy.snapshot(), strategy.environment
    db.session.delete(strategy)
    db.session.flush()
    _number(queries.strategies_in(environment, [found.id]).get(found.id, []))
    _record(actor, EventType.FEATURE_STRATEGY_REMOVED, found, pre_data=before)
    _switch_off_without_strategy(actor, found, environment)


def sort(
    actor: Actor, project_id: str, feature: str, environment: str, orders: Mapping[str, int]
) -> None:
    """Put strategies in another order; those that are named go before others with their number."""
    found, present = _for_change(actor, project_id, feature, environment)
    known = {strategy.id for strategy in present}
    if unknown := [id for id in orders if id not in known]:
        raise Invalid.because(
            [
                {
                    "path": f"/{list(orders).index(id)}/id",
                    "message": f"{feature} has no strategy with this id in {environment}.",
                }
                for id in unknown
            ]
        )
    before = [strategy.id for strategy in present]
    ordered = sorted(
        present,
        key=lambda each: (orders.get(each.id, each.sort_order), each.id not in orders),
    )
    _number(ordered)
    after = [strategy.id for strategy in ordered]
    if after != before:
        _record(
            actor,
            EventType.FEATURE_STRATEGIES_SORTED,
            found,
            pre_data={"environment": environment, "strategies": before},
            data={"environment": environment, "strategies": after},
        )


def get_for_change(
    actor: Actor, project_id: str, feature: str, environment: str, id: str
) -> Strategy:
    """The strategy, with its feature locked for this transaction."""
    _, present = _for_change(actor, project_id, feature, environment)
    return _with_id(present, id)


def _for_change(
    actor: Actor, project_id: str, feature: str, environment: str
) -> tuple[Feature, list[Strategy]]:
    found = features.get_for_change(actor, project_id, feature).feature
    use_of(project_id, environment)
    guard(actor, project_id, [environment], feature=feature)
    return found, queries.strategies_in(environment, [found.id]).get(found.id, [])


def _with_id(strategies: Sequence[Strategy], id: str) -> Strategy:
    for strategy in strategies:
        if strategy.id == id:
            return strategy
    raise NotFound(f"There is no strategy with the id {id} here.")


def _set_parameters(
    actor: Actor, project_id: str, feature: Feature, strategy: Strategy, given: Mapping[str, str]
) -> None:
    if problems := types.problems(strategy.name, given):
        raise Invalid.because(
            [
                {"path": f"/parameters/{key}", "message": message}
                for key, message in problems.items()
            ]
        )
    defaults = {
        "stickiness": projects.get(actor, project_id).default_stickiness,
        "groupId": feature.name,
    }
    if strategy.name in types.TYPES:
        strategy.parameters = types.in_full(strategy.name, given, defaults)
    else:
        strategy.parameters = dict(given)


def _check(strategy: Strategy) -> None:
    """Refuse what needs a look at context fields."""
    constraints.check_to_store(strategy.constraints)
    asked = {"/parameters/stickiness": strategy.parameters.get("stickiness", "default")}
    asked |= {
        f"/variants/{place}/stickiness": variant["stickiness"]
        for place, variant in enumerate(strategy.variants)
    }
    if set(asked.values()) <= set(types.ALWAYS_STICKY):
        return
    fields = context.by_name(keep=True).values()
    sticky = {field.name for field in fields if field.stickiness}
    problems = [
        {
            "path": path,
            "message": f"There is no context field named {name!r} that stickiness can go by.",
        }
        for path, name in asked.items()
        if name not in sticky and name not in types.ALWAYS_STICKY
    ]
    if problems:
        raise Invalid.because(problems)


def _number(strategies: Sequence[Strategy]) -> None:
    """Number strategies from 0, without gaps."""
    for place, strategy in enumerate(strategies):
        strategy.sort_order = place
    db.session.flush()


def _switch_off_without_strategy(actor: Actor, feature: Feature, environment: str) -> None:
    """Keep the promise that a feature that is on has a strategy that counts.

    SDKs take a feature that is on without any strategy for one that is on for everyone.
    """
    is_on = feature.id in queries.on_in(environment, [feature.id])
    if is_on and not queries.with_strategy(environment, [feature.id]):
        queries.set_states(environment, [feature.id], enabled=False)
        data = {"environment": environment, "because": "no strategy is left"}
        _record(actor, EventType.FEATURE_ENVIRONMENT_DISABLED, feature, data=data)


def _record(
    actor: Actor,
    type: EventType,
    feature: Feature,
    *,
    data: dict[str, Any] | None = None,
    pre_data: dict[str, Any] | None = None,
) -> None:
    events.record(
        actor,
        type,
        project=feature.project_id,
        feature_name=feature.name,
        data=data,
        pre_data=pre_data,
    )
