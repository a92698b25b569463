"""Activity of the last 26 weeks, as a drawing (SVG) and as a table.

The drawing has a column for each week and a square for each day, bigger on busier days.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute

from app.core.clock import utcnow
from app.core.db import db
from app.core.words import counted

WEEKS = 26
STEP, LEFT, TOP = 15, 36, 25
SIZES = (2.0, 4.0, 7.0, 9.5, 12.0)


class Day(NamedTuple):
    """A square with its top left corner and side."""

    left: float
    top: float
    size: float

    @property
    def box(self) -> dict[str, float]:
        """As attributes of SVG."""
        return {
            "x": self.left,
            "y": self.top,
            "width": self.size,
            "height": self.size,
            "rx": self.size / 4,
        }

    @property
    def is_empty(self) -> bool:
        return self.size == SIZES[0]


class Week(NamedTuple):
    """A row of the table: the number of each kind in the week that starts on ``monday``."""

    monday: date
    numbers: list[int]


@dataclass(frozen=True, slots=True)
class Activity:
    """``kinds``: (name in the singular, total). ``months``: (x, name) of the labels."""

    kinds: list[tuple[str, int]]
    days: list[Day]
    months: list[tuple[int, str]]
    weeks: list[Week]
    weekdays = ((29, "Mon"), (59, "Wed"), (89, "Fri"))

    @property
    def is_empty(self) -> bool:
        return not any(total for _, total in self.kinds)

    @property
    def totals(self) -> str:
        """``12 sign-ins, 3 changes``."""
        return ", ".join(counted(total, kind) for kind, total in self.kinds)

    def title(self, of: str = "") -> str:
        """Text alternative of the drawing. ``of``: its subject, such as `` by Ada``."""
        busiest = max(self.weeks, key=lambda week: sum(week.numbers)).monday
        kinds = " and ".join(f"{kind}s" for kind, _ in self.kinds).capitalize()
        return (
            f"{kinds} a day{of} over {WEEKS} weeks. A bigger square is a busier day. "
            f"The busiest week began on {busiest.day} {busiest:%b}."
        )


def days(
    at: InstrumentedAttribute[datetime], *conditions: sa.ColumnElement[bool]
) -> dict[str, int]:
    """Number of rows for each drawn day, by ISO date. Days without rows are left out.

    Where all rows count, an index on ``at`` counts them: six times as fast as grouping.
    """
    today = utcnow().date()
    first = datetime.combine(_first_day(today), time(), UTC)
    if not conditions:
        starts = [first + timedelta(days=n) for n in range((today - first.date()).days + 2)]
        bounds = sa.values(sa.column("start", at.type), sa.column("next", at.type))
        day = bounds.data(list(pairwise(starts))).cte("days")
        number = sa.select(sa.func.count()).where(at >= day.c.start, at < day.c.next)
        query = sa.select(sa.func.date(day.c.start), number.scalar_subquery())
    else:
        date = sa.func.date(at)
        query = sa.select(date, sa.func.count()).where(at >= first, *conditions).group_by(date)
    return {str(day): number for day, number in db.session.execute(query) if number}


def draw(counts: Mapping[str, Mapping[str, int]]) -> Activity:
    """Lay out the drawing. ``counts``: result of ``days`` by kind (in the singular)."""
    today = utcnow().date()
    start = _first_day(today)
    by_day = Counter[str]()
    for numbers in counts.values():
        by_day.update(numbers)
    busy = sorted(by_day.values())
    days, months, weeks = [], [], []
    for column in range(WEEKS):
        monday = start + timedelta(weeks=column)
        week = [monday + timedelta(days=row) for row in range(7)]
        names = [day.isoformat() for day in week]
        weeks.append(
            Week(monday, [sum(kind.get(name, 0) for name in names) for kind in counts.values()])
        )
        x = LEFT + column * STEP
        if any(day.day == 1 for day in week):
            months.append((x - 6, f"{week[-1]:%b}"))
        days += [
            Day(x - size / 2, TOP + row * STEP - size / 2, size)
            for row, day in enumerate(week)
            if day <= today
            for size in [_size(by_day[day.isoformat()], busy)]
        ]
    totals = [sum(numbers) for numbers in zip(*(week.numbers for week in weeks), strict=True)]
    return Activity(list(zip(counts, totals, strict=True)), days, months, weeks)


def _first_day(today: date) -> date:
    return today - timedelta(days=today.weekday(), weeks=WEEKS - 1)


def _size(count: int, busy: list[int]) -> float:
    """Size of a day's square, by the quartile of its count among all busy days."""
    if not count:
        return SIZES[0]
    rank = sum(number <= count for number in busy) / len(busy)
    # Minus a little: a rank on the boundary belongs to the lower quartile.
    return SIZES[min(4, 1 + int(rank * 4 - 1e-9))]
