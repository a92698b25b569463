"""How fast and how large Flagstaff is meant to be."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.bench.load import Refused
from tests.bench.measure import Figure

POSTGRESQL_PACE = 0.6
"""Of the speed on SQLite: there every statement is a round trip to another process."""


RATIOS = {
    "sqlite": {
        "GET user": 4.0,
        "validate 3": 4.0,
        "tags 3 (+1 -1)": 2.0,
        "create feature": 2.0,
        "features, unchanged": 14.0,
        "features, gzip": 9.0,
        "metrics": 1.0,
        "tags 3,000 x 5, add": 6.0,
        "tags 3,000 x 5, add again": 15.0,
        "tags 3,000 x 5, remove": 5.0,
        "validate 3,000": 2.0,
    },
    "postgresql": {
        "GET user": 2.5,
        "validate 3": 2.0,
        "tags 3 (+1 -1)": 1.3,
        "create feature": 1.8,
        "features, unchanged": 14.0,
        "features, gzip": 9.0,
        "metrics": 1.0,
        "tags 3,000 x 5, add": 3.0,
        "tags 3,000 x 5, add again": 3.0,
        "tags 3,000 x 5, remove": 3.0,
        "validate 3,000": 1.5,
    },
}
"""How many times as fast as another server each is meant to be, by database."""


@dataclass(frozen=True, slots=True)
class Goal:
    words: str
    is_met: Callable[[Figure], bool]

    def verdict(self, figure: Figure | Refused) -> str:
        is_met = isinstance(figure, Figure) and self.is_met(figure)
        return said(self.words, is_met=is_met)


def of_requests(pace: float) -> dict[str, Goal]:
    """By the name of the request; ``pace``: 1, or less where all may be that much slower."""
    slow = _at_most(1_500 / pace)
    user = _at_least(2_200 * pace, share=0.45 * pace)
    return {
        "GET user": user,
        "validate 3": user,
        "tags 3 (+1 -1)": _at_least(1_100 * pace),
        "create feature": _at_least(600 * pace),
        "tags 3,000 x 5, add": _at_most(90 / pace),
        "tags 3,000 x 5, add again": _at_most(60 / pace),
        "tags 3,000 x 5, remove": _at_most(40 / pace),
        "tags 5,000 x 20, add": slow,
        "tags 5,000 x 20, add again": slow,
        "tags 5,000 x 20, remove": slow,
    }


def said(words: str, *, is_met: bool) -> str:
    return f"{words}: {'met' if is_met else 'missed'}"


def _at_least(rate: float, *, share: float | None = None) -> Goal:
    words = f"at least {rate:,.0f}/s"
    if share is None:
        return Goal(words, lambda figure: figure.rate >= rate)
    words += f" or {share * 100:.0f} % of bare"
    return Goal(words, lambda figure: figure.rate >= rate or figure.share >= share)


def _at_most(ms: float) -> Goal:
    return Goal(f"at most {ms:,.0f} ms", lambda figure: figure.p50 <= ms)
