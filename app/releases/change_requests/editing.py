"""Proposing changes where they need approvals, and editing proposals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from app.accounts.models import Account
from app.catalogue.approvals.guard import Place
from app.catalogue.features import queries as features
from app.catalogue.projects import service as projects
from app.catalogue.segments import service as segments
from app.catalogue.strategies.service import project_environment
from app.core.actor import Actor
from app.core.db import db, locked, save
from app.core.errors import Conflict, Detail, DomainError, Invalid, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.words import counted, listed
from app.releases.change_requests import outcomes, service, snapshots, steps
from app.releases.change_requests.actions import PERMISSIONS, REPEATABLE, completed
from app.releases.change_requests.models import (
    CLOSED,
    MAX_CHANGES,
    NEW_DRAFT,
    OPEN_REQUESTS,
    Action,
    Approval,
    Change,
    ChangeRequest,
    Outcome,
    Reviewer,
    State,
    Step,
    StepKind,
)
from app.releases.change_requests.queries import is_by


@dataclass(frozen=True, slots=True)
class Proposal:
    """One change to propose. ``feature``: its name; None for a segment or the project."""

    feature: str | None
    action: Action
    payload: Any


def propose(
    actor: Actor,
    project_id: str,
    environment: str,
    proposals: Sequence[Proposal],
    *,
    into: int | None = NEW_DRAFT,
) -> ChangeRequest:
    """Add changes to a draft of the actor for this environment.

    A change replaces an earlier one with the same action and subject. All are tried out, so a
    change that couldn’t be applied is refused now. All or none. ``into``: the id of the draft,
    NEW_DRAFT, or None for the one that they began last, if there is any. What is done to the
    project takes a draft of its own.
    """
    projects.require_for_content(actor, project_id)
    if not project_environment(project_id, environment).required_approvals:
        raise Conflict(
            f"Changes in {environment} of project {project_id} need no approval. Make them without "
            "a change request."
        )
    for proposal in proposals:
        _require_permission(actor, project_id, proposal)
    is_on_project = any(proposal.action.is_on_project for proposal in proposals)
    if is_on_project and len(proposals) > 1:
        raise Conflict(
            "What is done to approvals or to the project takes a change request of its own. "
            "Propose one change at a time."
        )
    request = None
    if into != NEW_DRAFT and not is_on_project:
        request = _draft(actor, project_id, environment, into)
    if request is None:
        request = _begin(actor, project_id, environment)
    _add(actor, request, _changes(actor, outcomes.place_of(request), proposals))
    return request


def edit(actor: Actor, request: ChangeRequest, change_id: int, proposal: Proposal) -> None:
    """Replace the content of one change.

    Raises:
        NoAccess: when the actor is not the author.

    """
    service.require_author(actor, request)
    change = _change(request, change_id)
    if proposal.action is not change.action:
        raise Invalid.at("/action", f"Must stay {change.action.value}. Or discard this change.")
    if change.action.is_on_feature and proposal.feature != change.subject:
        raise Invalid.at("/feature", f"Must stay {change.subject}. Or discard this change.")
    if change.segment_id is not None and proposal.payload["id"] != change.segment_id:
        raise Invalid.at("/payload/id", f"Must stay {change.segment_id}. Or discard this change.")
    _require_permission(actor, request.project_id, proposal)
    try:
        [new] = _changes(actor, outcomes.place_of(request), [proposal])
    except Invalid as error:
        raise error.moved("/0/", "/") from None
    if change.action is Action.ADD_STRATEGY:
        new.payload = {**new.payload, "id": change.payload["id"]}
    change.payload, change.subject = new.payload, new.subject
    _try_out(actor, request, [change])
    _note_edit(actor, request)


def require_proposer(actor: Actor, request: ChangeRequest) -> None:
    """Refuse an actor who could not propose all of it now."""
    for change in request.changes:
        content = {"id": change.segment_id} if change.segment_id else change.payload
        proposal = Proposal(change.subject, change.action, content)
        _require_permission(actor, request.project_id, proposal)


def discard(actor: Actor, request: ChangeRequest, change_id: int) -> None:
    """Remove one change. A draft without changes is deleted."""
    service.require_author(actor, request)
    change = _change(request, change_id)
    if len(request.changes) == 1:
        if request.state is State.DRAFT:
            discard_draft(actor, request)
            return
        raise Conflict("This is the only change. Cancel the change request instead.")
    request.changes.remove(change)
    db.session.flush()
    _try_out(actor, request)
    _note_edit(actor, request)


def discard_draft(actor: Actor, request: ChangeRequest) -> None:
    """Delete a draft, which no one else has seen."""
    service.require_author(actor, request)
    if request.state is not State.DRAFT:
        raise Conflict(f"Change request {request.id} is not a draft. Cancel it instead.")
    for table in (Outcome, Reviewer, Approval, Step):  # left from before it was withdrawn
        db.session.execute(sa.delete(table).where(table.request_id == request.id))
    followers = sa.update(ChangeRequest).where(ChangeRequest.reverses_id == request.id)
    db.session.execute(followers.values(reverses_id=None))
    db.session.delete(request)
    db.session.flush()


def _change(request: ChangeRequest, id: int) -> Change:
    for change in request.changes:
        if change.id == id:
            return change
    raise NotFound(f"Change request {request.id} has no change {id}.")


def _require_permission(actor: Actor, project_id: str, proposal: Proposal) -> None:
    permission = PERMISSIONS[proposal.action]
    if not proposal.action.is_on_segment:
        projects.require_proposer(actor, permission, project_id)
        return
    segment = segments.get(actor, proposal.payload["id"])
    actor.require(*segments.permission(permission, segment.project_id))


def _draft(actor: Actor, project_id: str, environment: str, id: int | None) -> ChangeRequest | None:
    """The actor’s draft, locked. Without ``id``, the latest, or None."""
    # One at a time: another request of the actor that is under way may begin it.
    author = sa.select(Account.id).where(Account.id == actor.id)
    db.session.execute(locked(author, key_share=True))
    drafts = service.drafts_of(actor, project_id, environment, for_change=True)
    if id is None:
        return drafts[0] if drafts else None
    for draft in drafts:
        if draft.id == id:
            return draft
    raise Conflict(
        f"You have no draft {id} to which changes in {environment} can be added. It may have been "
        "sent for review. Choose another, or begin a new one."
    )


def _begin(actor: Actor, project_id: str, environment: str) -> ChangeRequest:
    OPEN_REQUESTS.require_room(
        is_by(actor.id),
        ChangeRequest.project_id == project_id,
        ChangeRequest.state.not_in(CLOSED),
        remedy="Cancel or discard some first.",
    )
    request = ChangeRequest(
        project_id=project_id,
        environment=environment,
        created_by=actor.username,
        created_by_id=actor.id,
        changes=[],
    )
    save(request)
    return request


def _changes(actor: Actor, place: Place, proposals: Sequence[Proposal]) -> list[Change]:
    """Build the changes, with the names and ids of their subjects."""
    known = features.find(place.project, {p.feature for p in proposals if p.feature})
    unknown: list[Detail] = [
        {
            "path": f"/{number}/feature",
            "message": f"There is no feature named {proposal.feature} in project {place.project}.",
        }
        for number, proposal in enumerate(proposals)
        if proposal.feature and proposal.feature not in known
    ]
    if unknown:
        raise Invalid.because(unknown)
    made = []
    for number, proposal in enumerate(proposals):
        content = proposal.feature or "", proposal.action, proposal.payload
        try:
            change = Change(action=proposal.action, payload=completed(actor, place, *content))
        except Invalid as error:
            raise error.moved("/", f"/{number}/payload/") from None
        if proposal.feature:
            change.feature_id = known[proposal.feature].id
            change.subject = proposal.feature
        elif proposal.action.is_on_segment:
            change.segment_id = proposal.payload["id"]
            change.subject = segments.get(actor, proposal.payload["id"]).name
        else:
            change.subject = place.project
        made.append(change)
    return made


def _add(actor: Actor, request: ChangeRequest, changes: list[Change]) -> None:
    former = {_key(each): each for each in request.changes if each.action not in REPEATABLE}
    fresh = []
    for change in changes:
        earlier = former.get(_key(change))
        if earlier is None:
            request.changes.append(change)
            if change.action not in REPEATABLE:
                former[_key(change)] = change
        elif change.action in {Action.UPDATE_STRATEGY, Action.UPDATE_SEGMENT}:
            earlier.payload = {**earlier.payload, **change.payload}
        else:
            earlier.payload = change.payload
        fresh.append(earlier or change)
    if len(request.changes) > MAX_CHANGES:
        raise Conflict(
            f"A change request can have at most {counted(MAX_CHANGES, 'change')}. Send this one "
            "for review first."
        )
    db.session.flush()
    _try_out(actor, request, fresh)
    request.version += 1


def _key(change: Change) -> object:
    """Key of a change: its action and subject. A change with an equal key replaces it."""
    if change.action in {Action.UPDATE_STRATEGY, Action.DELETE_STRATEGY}:
        return change.action, change.payload["id"]
    return change.action, snapshots.key(change)


def _try_out(actor: Actor, request: ChangeRequest, fresh: Sequence[Change] = ()) -> None:
    """Try all changes out, and store what they lead to.

    Without ``fresh`` changes, a refusal is stored as the obstacle of the request.

    Raises:
        Conflict: when one of the ``fresh`` changes would change nothing.
        DomainError: when one of the changes is refused.

    """
    checked_to = events.end().last_id
    try:
        trial = outcomes.try_out(actor, request)
    except DomainError as error:
        if fresh:
            raise
        request.obstacle, request.checked_to = error.message, checked_to
        return
    outcomes.store(request, trial, checked_to=checked_to)
    idle = [change.subject for change in fresh if change.before == change.after]
    if idle:
        raise Conflict(f"Nothing would change for {listed(idle)}. Leave it out.")


def _note_edit(actor: Actor, request: ChangeRequest) -> None:
    """Count an edit. If the request was sent, record it and delete approvals of the old version."""
    request.version += 1
    if request.state is State.DRAFT:
        return
    request.state, request.scheduled_at, request.failure = State.IN_REVIEW, None, None
    service.forget_approvals(request)
    steps.note(actor, request, StepKind.EDITED, EventType.CHANGE_REQUEST_EDITED)
