"""Decisions about a change request: every transition between states except applying."""

from datetime import datetime, timedelta

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.clock import in_text, utcnow
from app.core.db import RetryTransaction, db, flush
from app.core.errors import Conflict, Invalid, NoAccess
from app.core.events.event_types import EventType
from app.core.permissions import Permission
from app.core.words import counted
from app.releases.change_requests import editing, mailing, outcomes, queries, service, steps, views
from app.releases.change_requests.models import Approval, ChangeRequest, State, StepKind
from app.releases.change_requests.views import View

FARTHEST = timedelta(days=366)
"""How far ahead a change request can be scheduled."""


def send(actor: Actor, request: ChangeRequest) -> None:
    """Ask others to review a draft."""
    service.require_author(actor, request)
    _require_state(request, State.DRAFT)
    if not request.changes:
        raise Conflict("This draft has no changes yet. Add one first.")
    _require_possible(request)
    editing.require_proposer(actor, request)
    request.state = State.IN_REVIEW
    steps.note(actor, request, StepKind.OPENED, EventType.CHANGE_REQUEST_OPENED)
    mailing.ask_for_review(actor, request)


def withdraw(actor: Actor, request: ChangeRequest) -> None:
    """Make it a draft again, visible to its author only. Approvals are deleted."""
    service.require_author(actor, request)
    _require_state(request, State.IN_REVIEW, State.SCHEDULED)
    if actor.id is None:
        raise Conflict("The command line has no drafts. Cancel the change request instead.")
    service.forget_approvals(request)
    request.state, request.scheduled_at, request.failure = State.DRAFT, None, None
    steps.note(actor, request, StepKind.WITHDRAWN, EventType.CHANGE_REQUEST_WITHDRAWN)


def approve(actor: Actor, request: ChangeRequest, comment: str | None = None) -> None:
    """Approve the current version. A second approval by one person changes nothing."""
    require_approver(actor, request)
    _require_state(request, State.IN_REVIEW)
    _require_possible(request)
    given = db.session.get(Approval, (request.id, actor.account_id))
    if given is not None and given.digest == request.digest:
        return
    if given is None:
        given = Approval(request_id=request.id, account_id=actor.account_id)
        db.session.add(given)
    given.digest, given.created_at = request.digest, utcnow()
    flush(if_taken=RetryTransaction())  # approved twice at once: a retry finds the approval
    if view(request).is_approved:
        outcomes.accept(request)
    kind = EventType.CHANGE_REQUEST_APPROVED
    steps.note(actor, request, StepKind.APPROVED, kind, text=comment)


def withdraw_approval(actor: Actor, request: ChangeRequest, comment: str | None = None) -> None:
    """Withdraw the actor’s own approval. Without enough approvals, cancel the schedule."""
    given = db.session.get(Approval, (request.id, actor.id)) if actor.id is not None else None
    if given is None:
        raise Conflict(f"You haven’t approved change request {request.id}.")
    db.session.delete(given)
    db.session.flush()
    if request.state is State.SCHEDULED and not view(request).is_approved:
        request.state, request.scheduled_at, request.failure = State.IN_REVIEW, None, None
    kind = EventType.CHANGE_REQUEST_APPROVAL_WITHDRAWN
    steps.note(actor, request, StepKind.APPROVAL_WITHDRAWN, kind, text=comment)


def reject(actor: Actor, request: ChangeRequest, comment: str | None) -> None:
    require_approver(actor, request)
    _require_state(request, State.IN_REVIEW, State.SCHEDULED)
    if not comment:
        raise Invalid.at("/comment", "Say why, so that the author knows what to change.")
    close(request, State.REJECTED)
    kind = EventType.CHANGE_REQUEST_REJECTED
    steps.note(actor, request, StepKind.REJECTED, kind, text=comment)


def cancel(actor: Actor, request: ChangeRequest, comment: str | None = None) -> None:
    """Close it without applying it. Only the author or an Admin can."""
    if not (service.is_author(actor, request) or actor.is_admin):
        raise NoAccess(f"Only {request.created_by} or an Admin can cancel this change request.")
    if request.state is State.DRAFT:
        raise Conflict("This is a draft. Discard it instead.")
    close(request, State.CANCELLED)
    kind = EventType.CHANGE_REQUEST_CANCELLED
    steps.note(actor, request, StepKind.CANCELLED, kind, text=comment)


def schedule(actor: Actor, request: ChangeRequest, at: datetime | None) -> None:
    """Schedule it for this time, or move its schedule."""
    require_applier(actor, request)
    require_approved(request)
    now = utcnow()
    if at is None or not now < at <= now + FARTHEST:
        message = f"Enter a time in the next {counted(FARTHEST.days, 'day')}."
        raise Invalid.at("/scheduledAt", message)
    request.state, request.scheduled_at, request.failure = State.SCHEDULED, at, None
    request.scheduled_by, request.scheduled_by_id = actor.username, actor.id
    kind = EventType.CHANGE_REQUEST_SCHEDULED
    when = in_text(at)
    steps.note(actor, request, StepKind.SCHEDULED, kind, text=when, scheduledAt=when)


def unschedule(actor: Actor, request: ChangeRequest) -> None:
    """Cancel the schedule; keep approvals."""
    require_applier(actor, request)
    _require_state(request, State.SCHEDULED)
    request.state, request.scheduled_at, request.failure = State.IN_REVIEW, None, None
    steps.note(actor, request, StepKind.UNSCHEDULED, EventType.CHANGE_REQUEST_UNSCHEDULED)


def require_approver(actor: Actor, request: ChangeRequest) -> None:
    """Refuse anyone whose approval would not count."""
    if service.is_author(actor, request):
        raise NoAccess("You proposed this, so someone else has to approve or reject it.")
    actor.require(Permission.APPROVE_CHANGE_REQUEST, request.project_id)
    if actor.id not in {account.id for account in service.reviewers(request)}:
        if actor.id in {account.id for account in queries.approvers(request.project_id)}:
            raise NoAccess(
                f"You created a token of {request.created_by}, who proposed this, so someone else "
                "has to approve or reject it."
            )
        raise NoAccess("Only people can approve or reject change requests. Sign in as yourself.")


def require_applier(actor: Actor, request: ChangeRequest) -> None:
    """Refuse anyone who is neither the author nor allowed to apply."""
    if not service.is_author(actor, request):
        actor.require(Permission.APPLY_CHANGE_REQUEST, request.project_id)


def require_approved(request: ChangeRequest) -> None:
    """Refuse a change request that has too few approvals, as they count now."""
    _require_state(request, State.IN_REVIEW, State.SCHEDULED)
    _require_possible(request)
    if missing := view(request).missing:
        needs = f"needs {counted(missing, 'more approval')} first."
        if request.is_outdated:
            needs = f"leads to something else than what was approved. It {needs}"
        raise Conflict(f"Change request {request.id} {needs}")


def _require_possible(request: ChangeRequest) -> None:
    """Refuse a change request whose changes can’t be made as things are now."""
    if request.obstacle is not None:
        raise Conflict(f"{IMPOSSIBLE} {request.obstacle}")


IMPOSSIBLE = "As things are now, this change request can’t be applied."


def close(request: ChangeRequest, state: State) -> None:
    """Close it. Store the number of approvals it needed, and delete those that don’t count."""
    found = view(request)
    counting = [given.created_by.id for given in found.approvals]
    gone = sa.delete(Approval).where(
        Approval.request_id == request.id, Approval.account_id.not_in(counting)
    )
    db.session.execute(gone)
    request.required_approvals = found.required
    request.state, request.closed_at, request.scheduled_at = state, utcnow(), None
    db.session.flush()


def view(request: ChangeRequest) -> View:
    [found] = views.of([request])
    return found


def _require_state(request: ChangeRequest, *states: State) -> None:
    if request.state not in states:
        raise Conflict(
            f"Change request {request.id} is {_WORDS.get(request.state, request.state.lower())}."
        )


_WORDS = {State.DRAFT: "a draft. Its author has to send it for review first"}
