"""Reading the event log; ``app/events`` writes it."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict, Unpack

import sqlalchemy as sa
from sqlalchemy.orm import aliased

from app.auth.models import SignIn
from app.core.activity import Activity, days, draw
from app.core.actor import Actor
from app.core.db import CHUNK, contains, db, unit_of_work
from app.events.models import Event, EventType
from app.projects import queries as projects

FIRST = 20
"""Features of a batch that are named where there is no room for all."""


class Filters(TypedDict, total=False):
    """What the log can be narrowed by; ``from_`` is included, ``to`` is not."""

    type: EventType
    project: str
    feature: str
    account: int
    from_: datetime
    to: datetime
    batch: str
    text: str


def search(
    actor: Actor,
    *,
    limit: int,
    before: int | None = None,
    count: bool = True,
    **filters: Unpack[Filters],
) -> tuple[list[Event], int]:
    """Events newest first, those with an id below ``before``, and the number of all that match.

    Without ``count`` the number is 0: counting reads all of them.
    """
    conditions = [_may_know(actor), *_conditions(filters)]
    total = 0
    if count:
        total = db.session.scalar(sa.select(sa.func.count(Event.id)).where(*conditions)) or 0
    query = sa.select(Event).where(*conditions).order_by(Event.id.desc()).limit(limit)
    if before is not None:
        query = query.where(Event.id < before)
    return list(db.session.scalars(query)), total


@dataclass(frozen=True, slots=True)
class Act:
    """An event as a row of the log; of one act that made several, the last, with their number.

    ``features``: the first of those that the act was about, by name.
    """

    event: Event
    count: int = 1
    features: tuple[str, ...] = ()


def acts(
    actor: Actor, *, limit: int, before: int | None = None, **filters: Unpack[Filters]
) -> list[Act]:
    """What ``search`` finds, with each batch as one row at the place of its last event.

    Narrowed to a batch, or to what only part of a batch may match, each event is a row.
    """
    conditions = [_may_know(actor), *_conditions(filters)]
    if filters.keys() & {"batch", "feature", "type", "text"}:
        events, _ = search(actor, limit=limit, before=before, **filters)
        return [Act(event) for event in events]
    later = aliased(Event)
    is_last = ~sa.exists().where(later.batch_id == Event.batch_id, later.id > Event.id)
    query = sa.select(Event).where(*conditions, is_last).order_by(Event.id.desc()).limit(limit)
    if before is not None:
        query = query.where(Event.id < before)
    events = list(db.session.scalars(query))
    place = sa.func.row_number().over(partition_by=Event.batch_id, order_by=Event.id)
    number = sa.func.count().over(partition_by=Event.batch_id)
    members = (
        sa.select(Event.batch_id, Event.feature_name, place.label("place"), number.label("number"))
        .where(Event.batch_id.in_([event.batch_id for event in events if event.batch_id]))
        .subquery()
    )
    found: defaultdict[str | None, list[Any]] = defaultdict(list)
    for row in db.session.execute(sa.select(members).where(members.c.place <= FIRST)):
        found[row.batch_id].append(row)
    return [
        Act(event, batch[0].number, tuple(row.feature_name for row in batch if row.feature_name))
        if (batch := found.get(event.batch_id))
        else Act(event)
        for event in events
    ]


def recent(actor: Actor) -> Activity:
    """The changes that the actor may know of; and everybody's sign-ins, for an Admin."""
    counts = {"change": days(Event.created_at, _may_know(actor))}
    if actor.is_admin:
        counts["sign-in"] = days(SignIn.at, SignIn.succeeded.is_(True))
    return draw(counts)


def stream(actor: Actor, **filters: Unpack[Filters]) -> Iterator[Event]:
    """All that match, newest first, read in short transactions of their own."""
    before = None
    while True:
        with unit_of_work(writes=False):
            events, _ = search(actor, limit=CHUNK, before=before, count=False, **filters)
        yield from events
        if len(events) < CHUNK:
            return
        before = events[-1].id


def _may_know(actor: Actor) -> sa.ColumnElement[bool]:
    """What happened in a private project is for those who know of it."""
    if actor.is_admin:
        return sa.true()
    return sa.or_(Event.project.is_(None), Event.project.not_in(projects.hidden_from(actor)))


def _conditions(filters: Filters) -> list[sa.ColumnElement[bool]]:
    tests: dict[str, Callable[[Any], sa.ColumnElement[bool]]] = {
        "type": Event.type.__eq__,
        "project": Event.project.__eq__,
        "feature": Event.feature_name.__eq__,
        "account": Event.created_by_user_id.__eq__,
        "from_": Event.created_at.__ge__,
        "to": Event.created_at.__lt__,
        "batch": Event.batch_id.__eq__,
        "text": _mentions,
    }
    return [tests[key](value) for key, value in filters.items()]


def _mentions(text: str) -> sa.ColumnElement[bool]:
    """Whether the words stand in who, where or why; what changed is not searched."""
    columns = (Event.created_by, Event.project, Event.feature_name, Event.reason)
    return contains(text, *columns)
