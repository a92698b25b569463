"""Reading the event log; ``app/events`` writes it."""

from datetime import datetime
from typing import TypedDict, Unpack

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.db import db
from app.events.models import Event, EventType
from app.projects import queries as projects


class Filters(TypedDict, total=False):
    """What the log can be narrowed by; ``from_`` is included, ``to`` is not."""

    type: EventType
    project: str
    feature: str
    account: int
    from_: datetime
    to: datetime
    batch: str


def search(
    actor: Actor, *, limit: int, before: int | None = None, **filters: Unpack[Filters]
) -> tuple[list[Event], int]:
    """Events newest first, those with an id below ``before``, and the number of all that match."""
    conditions = [_may_know(actor), *_conditions(filters)]
    total = db.session.scalar(sa.select(sa.func.count(Event.id)).where(*conditions))
    query = sa.select(Event).where(*conditions).order_by(Event.id.desc()).limit(limit)
    if before is not None:
        query = query.where(Event.id < before)
    return list(db.session.scalars(query)), total or 0


def _may_know(actor: Actor) -> sa.ColumnElement[bool]:
    """What happened in a private project is for those who know of it."""
    if actor.is_admin:
        return sa.true()
    return sa.or_(Event.project.is_(None), Event.project.not_in(projects.hidden_from(actor)))


def _conditions(filters: Filters) -> list[sa.ColumnElement[bool]]:
    tests = {
        "type": Event.type.__eq__,
        "project": Event.project.__eq__,
        "feature": Event.feature_name.__eq__,
        "account": Event.created_by_user_id.__eq__,
        "from_": Event.created_at.__ge__,
        "to": Event.created_at.__lt__,
        "batch": Event.batch_id.__eq__,
    }
    return [tests[key](value) for key, value in filters.items()]
