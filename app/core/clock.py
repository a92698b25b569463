"""The time that everything goes by."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

_moved_to: ContextVar[datetime | None] = ContextVar("moved_to", default=None)


def utcnow() -> datetime:
    """Now, in the precision that the API shows: what is compared is what was read."""
    now = _moved_to.get() or datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def in_text(at: datetime) -> str:
    """``2026-11-21T09:30:00.000Z``, as times leave Flagstaff."""
    return f"{at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def from_text(text: str) -> datetime:
    """The time that ``in_text`` wrote."""
    return datetime.fromisoformat(text).astimezone(UTC)


@contextmanager
def at(moment: datetime) -> Iterator[None]:
    """Let it be ``moment`` in the block, as when a history is written afterwards."""
    token = _moved_to.set(moment)
    try:
        yield
    finally:
        _moved_to.reset(token)
