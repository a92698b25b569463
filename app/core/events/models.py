from datetime import datetime
from typing import Any

from sqlalchemy import Index, LargeBinary, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.clock import utcnow
from app.core.columns import enum_of
from app.core.db import NEVER_REUSE_IDS, Model
from app.core.events.event_types import EventType


class Event(Model):
    """An event of the log. It has no foreign keys, since it outlives the rows it is about."""

    __tablename__ = "events"

    id: Mapped[int] = mapped_column(primary_key=True)
    # Without a constraint: a new type of event must not need a new table.
    type: Mapped[EventType] = mapped_column(enum_of(EventType, constrained=False))
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    created_by: Mapped[str] = mapped_column(String(255))
    created_by_user_id: Mapped[int | None]
    token_id: Mapped[int | None]
    ip: Mapped[str | None] = mapped_column(String(45))
    project: Mapped[str | None] = mapped_column(String(100))
    feature_name: Mapped[str | None] = mapped_column(String(100))
    data: Mapped[dict[str, Any] | None]
    pre_data: Mapped[dict[str, Any] | None]
    reason: Mapped[str | None] = mapped_column(Text)
    batch_id: Mapped[str | None] = mapped_column(String(36))
    digest: Mapped[bytes] = mapped_column(LargeBinary(32), server_default=text("''"))
    """Covers this event and the digest before; see ``app/core/events/chain.py``."""

    __table_args__ = (
        Index(None, "type", "id"),
        Index(None, "project", "id"),
        Index(None, "feature_name", "id"),
        Index(None, "created_by_user_id", "id"),
        Index(None, "batch_id", "id"),
        Index(None, "created_at"),
        NEVER_REUSE_IDS,
    )


class EventHead(Model):
    """The only row: where the log ends, and up to where its beginning was pruned.

    The database refuses to delete events newer than ``pruned_to``.
    """

    __tablename__ = "event_heads"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    last_id: Mapped[int]
    digest: Mapped[bytes] = mapped_column(LargeBinary(32))
    pruned_to: Mapped[int]
    pruned_digest: Mapped[bytes] = mapped_column(LargeBinary(32))
