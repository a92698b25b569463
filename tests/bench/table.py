"""The table that is printed in the end."""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from tests.bench.goals import Goal
from tests.bench.load import Refused
from tests.bench.measure import Figure, Figures


class Row(NamedTuple):
    """A line in words; a column that no line fills is not printed."""

    what: str
    measured: str
    p50: str = ""
    p99: str = ""
    statements: str = ""
    share: str = ""
    goal: str = ""


HEAD = Row("", "measured", "p50 ms", "p99 ms", "SQL", "of bare", "goal")
WORDS = (HEAD.what, HEAD.goal)
"""The columns that begin in line; the others are numbers and end so."""


def rate(name: str, figure: Figure) -> Row:
    share = "" if math.isnan(figure.share) else _brief(figure.share * 100, "%")
    measured = f"{figure.rate:,.0f} /s"
    return Row(name, measured, f"{figure.p50:.1f}", f"{figure.p99:.1f}", share=share)


def time(name: str, figure: Figure) -> Row:
    """Of single requests: how many of bare Flask's would have been answered in that time."""
    share = "" if math.isnan(figure.share) else times(1 / figure.share)
    return Row(name, f"{figure.p50:,.1f} ms", share=share)


def times(factor: float) -> str:
    return _brief(factor, "x")


def rows(
    draw: Callable[[str, Figure], Row],
    found: Figures,
    counts: Mapping[str, int] | None = None,
    goals: Mapping[str, Goal] | None = None,
) -> Iterator[Row]:
    """One of each figure, with its SQL statements and its goal where they are known."""
    counts, goals = counts or {}, goals or {}
    for name, figure in found.items():
        row = _refusal(name, figure) if isinstance(figure, Refused) else draw(name, figure)
        goal = goals[name].verdict(figure) if name in goals else ""
        yield row._replace(statements=str(counts.get(name, "")), goal=goal)


def write(lines: Iterable[Row]) -> None:
    columns = [column for column in zip(HEAD, *lines, strict=True) if any(column[1:])]
    for line in zip(*map(_aligned, columns), strict=True):
        sys.stdout.write("  ".join(line).rstrip() + "\n")


def _aligned(column: tuple[str, ...]) -> list[str]:
    width = max(map(len, column))
    return [word.ljust(width) if column[0] in WORDS else word.rjust(width) for word in column]


def _brief(number: float, unit: str) -> str:
    return f"{number:,.{1 if number < 10 else 0}f} {unit}"


def _refusal(name: str, refused: Refused) -> Row:
    sys.stderr.write(f"{name}: {refused}\n")
    return Row(name, f"refused {refused.status}")
