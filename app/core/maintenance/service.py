"""Maintenance mode: while it is on, nothing can be changed by API, page or command."""

from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.db import db, insert_if_absent, once
from app.core.errors import InMaintenance
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.maintenance.models import Maintenance
from app.core.statements import Prepared


class InForce(NamedTuple):
    """Maintenance mode that is on. ``by``: the name of who switched it on."""

    since: datetime
    by: str


_in_force = Prepared(sa.select(Maintenance.since, Maintenance.by), InForce)


def current() -> InForce | None:
    """Maintenance mode, if it is on."""
    found: InForce | None = once(Maintenance, lambda: next(iter(_in_force.run()), None))
    return found


def refuse_changes() -> None:
    """Refuse to change anything while maintenance mode is on.

    A transaction that was let through before may end after it was switched on.
    """
    if (found := current()) is not None:
        raise InMaintenance(found.since)


def switch(actor: Actor, *, on: bool) -> bool:
    """Switch maintenance mode on or off. Return whether that changed anything."""
    if on:
        began = insert_if_absent(Maintenance).values(by=actor.name or actor.username)
        done = db.session.execute(began.returning(Maintenance.id))
    else:
        done = db.session.execute(sa.delete(Maintenance).returning(Maintenance.id))
    if done.first() is None:
        return False
    kind = EventType.MAINTENANCE_MODE_ENABLED if on else EventType.MAINTENANCE_MODE_DISABLED
    events.record(actor, kind)
    return True
