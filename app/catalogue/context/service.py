"""Context fields: values that applications send, such as the country of the user."""

from collections.abc import Callable
from typing import TypedDict, Unpack

import sqlalchemy as sa

from app.catalogue.context import uses
from app.catalogue.context.models import MAX_LEGAL_VALUES, MAX_ORDER, ContextField, LegalValue
from app.core.actor import Actor
from app.core.db import by_id, db, locked, once, save
from app.core.errors import Conflict, Invalid, NameExists, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.words import counted, listed


class Changes(TypedDict, total=False):
    """Fields of an update. Omitted fields keep their value; None clears one."""

    description: str | None
    stickiness: bool
    sort_order: int
    legal_values: list[LegalValue]


def list_all() -> list[ContextField]:
    """All context fields, in the order that people chose."""
    query = sa.select(ContextField).order_by(ContextField.sort_order, ContextField.name)
    return list(db.session.scalars(query))


def by_name(*, keep: bool = False) -> dict[str, ContextField]:
    """All fields by name. ``keep``: lock them against changes until the transaction ends."""
    query = sa.select(ContextField)
    if keep:
        # FOR KEY SHARE: blocks ``get`` with ``for_change``, but no other reader like this one
        query = locked(query, read=True, key_share=True)
    return once(
        "context fields",
        lambda: {field.name: field for field in db.session.scalars(query)},
        locks=keep,
    )


def get(name: str, *, for_change: bool = False) -> ContextField:
    """The field, with ``for_change`` locked until the transaction ends."""
    field = by_id(ContextField, name, for_change=for_change)
    if field is None:
        raise NotFound(f"There is no context field named {name!r}.")
    return field


def create(
    actor: Actor,
    *,
    name: str,
    description: str | None = None,
    stickiness: bool = False,
    sort_order: int | None = None,
    legal_values: list[LegalValue] | None = None,
) -> ContextField:
    """Create a context field. Without ``sort_order`` it comes last."""
    if sort_order is None:
        last = db.session.scalar(sa.select(sa.func.max(ContextField.sort_order)))
        sort_order = min((last or 0) + 1, MAX_ORDER)
    field = ContextField(
        name=name,
        description=description,
        stickiness=stickiness,
        sort_order=sort_order,
        legal_values=legal_values or [],
    )
    save(field, if_taken=_taken(name))
    events.record(actor, EventType.CONTEXT_FIELD_CREATED, data=field.snapshot())
    return field


def check_name(name: str) -> None:
    """Refuse a name that a context field has."""
    if by_id(ContextField, name) is not None:
        raise _taken(name)


def _taken(name: str) -> NameExists:
    return NameExists(f"A context field named {name!r} already exists.", field="name")


def update(actor: Actor, field: ContextField, **changes: Unpack[Changes]) -> bool:
    """Change a field that ``get`` locked. Return whether anything changed."""
    before = field.snapshot()
    replace(actor, field, **changes)()
    return field.snapshot() != before


def replace(actor: Actor, field: ContextField, **changes: Unpack[Changes]) -> Callable[[], None]:
    """Change a field like ``update``, but leave it to the caller when to check for lost values.

    Call the returned function once everything that relied on the old values has changed too. It
    raises Conflict if anything still does.
    """
    before, was_sticky, values = field.snapshot(), field.stickiness, field.values
    for key, value in changes.items():
        setattr(field, key, value)
    after = field.snapshot()
    if after != before:
        events.record(actor, EventType.CONTEXT_FIELD_UPDATED, pre_data=before, data=after)
    return lambda: _refuse_loss(field, values, was_sticky=was_sticky)


def set_legal_value(
    actor: Actor, field: ContextField, value: str, description: str | None = None
) -> bool:
    """Add a legal value, or describe an existing one. Return whether anything changed."""
    legal = LegalValue(value=value, description=description)
    if value in field.values:
        values = [legal if each["value"] == value else each for each in field.legal_values]
    elif len(field.legal_values) < MAX_LEGAL_VALUES:
        values = [*field.legal_values, legal]
    else:
        raise Invalid.at("/value", f"{field.name} already has {MAX_LEGAL_VALUES} legal values.")
    return update(actor, field, legal_values=values)


def remove_legal_value(actor: Actor, field: ContextField, value: str) -> None:
    rest = [legal for legal in field.legal_values if legal["value"] != value]
    if len(rest) == len(field.legal_values):
        raise NotFound(f"{field.name} has no legal value {value!r}.")
    update(actor, field, legal_values=rest)


def remove(actor: Actor, field: ContextField) -> None:
    """Delete a field that ``get`` locked."""
    if obstacle := obstacle_to_removal(field):
        raise Conflict(f"The context field {field.name!r} cannot be deleted. {obstacle}")
    before = field.snapshot()
    db.session.delete(field)
    events.record(actor, EventType.CONTEXT_FIELD_DELETED, pre_data=before)


def obstacle_to_removal(field: ContextField) -> str:
    """Why a field cannot be deleted, and what to do about it; empty if it can."""
    return "SDKs send it by themselves." if field.is_built_in else uses.of(field.name).obstacle


def _refuse_loss(field: ContextField, had: list[str], *, was_sticky: bool) -> None:
    """Refuse a change if strategies or segments rely on a lost legal value or the lost stickiness.

    ``had``: the former legal values; empty if any value was allowed.
    """
    legal = field.values
    less_legal = legal and (not had or set(had) - set(legal))
    less_sticky = was_sticky and not field.stickiness
    if not less_legal and not less_sticky:
        return
    found = uses.of(field.name)
    if less_sticky and found.sticky:
        number = counted(found.sticky, "strategy goes", "strategies go")
        raise Conflict(f"{number} by {field.name} for stickiness. Change them first.")
    lost = [
        value
        for value in found.values
        if less_legal and value not in legal and (not had or value in had)
    ]
    if lost:
        raise Conflict(
            f"Strategies or segments use these values of {field.name}: {listed(lost)}. Keep them "
            "among the legal values, or change what uses them first."
        )
