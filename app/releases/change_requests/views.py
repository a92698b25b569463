"""Change requests for readers: with approvals, reviewers, history and the resulting state."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.accounts.models import Account
from app.releases.change_requests import queries, words
from app.releases.change_requests.models import (
    Change,
    ChangeRequest,
    Outcome,
    State,
    Step,
    StepKind,
)

STATES = {
    StepKind.OPENED: State.IN_REVIEW,
    StepKind.APPROVED: State.APPROVED,
    StepKind.SCHEDULED: State.SCHEDULED,
    StepKind.APPLIED: State.APPLIED,
    StepKind.REJECTED: State.REJECTED,
    StepKind.CANCELLED: State.CANCELLED,
}
"""The states that steps lead to."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A feature with the changes to it."""

    name: str
    changes: list[Change]


@dataclass(frozen=True, slots=True)
class Given:
    """An approval that counts."""

    created_by: Account
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Schedule:
    """``status``: pending or failed."""

    scheduled_at: datetime
    status: str
    reason: str | None


@dataclass(frozen=True)
class View:
    """A change request with everything that readers see of it.

    ``approvals``: those that count now, oldest first. ``required``: 0 if the environment needs none
    any more. ``outcomes``: what it leads to, of a request that was read alone.
    """

    request: ChangeRequest
    required: int
    approvals: list[Given]
    reviewers: list[Account]
    steps: list[Step]
    outcomes: Sequence[Outcome] = ()

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

    @property
    def features(self) -> list[Subject]:
        """The features that it changes, in the order of their first changes."""
        found: dict[str, list[Change]] = {}
        for change in self.request.changes:
            if change.action.is_on_feature:
                found.setdefault(change.subject, []).append(change)
        return [Subject(name, changes) for name, changes in found.items()]

    @property
    def segments(self) -> list[Change]:
        return [change for change in self.request.changes if change.segment_id is not None]

    @property
    def project_changes(self) -> list[Change]:
        return [change for change in self.request.changes if change.action.is_on_project]

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
