"""Releases in words: where one is."""

from collections.abc import Sequence

from app.catalogue.releases.models import Release, ReleaseState
from app.catalogue.strategies.models import Strategy
from app.catalogue.strategies.words import reached


def headline(release: Release, strategies: Sequence[Strategy]) -> str:
    """Where the release is. ``strategies``: of the present step."""
    if release.position is None:
        return "Not started." if release.ended_at is None else "Left before it started."
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
