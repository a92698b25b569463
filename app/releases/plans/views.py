"""Releases for readers: each step with what it is now, and when it started or can start."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Self

import sqlalchemy as sa

from app.accounts import service as accounts
from app.catalogue.releases.models import Release, ReleaseState, Step
from app.catalogue.releases.queries import Located
from app.catalogue.segments.models import Segment
from app.catalogue.strategies.models import Strategy
from app.catalogue.strategies.words import reached
from app.core.clock import from_text, utcnow
from app.core.db import chunks, db, once
from app.releases.plans import words
from app.releases.templates.steps import models, row

LATELY = timedelta(days=7)
"""How long the page of a feature shows a release that is over."""


class Stage(StrEnum):
    """What a step is now; ``mark`` is how pages draw it."""

    mark: str

    def __new__(cls, value: str, mark: str) -> Self:
        self = str.__new__(cls, value)
        self._value_ = value
        self.mark = mark
        return self

    DONE = "Done", "done"
    NOW = "Now", "now"
    HELD = "On hold", "held"
    STOPPED = "Stopped", "stop"
    LEFT = "Left", "stop"
    NEXT = "Next", "next"
    LATER = "Later", "next"
    WAITING = "Waiting", "next"
    SKIPPED = "Left out", "never"
    NEVER = "Never started", "never"


@dataclass(frozen=True, slots=True)
class StepView:
    """A step. ``due_at``: when it can start at the earliest; None if that isn’t known.

    ``wait``: how long the next step waits at least.
    """

    id: str
    number: int
    name: str
    strategies: list[Strategy]
    stage: Stage
    by_hand: bool
    wait: timedelta | None
    waited: timedelta | None
    started_at: datetime | None = None
    started_by: str | None = None
    is_automatic: bool = False
    ended_at: datetime | None = None
    due_at: datetime | None = None

    @property
    def reached(self) -> str:
        return reached(self.strategies)


@dataclass(frozen=True, slots=True)
class ReleaseView:
    """``waits``: whether someone can start the next step now, which doesn’t start by itself.

    ``names``: of the accounts that it names, by their ids.
    """

    release: Release
    feature: str
    project_id: str
    steps: list[StepView]
    waits: bool
    clock_went_back: bool
    names: Mapping[int, str]

    @property
    def creator(self) -> str:
        return self.name(self.release.created_by_id, self.release.created_by)

    @property
    def starter(self) -> str | None:
        by = self.release.started_by
        return by and self.name(self.release.started_by_id, by)

    @property
    def ender(self) -> str | None:
        by = self.release.ended_by
        return by and self.name(self.release.ended_by_id, by)

    @property
    def holder(self) -> str | None:
        """Who put it on hold."""
        hold = self.release.hold
        return hold and self.name(hold["by_id"], hold["by"])

    def name(self, id: int | None, recorded: str) -> str:
        """The name of an account; as it was recorded, if it has none."""
        return self.names.get(id or 0, recorded)

    @property
    def located(self) -> Located:
        return Located(self.release, self.feature, self.project_id)

    @property
    def step(self) -> StepView | None:
        """The present step, or the last one of a release that is over."""
        place = self.release.position
        return None if place is None else self.steps[place]

    @property
    def next(self) -> StepView | None:
        """The step that comes next, of an open release."""
        place = self.release.next_position if self.release.ended_at is None else None
        return None if place is None else self.steps[place]

    @property
    def headline(self) -> str:
        return words.headline(self.release, self.step.strategies if self.step else ())

    @property
    def milestones(self) -> list[dict[str, Any]]:
        """Its steps as the API shows them."""
        release, hold = self.release, self.release.hold
        return [
            row(
                step,
                place,
                release.id,
                paused_at=hold["since"] if hold and place == release.position else None,
            )
            for place, step in enumerate(release.steps)
        ]

    @property
    def took(self) -> timedelta:
        """From the start of its first step to its end, or to now."""
        started = self.release.started_at or self.release.created_at
        return (self.release.ended_at or utcnow()) - started

    @property
    def held_since(self) -> datetime | None:
        hold = self.release.hold
        return hold and from_text(hold["since"])

    @property
    def lasted(self) -> timedelta:
        """How long the last step was on that was started."""
        started = self.step and self.step.started_at
        return (self.release.ended_at or utcnow()) - (started or self.release.created_at)

    @property
    def held_for(self) -> timedelta:
        """How long it was on hold, all in all."""
        return sum(self.held, timedelta())

    @property
    def held(self) -> list[timedelta]:
        """How long each hold lasted that is over."""
        return [
            from_text(until) - from_text(hold["since"])
            for hold in self.release.holds
            if (until := hold.get("until"))
        ]


def of(found: Sequence[Located], *, starting: datetime | None = None) -> list[ReleaseView]:
    """``starting``: when those are assumed to start that someone has to start."""
    releases = [each.release for each in found]
    segments, names = _segments(releases), accounts.names(set(_account_ids(releases)))
    return [_view(each, segments, names, starting) for each in found]


def one(found: Located, *, starting: datetime | None = None) -> ReleaseView:
    [view] = of([found], starting=starting)
    return view


def _account_ids(releases: Iterable[Release]) -> Iterator[int]:
    """Ids of the accounts that created, started, held or ended releases, or started steps."""
    for release in releases:
        found = [release.created_by_id, release.started_by_id, release.ended_by_id]
        found += [step.get("started_by_id") for step in release.steps]
        found += [hold["by_id"] for hold in release.holds]
        yield from (id for id in found if id is not None)


def _view(
    found: Located,
    segments: Mapping[int, Segment],
    names: Mapping[int, str],
    starting: datetime | None,
) -> ReleaseView:
    release, now = found.release, utcnow()
    is_ready = release.next_at is None or release.next_at <= now
    waits = release.state is ReleaseState.RUNNING and not release.is_automatic and is_ready
    began = release.step and from_text(release.step["started_at"])
    is_behind = release.ended_at is None and began is not None and began > now
    return ReleaseView(
        *found,
        _steps(release, segments, names, starting),
        waits=waits,
        clock_went_back=is_behind,
        names=names,
    )


def _steps(
    release: Release,
    segments: Mapping[int, Segment],
    names: Mapping[int, str],
    starting: datetime | None,
) -> list[StepView]:
    due, steps, before = _due(release, starting), release.steps, _before(release)
    starts_by_hand = release.position is None and not (release.is_automatic or starting)
    return [
        StepView(
            id=step["id"],
            number=place + 1,
            name=step["name"],
            strategies=models(step["strategies"], segments),
            stage=_stage(release, place),
            by_hand=steps[before[place]]["by_hand"] if place else starts_by_hand,
            wait=_wait(step) if place < len(steps) - 1 else None,
            waited=_wait(steps[before[place]]) if place else None,
            started_at=_time(step.get("started_at")),
            started_by=names.get(step.get("started_by_id") or 0, step.get("started_by")),
            is_automatic=step.get("is_automatic", False),
            ended_at=_time(step.get("ended_at")),
            due_at=due.get(place),
        )
        for place, step in enumerate(steps)
    ]


def _before(release: Release) -> dict[int, int]:
    """The place of the step that leads to each one, by place."""
    found = {place: place - 1 for place in range(1, len(release.steps))}
    return found | {
        following: place
        for place in reversed(range(len(release.steps)))
        if (following := release.after(place)) is not None
    }


def _due(release: Release, starting: datetime | None) -> dict[int, datetime]:
    """When steps that haven’t started can start at the earliest, by place; while that is known."""
    place, at = release.next_position, release.next_at
    if release.state is ReleaseState.HELD or release.ended_at is not None:
        return {}
    if release.position is None:
        at = at or starting
    found = {}
    while at is not None and place is not None:
        found[place] = at
        wait = _wait(release.steps[place])
        at, place = None if wait is None else at + wait, release.after(place)
    return found


_PRESENT = {
    ReleaseState.RUNNING: Stage.NOW,
    ReleaseState.HELD: Stage.HELD,
    ReleaseState.DONE: Stage.DONE,
    ReleaseState.STOPPED: Stage.STOPPED,
    ReleaseState.LEFT: Stage.LEFT,
}
"""What the present step is, or the last one that was started."""


def _stage(release: Release, place: int) -> Stage:
    present, following = release.position, release.next_position
    if present is not None and place <= present:
        if place == present:
            return _PRESENT[release.state]
        return Stage.DONE if "started_at" in release.steps[place] else Stage.SKIPPED
    if release.ended_at is not None:
        return Stage.NEVER
    if present is not None and following is not None and place < following:
        return Stage.SKIPPED
    if release.state is ReleaseState.HELD:
        return Stage.WAITING
    return Stage.NEXT if place == following else Stage.LATER


def _segments(releases: Iterable[Release]) -> dict[int, Segment]:
    """The segments that steps use, by id."""
    ids = {
        id
        for release in releases
        for step in release.steps
        for strategy in step["strategies"]
        for id in strategy["segments"]
    }

    def read() -> dict[int, Segment]:
        return {
            segment.id: segment
            for chunk in chunks(ids)
            for segment in db.session.scalars(sa.select(Segment).where(Segment.id.in_(chunk)))
        }

    return once(("segments of steps", frozenset(ids)), read)


def _wait(step: Step) -> timedelta | None:
    return None if step["seconds"] is None else timedelta(seconds=step["seconds"])


def _time(text: str | None) -> datetime | None:
    return from_text(text) if text else None
