"""A bar chart of counts over time: yes above the zero line, no below it, on one scale."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import accumulate
from typing import NamedTuple

from app.catalogue.strategies.words import GAP, HUES, WHOLE, Share
from app.catalogue.usage.moments import Moment, height, index_at
from app.catalogue.usage.words import on_for

STEP, BAR, HEIGHT, LEAST, LABELS = 16, 13, 160, 3, 4
"""Pixels from bar to bar, of a bar, of the chart's height, and of the lowest bar. Number of labels.
"""
DAY = timedelta(days=1)


class Column(NamedTuple):
    """An hour or a day, and its bars. ``middle``: in percent of the width.

    ``changes``: in words.
    """

    start: datetime
    yes: int
    no: int
    label: str
    says: str
    changes: list[str]
    x: int
    middle: float
    top: float
    above: float
    below: float


@dataclass(frozen=True, slots=True)
class Chart:
    """``base``: y of the zero line. ``labels``: of columns that are evenly spaced."""

    columns: list[Column]
    width: int
    base: float
    most_yes: int
    most_no: int
    labels: list[str]
    unit: str
    height: int = HEIGHT

    @property
    def changed(self) -> list[Column]:
        return [column for column in self.columns if column.changes]


def draw(
    moments: Sequence[Moment], changes: Iterable[tuple[datetime, str]] = (), zone: tzinfo = UTC
) -> Chart:
    """Draw moments that are evenly spaced, either by hours or by days.

    ``zone``: the time zone of the labels of hours. Days are those of UTC.
    """
    days = moments[1].start - moments[0].start >= DAY
    most_yes, most_no = max(moment.yes for moment in moments), max(moment.no for moment in moments)
    scale = (HEIGHT - 2 - 2 * LEAST) / max(most_yes + most_no, 1)
    base = round(height(most_yes * scale, LEAST) + 0.5, 1)
    marks: defaultdict[int, list[str]] = defaultdict(list)
    for at, says in changes:
        marks[index_at(moments, at)].append(says)
    return Chart(
        [
            Column(
                *moment,
                _label(moment.start, None if days else zone),
                on_for(moment.yes, moment.no),
                marks[place],
                STEP * place,
                round(100 * (STEP * place + BAR / 2) / (STEP * len(moments)), 2),
                round(base - height(moment.yes * scale, LEAST), 1),
                height(moment.yes * scale, LEAST),
                height(moment.no * scale, LEAST),
            )
            for place, moment in enumerate(moments)
        ],
        STEP * len(moments),
        base,
        most_yes,
        most_no,
        [
            _label(moments[len(moments) * at // LABELS].start, None if days else zone)
            for at in range(LABELS)
        ],
        "day" if days else "hour",
    )


def shares(counts: dict[str, int]) -> list[Share]:
    """Return the share of each variant, as parts of one bar in the order of ``counts``."""
    total, parts, start = sum(counts.values()), [], 0
    so_far = accumulate(counts.values())
    for place, (name, times) in enumerate(counts.items()):
        end = WHOLE * next(so_far) // total
        gap = GAP if end < WHOLE else 0
        percent = f"{100 * times / total:.1f}".removesuffix(".0") + "%"
        parts.append(Share(name, percent, start, max(end - start - gap, 0), place % HUES + 1))
        start = end
    return parts


def _label(start: datetime, zone: tzinfo | None) -> str:
    """The day, or in a time zone the hour."""
    there = start.astimezone(zone) if zone else start
    return f"{there.day} {there:%b %H:%M}" if zone else f"{there.day} {there:%b}"
