"""Reading change requests; setting their titles, reviewers and comments."""

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta
from typing import Any, Unpack

import sqlalchemy as sa
from sqlalchemy.orm import selectinload

from app.catalogue.projects import service as projects
from app.catalogue.receipts.service import Receipts, of_batch
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db, locked
from app.core.errors import Conflict, Detail, Invalid, NoAccess, NotFound, PreconditionFailed
from app.core.events.event_types import EventType
from app.core.paging import Page, page_of
from app.releases.change_requests import mailing, outcomes, queries, steps, views
from app.releases.change_requests.models import (
    CLOSED,
    ON_PROJECT,
    Approval,
    Change,
    ChangeRequest,
    Reviewer,
    State,
    StepKind,
)
from app.releases.change_requests.queries import Filters
from app.releases.change_requests.views import View

OVERLAPPING_SHOWN = 10
LATELY = timedelta(days=30)
"""How long a project shows changes that were made without approval."""


def drafts_of(
    actor: Actor, project_id: str, environment: str, *, for_change: bool = False
) -> list[ChangeRequest]:
    """The actor’s drafts for this environment, the latest first; the command line has none.

    What is done to the project has a draft of its own, to which nothing is added.
    """
    if actor.id is None:
        return []
    query = (
        sa.select(ChangeRequest)
        .where(
            ChangeRequest.created_by_id == actor.id,
            ChangeRequest.project_id == project_id,
            ChangeRequest.environment == environment,
            ChangeRequest.state == State.DRAFT,
            ~sa.exists().where(
                Change.request_id == ChangeRequest.id, Change.action.in_(ON_PROJECT)
            ),
        )
        .order_by(ChangeRequest.id.desc())
        .options(selectinload(ChangeRequest.changes))
    )
    if for_change:
        query = locked(query, of=ChangeRequest)
    return list(db.session.scalars(query))


def search(actor: Actor, *, limit: int, offset: int, **filters: Unpack[Filters]) -> Page[View]:
    page = page_of(queries.rows(actor, **filters), limit=limit, offset=offset)
    return page.of(views.of(page.items))


def in_project(
    actor: Actor, project_id: str, *, limit: int, offset: int, **filters: Unpack[Filters]
) -> Page[View]:
    projects.require(actor, project_id)
    filters["project"] = project_id
    return search(actor, limit=limit, offset=offset, **filters)


def count(actor: Actor, project_id: str) -> dict[State, int]:
    """Number of a project’s change requests by state, without drafts."""
    projects.require(actor, project_id)
    return queries.numbers(project_id)


def bypasses(actor: Actor, project_id: str) -> int:
    """Number of recent changes in a project that were made without approval."""
    projects.require(actor, project_id)
    return queries.bypasses(project_id, utcnow() - LATELY)


def get(actor: Actor, project_id: str, id: int) -> View:
    """A change request, with its outcome."""
    projects.require(actor, project_id)
    query = _rows(actor, project_id, id).options(selectinload(ChangeRequest.outcomes))
    request = db.session.scalar(query.execution_options(populate_existing=True))
    if request is None:
        raise _not_found(project_id, id)
    [view] = views.of([request])
    return replace(view, outcomes=request.outcomes)


def receipts(actor: Actor, project_id: str, id: int) -> Receipts:
    """Return the receipts of what a request changed.

    Raises:
        NotFound: also if it isn't applied, or changed nothing that applications read.

    """
    request = get(actor, project_id, id).request
    if request.batch_id is None:
        raise NotFound(f"Change request {id} has not been applied.")
    found = of_batch(request.batch_id, request.environment)
    if found is None:
        raise NotFound(f"The log has no change for applications by change request {id}.")
    return found


def overlapping(actor: Actor, request: ChangeRequest) -> list[ChangeRequest]:
    """Other open change requests about the same features and environment, oldest first."""
    features = {change.feature_id for change in request.changes if change.feature_id}
    query = queries.rows(
        actor, project=request.project_id, environment=request.environment, sort="id"
    ).where(
        ChangeRequest.id != request.id,
        ChangeRequest.state.not_in(CLOSED),
        sa.exists().where(Change.request_id == ChangeRequest.id, Change.feature_id.in_(features)),
    )
    return list(db.session.scalars(query.limit(OVERLAPPING_SHOWN)))


def get_for_change(
    actor: Actor, project_id: str, id: int, *, version: int | None = None
) -> ChangeRequest:
    """A change request that is open, locked until the transaction ends.

    ``version``: the version that the actor has seen.

    Raises:
        Conflict: when it is closed.
        PreconditionFailed: when it was edited since, or leads to something else.

    """
    projects.require_for_content(actor, project_id)
    # Decisions don’t look at the snapshots, which are most of its bytes.
    without = sa.orm.defer(Change.before), sa.orm.defer(Change.after)
    query = _rows(actor, project_id, id).options(
        selectinload(ChangeRequest.changes).options(*without)
    )
    request = db.session.scalar(locked(query, of=ChangeRequest))
    if request is None:
        raise _not_found(project_id, id)
    if not request.is_open:
        raise Conflict(f"Change request {id} is closed: {request.state.lower()}.")
    outcomes.refresh(request)
    if version is not None and version != request.version:
        raise PreconditionFailed(
            "This change request, or what it leads to, has changed since you read it. Read it "
            "again, then decide."
        )
    return request


def describe(
    actor: Actor, request: ChangeRequest, *, title: str | None, description: str | None
) -> bool:
    """Set title and description. Return whether anything changed. Approvals stay."""
    require_author(actor, request)
    before = (request.title, request.description)
    request.title, request.description = title or None, description or None
    if (request.title, request.description) == before:
        return False
    db.session.flush()
    if request.state is not State.DRAFT:
        steps.note(actor, request, StepKind.EDITED, EventType.CHANGE_REQUEST_EDITED)
    return True


def comment(actor: Actor, request: ChangeRequest, text: str) -> None:
    if request.state is State.DRAFT:
        raise Conflict("No one else can read a draft. Send it for review first.")
    steps.note(actor, request, StepKind.COMMENTED, EventType.CHANGE_REQUEST_COMMENTED, text=text)


def set_reviewers(actor: Actor, request: ChangeRequest, ids: Collection[int]) -> None:
    """Replace the people who are asked for a review. Each must be able to approve it."""
    require_author(actor, request)
    able = {account.id for account in reviewers(request)}
    unable: list[Detail] = [
        {"path": f"/reviewers/{place}", "message": f"Account {id} cannot approve this."}
        for place, id in enumerate(ids)
        if id not in able
    ]
    if unable:
        raise Invalid.because(unable)
    asked = sa.delete(Reviewer).where(Reviewer.request_id == request.id)
    before = set(db.session.scalars(asked.returning(Reviewer.account_id)))
    db.session.add_all(Reviewer(request_id=request.id, account_id=id) for id in sorted(set(ids)))
    db.session.flush()
    if request.state is State.IN_REVIEW:
        mailing.ask_for_review(actor, request, set(ids) - before)


def reviewers(request: ChangeRequest) -> list[Any]:
    """People whose approval would count: all who can approve, except the author."""
    return queries.approvers(request.project_id, but=request.created_by_id)


def forget_approvals(request: ChangeRequest) -> None:
    db.session.execute(sa.delete(Approval).where(Approval.request_id == request.id))


def require_author(actor: Actor, request: ChangeRequest) -> None:
    if not is_author(actor, request):
        raise NoAccess(
            f"Change request {request.id} is {request.created_by}’s. Only they can edit it."
        )


def is_author(actor: Actor, request: ChangeRequest) -> bool:
    if actor.id is None:
        return request.created_by_id is None and request.created_by == actor.username
    return request.created_by_id == actor.id


def _rows(actor: Actor, project_id: str, id: int) -> sa.Select[ChangeRequest]:
    return queries.rows(actor, project=project_id).where(ChangeRequest.id == id)


def _not_found(project_id: str, id: int) -> NotFound:
    return NotFound(f"Project {project_id} has no change request {id}.")
