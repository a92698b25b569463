"""Backups: the last ones, and the reminder to create them."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.reminders import HomeContext, Item, Tone
from app.core.words import counted

BACKUPS_EVERY = timedelta(days=7)


def backup(actor: Actor, _: HomeContext) -> Iterator[Item]:
    if not actor.is_admin:
        return
    first = _time_of(Event.id.asc())
    last = _time_of(Event.id.desc(), Event.type == EventType.BACKUP_CREATED)
    since = last or first
    if since is None or since > utcnow() - BACKUPS_EVERY:
        return
    days = counted((utcnow() - since).days, "day")
    says = f"No backup for {days}" if last else "No backup yet"
    yield Item(Tone.BAD, says, "Create one with the command flagstaff backup")


def backups(limit: int) -> list[Event]:
    """The last backups that were created or restored, newest first."""
    types = (EventType.BACKUP_CREATED, EventType.BACKUP_RESTORED)
    query = sa.select(Event).where(Event.type.in_(types)).order_by(Event.id.desc()).limit(limit)
    return list(db.session.scalars(query))


def _time_of(order: sa.ColumnElement[Any], *conditions: sa.ColumnElement[bool]) -> datetime | None:
    return db.session.scalar(
        sa.select(Event.created_at).where(*conditions).order_by(order).limit(1)
    )
