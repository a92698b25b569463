"""Types of strategy that people create, for applications that implement them."""

from typing import TypedDict, Unpack

import sqlalchemy as sa

from app.catalogue.strategies.models import CustomParameter, Strategy, StrategyType
from app.catalogue.strategies.types import DESCRIPTIONS, TYPES
from app.core.actor import Actor
from app.core.db import by_id, db, save
from app.core.errors import Conflict, NameExists, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.words import counted


class Changes(TypedDict, total=False):
    """Fields of an update. Omitted fields keep their value; None clears one."""

    description: str | None
    parameters: list[CustomParameter]


def list_all() -> list[StrategyType]:
    """The types that people created, by name."""
    return list(db.session.scalars(sa.select(StrategyType).order_by(StrategyType.name)))


def with_built_in() -> list[StrategyType]:
    """The types that every SDK knows, then those that people created."""
    built_in = [
        StrategyType(
            name=name,
            description=description,
            parameters=[
                CustomParameter(
                    name=key, type="string", description="", required=parameter.default == ""
                )
                for key, parameter in TYPES[name].items()
            ],
            deprecated=False,
        )
        for name, description in DESCRIPTIONS.items()
    ]
    return [*built_in, *list_all()]


def read(name: str) -> StrategyType:
    """The type, custom or built in."""
    for type in with_built_in():
        if type.name == name:
            return type
    raise NotFound(f"There is no strategy type named {name!r}.")


def get(name: str, *, for_change: bool = False) -> StrategyType:
    """The type, with ``for_change`` locked until the transaction ends."""
    found = by_id(StrategyType, name, for_change=for_change)
    if found is None:
        own = " Every SDK knows it, so it cannot be changed." if name in TYPES else ""
        raise NotFound(f"No one has created a strategy type named {name!r}.{own}")
    return found


def create(
    actor: Actor,
    *,
    name: str,
    description: str | None = None,
    parameters: list[CustomParameter] | None = None,
) -> StrategyType:
    taken = NameExists(f"A strategy type named {name!r} already exists.", field="name")
    if name in DESCRIPTIONS:
        raise taken
    type = StrategyType(name=name, description=description, parameters=parameters or [])
    save(type, if_taken=taken)
    events.record(actor, EventType.STRATEGY_TYPE_CREATED, data=type.snapshot())
    return type


def update(actor: Actor, type: StrategyType, **changes: Unpack[Changes]) -> bool:
    """Change a type that ``get`` locked. Return whether anything changed."""
    before = type.snapshot()
    if changes.get("parameters", type.parameters) != type.parameters and (used := uses(type.name)):
        raise Conflict(
            f"{counted(used, 'strategy has', 'strategies have')} this type with its present "
            "parameters. Create another type instead."
        )
    for key, value in changes.items():
        setattr(type, key, value)
    return _record_change(actor, type, before)


def set_deprecated(actor: Actor, type: StrategyType, *, deprecated: bool) -> bool:
    """Deprecate or reactivate a type that ``get`` locked. Return whether anything changed."""
    before = type.snapshot()
    type.deprecated = deprecated
    return _record_change(actor, type, before)


def remove(actor: Actor, type: StrategyType) -> None:
    """Delete a type that ``get`` locked."""
    if obstacle := obstacle_to_removal(type):
        raise Conflict(obstacle)
    before = type.snapshot()
    db.session.delete(type)
    events.record(actor, EventType.STRATEGY_TYPE_DELETED, pre_data=before)


def obstacle_to_removal(type: StrategyType) -> str:
    """Why a type cannot be deleted, and what to do about it; empty if it can."""
    if used := uses(type.name):
        number = counted(used, "strategy has", "strategies have")
        return f"{number} the type {type.name}. Stop using it first."
    return ""


def uses(name: str) -> int:
    """How many strategies have the type, also in archived features."""
    query = sa.select(sa.func.count()).where(Strategy.name == name)
    return db.session.scalar(query) or 0


def _record_change(actor: Actor, type: StrategyType, before: dict[str, object]) -> bool:
    after = type.snapshot()
    if after != before:
        events.record(actor, EventType.STRATEGY_TYPE_UPDATED, pre_data=before, data=after)
    return after != before
