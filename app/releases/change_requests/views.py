"""Change requests for readers: with approvals, reviewers, history and the resulting state."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import groupby

from app.accounts.models import Account
from app.releases.change_requests import queries, words
from app.releases.change_requests.models import Change, ChangeRequest, State, Step, StepKind

STATES = {
    StepKind.OPENED: State.IN_REVIEW,
    StepKind.APPROVED: State.APPROVED,
    StepKind.SCHEDULED: State.SCHEDULED,
    StepKind.APPLIED: State.APPLIED,
    StepKind.REJECTED: State.REJECTED,
    StepKind.CANCELLED: State.CANCELLED,
}
"""The states that steps lead to."""

MEANWHILE = "What this change builds on has changed since it was proposed."


@dataclass(frozen=True, slots=True)
class ChangeView:
    """A change. ``conflict``: why it no longer fits, or None."""

    change: Change
    conflict: str | None


@dataclass(frozen=True, slots=True)
class Subject:
    """A feature with the changes to it."""

    name: str
    changes: list[ChangeView]

    @property
    def conflict(self) -> str | None:
        return next((each.conflict for each in self.changes if each.conflict), None)


@dataclass(frozen=True, slots=True)
class Given:
    """An approval that counts."""

    created_by: Account
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Schedule:
    """``status``: pending; suspended while a change does not fit; failed."""

    scheduled_at: datetime
    status: str
    reason: str | None


@dataclass(frozen=True)
class View:
    """A change request with everything that readers see of it.

    ``approvals``: those that count now, oldest first. ``required``: 0 if the environment needs none
    any more. ``conflicts``: the ids of changes that no longer fit.
    """

    request: ChangeRequest
    required: int
    approvals: list[Given]
    reviewers: list[Account]
    steps: list[Step]
    conflicts: frozenset[int] = frozenset()

    @property
    def is_approved(self) -> bool:
        return len(self.approvals) >= self.required

    @property
    def missing(self) -> int:
        """How many more people have to approve it."""
        return max(self.required - len(self.approvals), 0)

    @property
    def state(self) -> State:
        stored = self.request.state
        return State.APPROVED if stored is State.IN_REVIEW and self.is_approved else stored

    @property
    def title(self) -> str:
        return self.request.title or words.title(self.request.changes)

    @cached_property
    def changes(self) -> list[ChangeView]:
        return [
            ChangeView(change, MEANWHILE if change.id in self.conflicts else None)
            for change in self.request.changes
        ]

    @property
    def features(self) -> list[Subject]:
        """The features that it changes, in the order of their first changes."""
        on_features = [each for each in self.changes if each.change.feature_id is not None]
        first: dict[str, int] = {}
        for each in on_features:
            first.setdefault(each.change.subject, len(first))
        ordered = sorted(on_features, key=lambda each: first[each.change.subject])
        return [
            Subject(name, list(group))
            for name, group in groupby(ordered, lambda each: each.change.subject)
        ]

    @property
    def segments(self) -> list[ChangeView]:
        return [each for each in self.changes if each.change.segment_id is not None]

    @property
    def comments(self) -> list[Step]:
        """Comments, with those that were made with a decision."""
        said = {StepKind.COMMENTED, StepKind.APPROVED, StepKind.REJECTED, StepKind.CANCELLED}
        return [step for step in self.steps if step.text and step.kind in said]

    @property
    def rejections(self) -> list[Step]:
        return [step for step in self.steps if step.kind is StepKind.REJECTED]

    @property
    def state_timestamps(self) -> dict[str, datetime]:
        """When it last entered each state."""
        entered = {STATES[s.kind].value: s.created_at for s in self.steps if s.kind in STATES}
        return {State.DRAFT.value: self.request.created_at, **entered}

    @property
    def schedule(self) -> Schedule | None:
        at, failure = self.request.scheduled_at, self.request.failure
        if at is None:
            return None
        if failure is not None:
            return Schedule(at, "failed", failure)
        if self.conflicts:
            return Schedule(at, "suspended", MEANWHILE)
        return Schedule(at, "pending", None)


def of(requests: Collection[ChangeRequest]) -> list[View]:
    """Views of the requests, read in four statements."""
    ids = [request.id for request in requests]
    required, approvals = queries.required(ids), queries.approvals(ids)
    reviewers, steps = queries.reviewers(ids), queries.steps(ids)
    return [
        View(
            request,
            required[request.id],
            [Given(who, given.created_at) for given, who in approvals.get(request.id, ())],
            reviewers.get(request.id, []),
            steps.get(request.id, []),
        )
        for request in requests
    ]
