"""Applying an approved change request: now, at its time, or as a plan."""

import time
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import sqlalchemy as sa
from sqlalchemy.orm import selectinload

from app.accounts.models import Account
from app.catalogue.projects import service as projects
from app.catalogue.projects.models import Project
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db, locked, transact
from app.core.errors import Conflict, DomainError
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.maintenance import service as maintenance
from app.core.permissions import Role
from app.core.words import spoken
from app.releases.change_requests import mailing, outcomes, review, steps
from app.releases.change_requests.actions import carry_out
from app.releases.change_requests.models import Change, ChangeRequest, State, StepKind
from app.releases.change_requests.snapshots import SubjectSnapshot
from app.releases.due import AT_ONCE, SECONDS, work_off

EVENTS_BEHIND = 1_000
"""How many events may be looked at again and again, before it is noted that they were."""


@dataclass(frozen=True, slots=True)
class Effect:
    """A change with the snapshots before and after it, if it were applied now."""

    change: Change
    before: SubjectSnapshot
    after: SubjectSnapshot


@dataclass(frozen=True, slots=True)
class ApplyPlan:
    """Result of a dry run. ``obstacles``: sentences that say why it can’t be applied yet."""

    changes: list[Effect]
    obstacles: list[str]

    @property
    def can_be_applied(self) -> bool:
        return not self.obstacles


def apply(actor: Actor, request: ChangeRequest) -> None:
    """Make all changes of a request from ``get_for_change``, or none.

    Raises:
        Conflict: when approvals are missing, or something that it builds on has changed.

    """
    review.require_applier(actor, request)
    _apply(actor, request)


def plan(actor: Actor, request: ChangeRequest) -> ApplyPlan:
    """Dry run of ``apply``: changes nothing."""
    obstacles = []
    if request.state is State.DRAFT:
        obstacles.append("It’s still a draft.")
    else:
        try:
            review.require_approved(request)
        except Conflict as error:
            obstacles.append(error.message)
    try:
        trial = outcomes.try_out(actor.with_all_rights(), request)
    except DomainError as error:
        return ApplyPlan([], list(dict.fromkeys([*obstacles, error.message])))
    return ApplyPlan([Effect(*change) for change in trial.changes], obstacles)


def apply_due() -> int:
    """Apply due change requests, each in a transaction of its own. Return how many were tried.

    A request that can’t be applied stays scheduled with the reason, and is not tried again. In
    maintenance mode all of them wait until it ends.
    """
    if transact(maintenance.current, writes=False):
        return 0
    now = utcnow()
    due = sa.select(ChangeRequest.scheduled_at, ChangeRequest.id).where(*_is_due(now))
    order = due.order_by(ChangeRequest.scheduled_at, ChangeRequest.id).limit(AT_ONCE)
    rows = transact(lambda: db.session.execute(order).all(), writes=False)
    return work_off(
        rows,
        is_due=lambda one: db.session.scalar(due.where(ChangeRequest.id == one)) is not None,
        act=_apply_if_due,
        fail=_fail,
        act_name="applying change request",
    )


def _is_due(now: datetime) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        ChangeRequest.state == State.SCHEDULED,
        ChangeRequest.scheduled_at <= now,
        ChangeRequest.failure.is_(None),
    )


def _apply(actor: Actor, request: ChangeRequest) -> None:
    _keep_approvals(request)
    review.require_approved(request)
    approvers = [given.created_by.label for given in review.view(request).approvals]
    acting = actor.for_act(events.new_batch(), _cause(request, approvers))
    place = outcomes.place_of(request)
    since = len(events.recorded())
    # The approvals authorise the changes, so the applier needs no permission for each.
    carry_out(acting.with_all_rights(), place, request.changes)
    if not outcomes.permit(request, since=since):
        raise Conflict(
            f"Change request {request.id} leads to something else than what was approved, since "
            "something that it touches has just changed. Nothing was applied. Try again."
        )
    review.close(request, State.APPLIED)
    request.batch_id, request.failure = acting.batch_id, None
    kind = EventType.CHANGE_REQUEST_APPLIED
    steps.note(acting, request, StepKind.APPLIED, kind, approvedBy=approvers)


def _cause(request: ChangeRequest, approvers: list[str]) -> str:
    """What the events of applying have as their reason."""
    by = f"Change request {request.id} by {request.created_by}"
    return f"{by}, approved by {spoken(approvers)}" if approvers else by


def _keep_approvals(request: ChangeRequest) -> None:
    """Lock the approval rules and the approvers, so that counted approvals hold until the end."""
    project = sa.select(Project.id).where(Project.id == request.project_id)
    db.session.execute(locked(project, read=True))
    givers = [given.created_by.id for given in review.view(request).approvals]
    # In one order, or two transactions could deadlock.
    people = sa.select(Account.id).where(Account.id.in_(givers)).order_by(Account.id)
    db.session.execute(locked(people, read=True))


def check_outcomes() -> int:
    """Find open change requests that lead to something else now. Return how many were tried out."""
    found, behind = transact(_touched, writes=False)
    until = time.monotonic() + SECONDS
    for number, id in enumerate(found):
        if time.monotonic() > until:
            return number
        transact(partial(_refresh, id), writes=True)
    if behind is not None and len(found) < AT_ONCE:
        transact(partial(db.session.execute, behind), writes=True)
    return len(found)


_is_sent = ChangeRequest.state.in_([State.IN_REVIEW, State.SCHEDULED])


def _touched() -> tuple[list[int], sa.Update | None]:
    """Ids of requests to try out. If others are far behind, the statement that brings them up."""
    last = events.end().last_id  # before the events are read: later ones must not be passed over
    is_touched = sa.or_(
        ChangeRequest.digest.is_(None), sa.exists().where(*outcomes.is_about(Event))
    )
    query = sa.select(ChangeRequest.id).where(_is_sent, is_touched).order_by(ChangeRequest.id)
    found = list(db.session.scalars(query.limit(AT_ONCE)))
    is_behind = ChangeRequest.checked_to < last - EVENTS_BEHIND
    if not db.session.scalar(sa.select(sa.exists().where(_is_sent, is_behind))):
        return found, None
    others = _is_sent, ChangeRequest.checked_to < last, ChangeRequest.id.not_in(found)
    return found, sa.update(ChangeRequest).where(*others).values(checked_to=last)


def _refresh(id: int) -> None:
    query = sa.select(ChangeRequest).where(ChangeRequest.id == id, _is_sent)
    if (request := _lock(query)) is not None:
        outcomes.refresh(request)


def _apply_if_due(id: int) -> None:
    request = _locked(id)
    if request is not None and not outcomes.refresh(request):
        scheduler = _scheduler(request)
        projects.require_for_content(scheduler, request.project_id)
        _apply(scheduler, request)


def _fail(id: int, why: str) -> None:
    request = _locked(id)
    if request is None:
        return
    request.failure = why
    kind = EventType.CHANGE_REQUEST_FAILED
    steps.note(_scheduler(request), request, StepKind.FAILED, kind, text=why)
    mailing.schedule_failed(request, why)


def _locked(id: int) -> ChangeRequest | None:
    """The request, locked; None if it is no longer due or another process is applying it."""
    return _lock(sa.select(ChangeRequest).where(ChangeRequest.id == id, *_is_due(utcnow())))


def _lock(query: sa.Select[ChangeRequest]) -> ChangeRequest | None:
    query = query.options(selectinload(ChangeRequest.changes))
    return db.session.scalar(locked(query, of=ChangeRequest, skip_locked=True))


def _scheduler(request: ChangeRequest) -> Actor:
    """The person who scheduled it, as the actor who applies it.

    An Admin for this, since the person may have left by now. Approvals are still required.
    """
    return Actor(id=request.scheduled_by_id, username=request.scheduled_by or "", role=Role.ADMIN)
