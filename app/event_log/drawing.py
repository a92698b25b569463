"""The last 26 weeks as a drawing: a column a week, a square a day, bigger on busier days."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

WEEKS = 26
STEP, LEFT, TOP = 15, 36, 25
SIZES = (2.0, 4.0, 7.0, 9.5, 12.0)


@dataclass(frozen=True, slots=True)
class Day:
    """A square with its middle and side."""

    x: float
    y: float
    size: float


@dataclass(frozen=True, slots=True)
class Drawing:
    """``weeks``: (Monday, number of events) of each, for the table that says the same."""

    days: list[Day]
    months: list[tuple[int, str]]
    weeks: list[tuple[date, int]]
    total: int

    @property
    def busiest(self) -> tuple[date, int]:
        return max(self.weeks, key=lambda week: week[1])


def first_day(today: date) -> date:
    """The Monday that the drawing begins with."""
    return today - timedelta(days=today.weekday(), weeks=WEEKS - 1)


def draw(counts: Mapping[str, int], today: date) -> Drawing:
    """``counts`` are events by ISO date."""
    start = first_day(today)
    numbers = sorted(counts.values())
    days, months, weeks = [], [], []
    for column in range(WEEKS):
        monday = start + timedelta(weeks=column)
        week = [monday + timedelta(days=row) for row in range(7)]
        weeks.append((monday, sum(counts.get(day.isoformat(), 0) for day in week)))
        if any(day.day == 1 for day in week):
            months.append((LEFT + column * STEP, f"{week[-1]:%b}"))
        days += [
            Day(
                LEFT + column * STEP,
                TOP + row * STEP,
                _size(counts.get(day.isoformat(), 0), numbers),
            )
            for row, day in enumerate(week)
            if day <= today
        ]
    return Drawing(days, months, weeks, sum(number for _, number in weeks))


def _size(count: int, numbers: list[int]) -> float:
    """By the quarter of all days with events that the day is in."""
    if not count:
        return SIZES[0]
    rank = sum(number <= count for number in numbers) / len(numbers)
    return SIZES[min(4, 1 + int(rank * 4 - 1e-9))]
