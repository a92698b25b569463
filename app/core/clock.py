"""The clock, and times as text."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

_moved_to: ContextVar[datetime | None] = ContextVar("moved_to", default=None)


def utcnow() -> datetime:
    """Current time, cut to the API's precision so that compared values are equal."""
    now = _moved_to.get() or datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def in_text(at: datetime) -> str:
    """Format a time for clients: ``2026-11-21T09:30:00.000Z``."""
    return f"{at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def from_text(text: str) -> datetime:
    """Parse a time that ``in_text`` formatted."""
    return datetime.fromisoformat(text).astimezone(UTC)


@contextmanager
def at(moment: datetime) -> Iterator[None]:
    """Set the clock to ``moment`` for the block, to write a history afterwards."""
    token = _moved_to.set(moment)
    try:
        yield
    finally:
        _moved_to.reset(token)
