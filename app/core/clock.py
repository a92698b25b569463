"""The clock, times as text, and time zones."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

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


@cache
def zones() -> tuple[str, ...]:
    """Names of the time zones of the IANA database that people choose from, sorted."""
    parts = ("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe")
    known = {*parts, "Indian", "Pacific"}
    found = (name for name in available_timezones() if name.partition("/")[0] in known)
    return ("UTC", *sorted(found))


def zone(name: str | None) -> tzinfo:
    """The time zone with this name; UTC for None, and for one that the database no longer has."""
    try:
        return ZoneInfo(name) if name and name != "UTC" else UTC
    except ZoneInfoNotFoundError:
        return UTC


def in_zone(wall: datetime, zone: tzinfo) -> datetime:
    """The moment when clocks in a time zone show this; the first, if they show it twice.

    Raises:
        ValueError: when they skip it.

    """
    at = wall.replace(tzinfo=zone).astimezone(UTC)
    if at.astimezone(zone).replace(tzinfo=None) != wall:
        raise ValueError(wall)
    return at


@contextmanager
def at(moment: datetime) -> Iterator[None]:
    """Set the clock to ``moment`` for the block, to write a history afterwards."""
    token = _moved_to.set(moment)
    try:
        yield
    finally:
        _moved_to.reset(token)
