from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import JSON, ForeignKey, Index, LargeBinary, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.clock import utcnow
from app.core.db import NEVER_REUSE_IDS, Model, at_most
from app.core.targets import shown

ALL = "*"
"""All types of event, projects or environments, including future ones."""
MAX_URL = 500
MAX_CHANNEL = 50
MAX_ERROR = 255


class Webhook(Model):
    """An address that events are sent to, or a channel that gets messages about them.

    ``channel``: the name that the operator gave it; ``url`` is empty then.
    ``position``: id of the last event that was handled. ``missed``: how many events were pruned
    from the log before that. ``lease``: held by the process that sends now, until ``lease_until``.
    """

    __tablename__ = "webhooks"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(100), unique=True)
    url: Mapped[str] = mapped_column(String(MAX_URL))
    channel: Mapped[str | None] = mapped_column(String(MAX_CHANNEL))
    event_types: Mapped[list[str]] = mapped_column(JSON(none_as_null=True))
    projects: Mapped[list[str]] = mapped_column(JSON(none_as_null=True))
    environments: Mapped[list[str]] = mapped_column(JSON(none_as_null=True), nullable=True)
    paused: Mapped[bool] = mapped_column(default=False)
    salt: Mapped[bytes] = mapped_column(LargeBinary(32))
    hint: Mapped[str] = mapped_column(String(4))
    """How the secret ends."""
    old_salt: Mapped[bytes | None] = mapped_column(LargeBinary(32))
    old_until: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    position: Mapped[int]
    missed: Mapped[int] = mapped_column(default=0)
    rest_until: Mapped[datetime | None]
    lease: Mapped[str | None] = mapped_column(String(32))
    lease_until: Mapped[datetime | None]

    __table_args__ = (
        at_most("name", 100),
        at_most("url", MAX_URL),
        at_most("channel", MAX_CHANNEL),
        NEVER_REUSE_IDS,
    )

    def snapshot(self) -> dict[str, Any]:
        """The webhook as the event log records it: without the path, which can contain a secret."""
        return {
            "id": self.id,
            "name": self.name,
            "url": shown(self.url) if self.url else None,
            "channel": self.channel,
            "eventTypes": self.event_types,
            "projects": self.projects,
            "environments": self.environments,
            "paused": self.paused,
        }

    @property
    def overlaps(self) -> bool:
        """Whether messages are signed with the old secret too."""
        return self.old_until is not None and self.old_until > utcnow()

    @property
    def target(self) -> str:
        """Where messages go: ``channel ops``, or the address without its path."""
        return f"channel {self.channel}" if self.channel else shown(self.url)


class DeliveryStatus(StrEnum):
    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


class Delivery(Model):
    """A message to a webhook, with its outcome.

    ``stream``: messages of one stream are sent in order; those without one wait for no other.
    ``event_type``: None for a test. ``answer``: the beginning of the receiver's response.
    """

    __tablename__ = "webhook_deliveries"

    id: Mapped[int] = mapped_column(primary_key=True)
    webhook_id: Mapped[int] = mapped_column(ForeignKey("webhooks.id"))
    message_id: Mapped[str] = mapped_column(String(60))
    event_id: Mapped[int | None]
    event_type: Mapped[str | None] = mapped_column(String(60))
    stream: Mapped[str | None] = mapped_column(String(100))
    body: Mapped[str] = mapped_column(Text, deferred=True)
    status: Mapped[DeliveryStatus] = mapped_column(default=DeliveryStatus.WAITING)
    attempts: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    next_at: Mapped[datetime | None] = mapped_column(default=utcnow)
    ended_at: Mapped[datetime | None]
    answer_status: Mapped[int | None]
    error: Mapped[str | None] = mapped_column(String(MAX_ERROR))
    answer: Mapped[str | None] = mapped_column(Text)

    __table_args__ = (
        Index(None, "webhook_id", "id"),
        Index(  # the few that wait
            "ix_webhook_deliveries_waiting",
            "webhook_id",
            "next_at",
            sqlite_where=sa.text("status = 'waiting'"),
            postgresql_where=sa.text("status = 'waiting'"),
        ),
        at_most("error", MAX_ERROR),
        NEVER_REUSE_IDS,
    )
