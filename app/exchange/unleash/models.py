from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, LargeBinary, String, Text
from sqlalchemy.orm import Mapped, deferred, mapped_column

from app.core.clock import utcnow
from app.core.db import NEVER_REUSE_IDS, Model, at_most

MAX_SOURCE = 500
SILENCE = timedelta(minutes=3)
"""Without a heartbeat for so long, the process that worked on it has ended."""
RETENTION = timedelta(days=7)
"""How long a plan that no one applied is kept."""
UNDOABLE = timedelta(days=7)


class ImportState(StrEnum):
    READING = "reading"
    PLANNED = "planned"
    APPLYING = "applying"
    APPLIED = "applied"
    FAILED = "failed"
    UNDONE = "undone"


class Import(Model):
    """An import from another server: content, decisions and result.

    ``origin``: the server, or that it was a file. ``content``: what was read; deleted when it
    is applied. ``written``: each thing before and after; see ``imports``. ``shown``: the cached
    plan.
    """

    __tablename__ = "imports"

    id: Mapped[int] = mapped_column(primary_key=True)
    source: Mapped[str] = mapped_column(String(MAX_SOURCE))
    origin: Mapped[str] = mapped_column(String(MAX_SOURCE))
    state: Mapped[ImportState]
    created_at: Mapped[datetime] = mapped_column(default=utcnow)
    created_by: Mapped[str] = mapped_column(String(255))
    created_by_id: Mapped[int | None]
    beat_at: Mapped[datetime] = mapped_column(default=utcnow)
    progress: Mapped[dict[str, Any] | None]
    content: Mapped[bytes | None] = deferred(mapped_column(LargeBinary))
    decisions: Mapped[dict[str, Any]] = mapped_column(JSON(none_as_null=True))
    shown: Mapped[bytes | None] = deferred(mapped_column(LargeBinary))
    batch_id: Mapped[str | None] = mapped_column(String(36))
    finished_at: Mapped[datetime | None]
    failure: Mapped[str | None] = mapped_column(Text)
    report: Mapped[bytes | None] = deferred(mapped_column(LargeBinary))
    written: Mapped[bytes | None] = deferred(mapped_column(LargeBinary))

    __table_args__ = (
        at_most("source", MAX_SOURCE),
        at_most("origin", MAX_SOURCE),
        NEVER_REUSE_IDS,
    )

    @property
    def chosen(self) -> Any:
        """Which features come, see ``choosing.Chosen``; None for everything."""
        return self.decisions.get("chosen") or None

    @property
    def is_busy(self) -> bool:
        return self.state in {ImportState.READING, ImportState.APPLYING}

    @property
    def was_interrupted(self) -> bool:
        """Whether the process that worked on it has ended before it was done."""
        return self.is_busy and self.beat_at < utcnow() - SILENCE

    @property
    def phase(self) -> ImportState:
        """The state. What was interrupted has failed, or is planned again."""
        if not self.was_interrupted:
            return self.state
        reading = self.state is ImportState.READING
        return ImportState.FAILED if reading else ImportState.PLANNED

    @property
    def problem(self) -> str | None:
        """Why reading or applying it failed, if it did."""
        if self.was_interrupted:
            return "The server was stopped before this was done. Nothing was saved."
        return self.failure

    @property
    def can_be_undone(self) -> bool:
        return (
            self.state is ImportState.APPLIED
            and self.finished_at is not None
            and self.finished_at > utcnow() - UNDOABLE
        )
