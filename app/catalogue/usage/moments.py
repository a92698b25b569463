"""How often a feature was on and off over time, and the last 48 hours of it as a small picture."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from app.catalogue.usage import queries
from app.catalogue.usage.models import Span
from app.catalogue.usage.service import RETENTION
from app.catalogue.usage.words import on_for
from app.core.clock import utcnow

HOURS_KEPT = int(RETENTION[Span.HOUR] / timedelta(hours=1))
STEP, BAR, BASE, LEAST = 4, 3, 36, 1
"""Pixels of a spark line: from bar to bar, of a bar, of the highest one, and of the lowest part."""


class Moment(NamedTuple):
    """An hour or a day, and how often something was on and off in it."""

    start: datetime
    yes: int = 0
    no: int = 0


class Mark(NamedTuple):
    """A change in a spark line, in words."""

    x: float
    at: datetime
    says: str


@dataclass(frozen=True, slots=True)
class Spark:
    """Bars as high as all checks; ``on`` and ``off`` are their parts, as paths of SVG."""

    on: str
    off: str
    says: str
    marks: list[Mark]
    width: int = STEP * HOURS_KEPT
    base: int = BASE


def starts(hours: int) -> tuple[Span, list[datetime]]:
    """Return the starts of the last ``hours`` hours, or of days if that is over HOURS_KEPT."""
    now = utcnow().replace(minute=0, second=0, microsecond=0)
    if hours <= HOURS_KEPT:
        return Span.HOUR, [now - timedelta(hours=back) for back in reversed(range(hours))]
    today, days = now.replace(hour=0), -(-hours // 24)
    return Span.DAY, [today - timedelta(days=back) for back in reversed(range(days))]


def summed(starts: Iterable[datetime], counts: Iterable[tuple[datetime, int, int]]) -> list[Moment]:
    """Add up counts by time, with zeros for times without counts."""
    yes: Counter[datetime] = Counter()
    no: Counter[datetime] = Counter()
    for start, yes_count, no_count in counts:
        yes[start] += yes_count
        no[start] += no_count
    return [Moment(start, yes[start], no[start]) for start in starts]


def index_at(moments: Sequence[Moment], at: datetime) -> int:
    """Return the index of the moment that a time is in."""
    return bisect_right(moments, at, key=lambda moment: moment.start) - 1


def last_hours(feature_id: int) -> dict[str, list[Moment]]:
    """Return the last 48 hours by environment, where the feature was checked."""
    span, times = starts(HOURS_KEPT)
    counts: defaultdict[str, list[tuple[datetime, int, int]]] = defaultdict(list)
    for total in queries.totals(feature_id, span, times[0]):
        counts[total.environment].append((total.start, total.yes, total.no))
    return {environment: summed(times, found) for environment, found in counts.items()}


def spark(moments: Sequence[Moment], changes: Iterable[tuple[datetime, str]]) -> Spark:
    scale = BASE / max(*(moment.yes + moment.no for moment in moments), 1)
    on, off = "", ""
    for place, moment in enumerate(moments):
        x, above = STEP * place, height(moment.yes * scale, LEAST)
        on += f"M{x} {BASE}v-{above}h{BAR}v{above}z"
        rest = height(moment.no * scale, LEAST)
        off += f"M{x} {BASE - above}v-{rest}h{BAR}v{rest}z"
    return Spark(
        on,
        off,
        on_for(sum(moment.yes for moment in moments), sum(moment.no for moment in moments)),
        [Mark(STEP * index_at(moments, at) + BAR / 2, at, says) for at, says in changes],
    )


def height(of: float, least: float) -> float:
    """Return the height of a bar, or of a part of one: what isn't zero can be seen."""
    return round(max(of, least), 1) if of else 0
