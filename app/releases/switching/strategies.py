"""The strategies of a feature in an environment: adding, changing, sorting and deleting them."""

from collections.abc import Mapping, Sequence
from typing import Unpack
from uuid import uuid4

import sqlalchemy as sa

from app.catalogue.features import service as features
from app.catalogue.features.models import Feature
from app.catalogue.projects import service as projects
from app.catalogue.projects.models import Project
from app.catalogue.segments import queries as segments
from app.catalogue.segments.models import Segment
from app.catalogue.segments.queries import SegmentView
from app.catalogue.strategies import queries
from app.catalogue.strategies.models import MAX_STRATEGIES, Strategy, StrategySegment
from app.catalogue.strategies.queries import EnvironmentState
from app.catalogue.strategies.service import Fields, blank, compose, project_environment
from app.core.actor import Actor
from app.core.db import db, save
from app.core.errors import Conflict, Invalid, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.service import EventPayload


def state(actor: Actor, project_id: str, feature: str, environment: str) -> EnvironmentState:
    """The feature in this environment, with its strategies."""
    return features.get(actor, project_id, feature).state(environment)


def add(
    actor: Actor,
    project_id: str,
    feature: str,
    environment: str,
    *,
    id: str | None = None,
    **fields: Unpack[Fields],
) -> Strategy:
    """Add a strategy, by default as the last one. ``id``: if a change request reserved one."""
    found, present = _for_change(actor, project_id, feature, environment)
    if len(present) >= MAX_STRATEGIES:
        raise Conflict(
            f"{feature} already has {MAX_STRATEGIES} strategies in {environment}, the most there "
            "can be."
        )
    if id in {each.id for each in present}:
        raise Conflict(f"{feature} already has this strategy in {environment}.")
    strategy = Strategy(
        id=id or str(uuid4()),
        feature_id=found.id,
        environment=environment,
        name="",
        disabled=False,
        parameters={},
    )
    defaults = _defaults(actor, project_id, found)
    compose(strategy, blank() | fields, project_id=project_id, defaults=defaults)
    place = min(fields.get("sort_order", len(present)), len(present))
    strategy.sort_order = place
    save(strategy)
    _number([*present[:place], strategy, *present[place:]])
    queries.note_change([environment], found.id)
    events.record_of(actor, EventType.FEATURE_STRATEGY_ADDED, found, data=strategy.snapshot())
    return strategy


def update(
    actor: Actor,
    project_id: str,
    strategy: Strategy,
    *,
    replace_parameters: bool = False,
    **fields: Unpack[Fields],
) -> bool:
    """Change a strategy from ``get_for_change``. Return whether anything changed.

    Parameters that are left out stay, or with ``replace_parameters`` get their default.
    """
    found = db.session.get_one(Feature, strategy.feature_id)
    before = strategy.snapshot()
    if replace_parameters:
        strategy.parameters = {}
    defaults = _defaults(actor, project_id, found)
    compose(strategy, fields, project_id=project_id, defaults=defaults)
    if "sort_order" in fields:
        present = queries.strategies_in(strategy.environment, [found.id])[found.id]
        others = [each for each in present if each.id != strategy.id]
        place = min(fields["sort_order"], len(others))
        _number([*others[:place], strategy, *others[place:]])
    after = strategy.snapshot()
    if after == before:
        return False
    db.session.flush()
    queries.note_change([strategy.environment], found.id)
    events.record_of(actor, EventType.FEATURE_STRATEGY_UPDATED, found, pre_data=before, data=after)
    _switch_off_without_strategy(actor, found, strategy.environment)
    return True


def remove(actor: Actor, strategy: Strategy) -> None:
    """Delete a strategy from ``get_for_change``; without an active one, switch the feature off."""
    found = db.session.get_one(Feature, strategy.feature_id)
    before, environment = strategy.snapshot(), strategy.environment
    db.session.delete(strategy)
    db.session.flush()
    _number(queries.strategies_in(environment, [found.id]).get(found.id, []))
    queries.note_change([environment], found.id)
    events.record_of(actor, EventType.FEATURE_STRATEGY_REMOVED, found, pre_data=before)
    _switch_off_without_strategy(actor, found, environment)


def sort(
    actor: Actor, project_id: str, feature: str, environment: str, orders: Mapping[str, int]
) -> None:
    """Sort strategies by these numbers. Others keep theirs; if equal, the given one is first."""
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
        queries.note_change([environment], found.id)
        events.record_of(
            actor,
            EventType.FEATURE_STRATEGIES_SORTED,
            found,
            pre_data={"environment": environment, "strategies": before},
            data={"environment": environment, "strategies": after},
        )


def replace(
    actor: Actor, feature: Feature, environment: str, wanted: Sequence[tuple[str, Fields]]
) -> None:
    """Replace all strategies of a locked feature. ``wanted``: ids and fields, in their order."""
    defaults, added = _defaults(actor, feature.project_id, feature), []
    for place, (id, fields) in enumerate(wanted):
        strategy = Strategy(
            id=id,
            feature_id=feature.id,
            environment=environment,
            name="",
            disabled=False,
            parameters={},
            sort_order=place,
        )
        compose(strategy, blank() | fields, project_id=feature.project_id, defaults=defaults)
        added.append(strategy)
    removed = queries.strategies_in(environment, [feature.id]).get(feature.id, [])
    for strategy in removed:
        db.session.delete(strategy)
    db.session.flush()
    db.session.add_all(added)
    db.session.flush()
    queries.note_change([environment], feature.id)
    about = EventPayload(project=feature.project_id, feature_name=feature.name)
    # The last one first, so that the places in the log are those at the time.
    gone = [about | EventPayload(pre_data=each.snapshot()) for each in reversed(removed)]
    new = [about | EventPayload(data=each.snapshot()) for each in added]
    events.record_all(actor, EventType.FEATURE_STRATEGY_REMOVED, gone)
    events.record_all(actor, EventType.FEATURE_STRATEGY_ADDED, new)


def get_for_change(
    actor: Actor, project_id: str, feature: str, environment: str, id: str
) -> Strategy:
    """The strategy, with its feature locked for this transaction."""
    _, present = _for_change(actor, project_id, feature, environment)
    return with_id(present, id)


def find_for_change(actor: Actor, project_id: str, environment: str, id: str) -> Strategy:
    """The strategy with this id, with the feature that has it locked for this transaction."""
    owner = sa.select(Feature.name).join(Strategy, Strategy.feature_id == Feature.id)
    feature = db.session.scalar(owner.where(Strategy.id == id, Feature.project_id == project_id))
    if feature is None:
        raise _unknown(id)
    return get_for_change(actor, project_id, feature, environment, id)


def segments_of(actor: Actor, id: str) -> list[SegmentView]:
    """The segments of a strategy in a project that the actor can see."""
    project = sa.func.coalesce(Feature.project_id, Strategy.project_id)
    visible = sa.select(Project.id).where(Project.visible_to(actor))
    query = sa.select(Strategy.id).outerjoin(Feature, Feature.id == Strategy.feature_id)
    if db.session.scalar(query.where(Strategy.id == id, project.in_(visible))) is None:
        raise _unknown(id)
    used = sa.select(StrategySegment.segment_id).where(StrategySegment.strategy_id == id)
    found = db.session.scalars(segments.rows(actor).where(Segment.id.in_(used)))
    return segments.views(list(found))


def _for_change(
    actor: Actor, project_id: str, feature: str, environment: str
) -> tuple[Feature, list[Strategy]]:
    found = features.lock_for_change(actor, project_id, feature)
    project_environment(project_id, environment)
    return found, queries.strategies_in(environment, [found.id]).get(found.id, [])


def with_id(strategies: Sequence[Strategy], id: str) -> Strategy:
    for strategy in strategies:
        if strategy.id == id:
            return strategy
    raise _unknown(id)


def _unknown(id: str) -> NotFound:
    return NotFound(f"There is no strategy with the id {id} here.")


def _defaults(actor: Actor, project_id: str, feature: Feature) -> dict[str, str]:
    """Values for parameters that are left out."""
    stickiness = projects.get(actor, project_id).default_stickiness
    return {"stickiness": stickiness, "groupId": feature.name}


def _number(strategies: Sequence[Strategy]) -> None:
    """Number strategies from 0, without gaps."""
    for place, strategy in enumerate(strategies):
        strategy.sort_order = place
    db.session.flush()


def _switch_off_without_strategy(actor: Actor, feature: Feature, environment: str) -> None:
    """Switch a feature off if it has no active strategy left.

    SDKs would evaluate a feature that is on without any strategy as on for everyone.
    """
    is_on = feature.id in queries.on_in(environment, [feature.id])
    if is_on and not queries.with_strategy(environment, [feature.id]):
        queries.set_states(environment, [feature.id], enabled=False)
        data = {"environment": environment, "because": "no strategy is left"}
        events.record_of(actor, EventType.FEATURE_ENVIRONMENT_DISABLED, feature, data=data)
