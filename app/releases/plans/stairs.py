"""The share of users over time, as stairs: what has happened, and what is planned."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from app.catalogue.strategies.words import share
from app.core.clock import utcnow
from app.releases.plans.views import ReleaseView, StepView

WIDTH, HEIGHT = 600, 100
LEAST = 2
"""Height of a step that reaches less than that, such as a segment."""
TAIL = 0.12
"""Part of the width after the last step."""


@dataclass(frozen=True, slots=True)
class Stairs:
    """Paths in a box of WIDTH and HEIGHT. ``start``, ``end``: the times at its sides."""

    past: str
    plan: str
    start: datetime
    end: datetime
    says: str


def of(view: ReleaseView) -> Stairs | None:
    """None while less than two steps have a time."""
    timed = [(at, step) for step in view.steps if (at := step.started_at or step.due_at)]
    if len(timed) < 2:  # noqa: PLR2004 - one step makes no stairs
        return None
    now, start = utcnow(), timed[0][0]
    end = view.release.ended_at or max(timed[-1][0], now)
    span = max(end - start, timedelta(minutes=1))
    end = start + span * (1 + TAIL)
    sides = [at for at, _ in timed[1:]] + [end]
    past: list[str] = []
    plan: list[str] = []
    for (at, step), until in zip(timed, sides, strict=True):
        box = _box(_x(at, start, end), _x(until, start, end), step)
        (past if step.started_at else plan).append(box)
    says = ", ".join(f"{step.name}: {step.reached}" for _, step in timed)
    return Stairs("".join(past), "".join(plan), start, end, says)


def _x(at: datetime, start: datetime, end: datetime) -> int:
    return round(WIDTH * ((at - start) / (end - start)))


def _box(left: int, right: int, step: StepView) -> str:
    top = HEIGHT - max(share(step.strategies), LEAST)
    return f"M{left} {HEIGHT}V{top}H{right}V{HEIGHT}Z"
