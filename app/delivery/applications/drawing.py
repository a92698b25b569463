"""A bar chart of counts over time: yes above the zero line, no below it, on one scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from app.catalogue.strategies.words import GAP, HUES, WHOLE, Share
from app.delivery.applications.counts import Moment

STEP, BAR, HEIGHT, LABELS, TOGETHER = 16, 13, 160, 4, 6
"""Pixels from bar to bar, of a bar, and of the chart's height. Number of labels. Bars per row of
the table.
"""
DAY = timedelta(days=1)


class Bar(NamedTuple):
    x: int
    yes: float
    no: float


class TableRow(NamedTuple):
    label: str
    yes: int
    no: int


@dataclass(frozen=True, slots=True)
class Chart:
    """``base``: y of the zero line. ``table``: sums of TOGETHER bars each, latest first."""

    bars: list[Bar]
    width: int
    base: float
    most_yes: int
    most_no: int
    labels: list[str]
    table: list[TableRow]
    unit: str
    together: int = TOGETHER
    height: int = HEIGHT


def draw(moments: Sequence[Moment]) -> Chart:
    """Draw moments that are evenly spaced, either by hours or by days."""
    days = moments[1].start - moments[0].start >= DAY
    most_yes, most_no = max(moment.yes for moment in moments), max(moment.no for moment in moments)
    scale = (HEIGHT - 2) / max(most_yes + most_no, 1)
    bars = [
        Bar(STEP * place, round(moment.yes * scale, 1), round(moment.no * scale, 1))
        for place, moment in enumerate(moments)
        if moment.yes or moment.no
    ]
    groups = [moments[at : at + TOGETHER] for at in range(0, len(moments), TOGETHER)]
    return Chart(
        bars,
        STEP * len(moments) - (STEP - BAR),
        round(most_yes * scale + 0.5, 1),
        most_yes,
        most_no,
        [_label(moments[len(moments) * at // LABELS].start, days=days) for at in range(LABELS)],
        [
            TableRow(
                _label(group[0].start, days=days),
                sum(moment.yes for moment in group),
                sum(moment.no for moment in group),
            )
            for group in reversed(groups)
        ],
        "day" if days else "hour",
    )


def shares(counts: dict[str, int]) -> list[Share]:
    """Return the share of each variant, as parts of one bar in the order of ``counts``."""
    total, parts, start = sum(counts.values()), [], 0
    for place, (name, times) in enumerate(counts.items()):
        end = start + WHOLE * times // total
        gap = GAP if end < WHOLE else 0
        percent = f"{100 * times / total:.1f}".removesuffix(".0") + "%"
        parts.append(Share(name, percent, start, max(end - start - gap, 0), place % HUES + 1))
        start = end
    return parts


def _label(start: datetime, *, days: bool) -> str:
    day = f"{start.day} {start:%b}"
    return day if days else f"{day} {start:%H:%M}"
