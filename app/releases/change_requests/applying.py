"""Applying an approved change request: now, at its time, or as a plan."""

import random
import time
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import selectinload

from app.accounts.models import Account
from app.catalogue.approvals import guard
from app.catalogue.approvals.guard import Place
from app.catalogue.projects import service as projects
from app.catalogue.projects.models import Project
from app.core import faults
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db, transact
from app.core.errors import Conflict, DomainError
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.logs import LOGGER
from app.core.permissions import Role
from app.releases.change_requests import review, service
from app.releases.change_requests.actions import carry_out
from app.releases.change_requests.models import Change, ChangeRequest, State, StepKind
from app.releases.change_requests.snapshots import SubjectSnapshot

AT_ONCE = 100
"""Due requests that are read in one go."""
SECONDS = 2.0
"""Time limit of one ``apply_due``, so that other chores of the process are not delayed."""
BROKEN = "Something went wrong on our side. The log of the server says more. Try to apply it again."


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
    stuck, obstacles = service.conflicts(request), []
    if request.state is State.DRAFT:
        obstacles.append("It’s still a draft.")
    else:
        try:
            review.require_approved(request)
        except Conflict as error:
            obstacles.append(error.message)
    fitting = [change for change in request.changes if change.id not in stuck]
    if stuck:
        obstacles.append(review.DOES_NOT_FIT)
    effects: list[Effect] = []
    acting, place = actor.with_all_rights(), _place(request)
    with events.savepoint(keeps=False):
        try:
            effects.extend(Effect(*effect) for effect in carry_out(acting, place, fitting))
            guard.effects_in(acting, place)
        except DomainError as error:
            obstacles.append(error.message)
    return ApplyPlan(effects, obstacles)


def apply_due() -> int:
    """Apply due change requests, each in a transaction of its own. Return how many were tried.

    A request that can’t be applied stays scheduled with the reason, and is not tried again.
    """
    now = utcnow()
    due = sa.select(ChangeRequest.scheduled_at, ChangeRequest.id).where(*_is_due(now))
    order = due.order_by(ChangeRequest.scheduled_at, ChangeRequest.id).limit(AT_ONCE)
    rows = transact(lambda: list(db.session.execute(order)), writes=False)
    random.shuffle(rows)  # at equal times, so that processes seldom meet at the same request
    until, number = time.monotonic() + SECONDS, 0
    for _, id in sorted(rows, key=lambda row: row.scheduled_at):
        still = due.where(ChangeRequest.id == id)
        if transact(partial(db.session.scalar, still), writes=False) is None:
            continue  # another process was quicker: don’t wait for the write lock
        _apply_or_fail(id)
        number += 1
        if time.monotonic() > until:
            break
    return number


def _is_due(now: datetime) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        ChangeRequest.state == State.SCHEDULED,
        ChangeRequest.scheduled_at <= now,
        ChangeRequest.failure.is_(None),
    )


def _apply_or_fail(id: int) -> None:
    """Apply a request, or store why not. If the database is unavailable, try it next time."""
    try:
        transact(partial(_apply_if_due, id), writes=True)
    except DomainError as error:
        transact(partial(_fail, id, error.message), writes=True)
    except Exception as error:  # noqa: BLE001 - one that breaks must not block the others
        if isinstance(error, DBAPIError) and faults.is_unavailable(error):
            LOGGER.warning("applying change request %d failed for now: %s", id, error)
            return
        LOGGER.exception("applying change request %d failed", id)
        transact(partial(_fail, id, BROKEN), writes=True)


def _apply(actor: Actor, request: ChangeRequest) -> None:
    _keep_approvals(request)
    review.require_approved(request)
    if service.conflicts(request):
        raise Conflict(review.DOES_NOT_FIT)
    acting = actor.for_act(events.new_batch())
    # The approvals authorise the changes, so the applier needs no permission for each.
    effects = list(carry_out(acting.with_all_rights(), _place(request), request.changes))
    guard.approve(_place(request))
    for change, before, after in effects:
        change.before, change.after = before, after
    review.close(request, State.APPLIED)
    request.batch_id, request.failure = acting.batch_id, None
    approvers = [given.created_by.label for given in review.view(request).approvals]
    kind = EventType.CHANGE_REQUEST_APPLIED
    service.note(acting, request, StepKind.APPLIED, kind, approvedBy=approvers)


def _place(request: ChangeRequest) -> Place:
    return Place(request.project_id, request.environment)


def _keep_approvals(request: ChangeRequest) -> None:
    """Lock the approval rules and the approvers, so that counted approvals hold until the end."""
    project = sa.select(Project.id).where(Project.id == request.project_id)
    db.session.execute(project.with_for_update(read=True))
    givers = [given.created_by.id for given in review.view(request).approvals]
    # In one order, or two transactions could deadlock.
    people = sa.select(Account.id).where(Account.id.in_(givers)).order_by(Account.id)
    db.session.execute(people.with_for_update(read=True))


def _apply_if_due(id: int) -> None:
    request = _locked(id)
    if request is not None:
        scheduler = _scheduler(request)
        projects.require_for_content(scheduler, request.project_id)
        _apply(scheduler, request)


def _fail(id: int, why: str) -> None:
    request = _locked(id)
    if request is None:
        return
    request.failure = why
    kind = EventType.CHANGE_REQUEST_FAILED
    service.note(_scheduler(request), request, StepKind.FAILED, kind, text=why)


def _locked(id: int) -> ChangeRequest | None:
    """The request, locked; None if it is no longer due or another process is applying it."""
    query = (
        sa.select(ChangeRequest)
        .where(ChangeRequest.id == id, *_is_due(utcnow()))
        .options(selectinload(ChangeRequest.changes))
        .with_for_update(of=ChangeRequest, skip_locked=True)
    )
    return db.session.scalar(query.execution_options(populate_existing=True))


def _scheduler(request: ChangeRequest) -> Actor:
    """The person who scheduled it, as the actor who applies it.

    An Admin for this, since the person may have left by now. Approvals are still required.
    """
    return Actor(id=request.scheduled_by_id, username=request.scheduled_by or "", role=Role.ADMIN)
