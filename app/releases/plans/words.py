"""Releases in words: where one is, and who has the feature at each step."""

from collections.abc import Sequence
from datetime import timedelta

from app.catalogue.constraints.words import plain
from app.catalogue.releases.models import Release, ReleaseState
from app.catalogue.strategies import types
from app.catalogue.strategies.models import Strategy
from app.catalogue.strategies.words import describe
from app.core.words import counted


def reached(strategies: Sequence[Strategy]) -> str:
    """Who has the feature: ``everyone``, ``25% of users``, ``everyone, in segment Staff``."""
    active = [each for each in strategies if not each.disabled]
    open_to_all = [each for each in active if not (each.constraints or each.segments)]
    shares = [
        types.ALL if each.name == types.EVERYONE else types.percent(each.name, each.parameters)
        for each in open_to_all
    ]
    most = max((share for share in shares if share is not None), default=0)
    if most == types.ALL:
        return "everyone"
    if most:
        return f"{most}% of users"
    rest = [each for each in active if types.percent(each.name, each.parameters) != 0]
    return plain(describe(rest[0])[1:]) if rest else "no one"


def headline(release: Release, strategies: Sequence[Strategy]) -> str:
    """Where the release is. ``strategies``: of the present step."""
    if release.position is None:
        return "Not started."
    step, who = f"step {release.position + 1} of {len(release.steps)}", reached(strategies)
    if release.state is ReleaseState.RUNNING:
        return f"Step {release.position + 1} of {len(release.steps)}: on for {who}."
    if hold := release.hold:
        return f"On hold at {step}: {hold['reason']}" if hold["reason"] else f"On hold at {step}."
    if release.state is ReleaseState.DONE:
        return f"Done: on for {who}."
    if release.state is ReleaseState.LEFT:
        return f"Left at {step}: on for {who}."
    return f"Stopped at {step}."


UNITS = (("day", timedelta(days=1)), ("hour", timedelta(hours=1)), ("minute", timedelta(minutes=1)))


def lasting(time: timedelta) -> str:
    """A time in its two largest units: ``3 days and 4 hours``, ``40 minutes``."""
    parts, rest = [], time
    for unit, length in UNITS:
        number, rest = divmod(rest, length)
        if number:
            parts.append(counted(number, unit))
    return " and ".join(parts[:2]) or counted(int(time.total_seconds()), "second")
