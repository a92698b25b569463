"""Sentences of the pages about usage."""

from collections.abc import Iterable, Sequence

from app.catalogue.strategies.queries import EnvironmentState
from app.catalogue.usage.moments import Moment
from app.catalogue.usage.words import share
from app.core.words import counted, spoken
from app.delivery.applications.counts import Period

PERIODS = {Period.DAY: "24 hours", Period.TWO_DAYS: "48 hours", Period.QUARTER: "90 days"}


def verdict(yes: int, checks: int, environment: str, period: Period) -> tuple[str, str]:
    """Return how often applications got the feature, and the rest of the sentence."""
    last = f"in {environment} in the last {PERIODS[period]}"
    if not checks:
        return "No application asked for it", f"{last}."
    return f"{share(yes, checks)} of checks said yes", f"{last}: {yes:,} of {checks:,}."


def chart(moments: Sequence[Moment], unit: str) -> str:
    """Return the chart as a sentence, for people who can’t see it."""
    asked = [one for one in moments if one.yes or one.no]
    if not asked:
        return f"No checks in {counted(len(moments), unit)}."
    yes, no = sum(one.yes for one in asked), sum(one.no for one in asked)
    silent = len(moments) - len(asked)
    rest = f" No checks in {counted(silent, unit)}." if silent else ""
    return f"{yes:,} yes and {no:,} no in {counted(len(moments), unit)}.{rest}"


def plan(states: Iterable[EnvironmentState], environment: str) -> dict[str, int] | None:
    """Return the weights of a feature's variants; None if its strategies have different ones."""
    plans = [
        {variant["name"]: variant["weight"] for variant in strategy.variants or state.variants}
        for state in states
        if state.name == environment
        for strategy in state.strategies
        if not strategy.disabled
    ]
    first = plans[0] if plans else {}
    return first if all(one == first for one in plans) else None


def problems(unknown: int, archived: int, unreadable: int) -> str:
    """Return a sentence about features that an application asks for in vain."""
    found = []
    if unknown:
        found.append(f"{unknown:,} {'doesn’t' if unknown == 1 else 'don’t'} exist")
    if archived:
        found.append(f"{archived:,} {'is' if archived == 1 else 'are'} archived")
    if unreadable:
        found.append(f"{unreadable:,} can’t be read with its token")
    return f"{spoken(found).capitalize()}." if found else ""
