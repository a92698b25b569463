"""What is known of the backups of the instance."""

import sqlalchemy as sa

from app.core.db import db
from app.core.events.event_types import EventType
from app.core.events.models import Event


def backups(limit: int) -> list[Event]:
    """The last backups that were created or restored, newest first."""
    types = (EventType.BACKUP_CREATED, EventType.BACKUP_RESTORED)
    query = sa.select(Event).where(Event.type.in_(types)).order_by(Event.id.desc()).limit(limit)
    return list(db.session.scalars(query))
