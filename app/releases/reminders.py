"""Reminders of change requests and releases that need the reader."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from app.catalogue.features.models import Feature
from app.catalogue.releases import queries as releases
from app.catalogue.releases.models import Release, ReleaseState
from app.catalogue.releases.queries import Located
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db
from app.core.paging import page_of
from app.core.reminders import NAMED, HomeContext, Item, Tone
from app.core.words import counted
from app.releases.change_requests import queries as change_requests
from app.releases.change_requests import words
from app.releases.change_requests.models import Change, ChangeRequest, State, Step, StepKind
from app.releases.plans import views
from app.releases.plans.views import ReleaseView

NEWS = timedelta(days=7)
"""How long authors are reminded that their change request was rejected."""


def failed(actor: Actor, _: HomeContext) -> Iterator[Item]:
    """Schedules that did not work, of requests that the actor wrote or scheduled."""
    own = sa.or_(ChangeRequest.created_by_id == actor.id, ChangeRequest.scheduled_by_id == actor.id)
    query = change_requests.rows(actor, state=State.SCHEDULED).where(
        own, ChangeRequest.failure.is_not(None)
    )
    for request in db.session.scalars(query.limit(NAMED)):
        yield Item(
            Tone.BAD,
            f"Change request {request.id} could not be applied",
            request.failure or "",
            _place(request),
        )


def changed(actor: Actor, _: HomeContext) -> Iterator[Item]:
    """The actor’s requests that can’t go on as they are, since something else has changed."""
    query = change_requests.rows(actor, state=State.IN_REVIEW).where(
        ChangeRequest.created_by_id == actor.id,
        sa.or_(ChangeRequest.is_outdated, ChangeRequest.obstacle.is_not(None)),
    )
    for request in db.session.scalars(query.limit(NAMED)):
        says = f"Change request {request.id} has changed since it was approved"
        if request.obstacle:
            says = f"Change request {request.id} can’t be applied any more"
        yield Item(Tone.WARNING, says, request.obstacle or _title(request), _place(request))


def to_approve(actor: Actor, _: HomeContext) -> Iterator[Item]:
    count, oldest = _waiting(actor, "approval")
    if oldest is not None:
        waits = "waits" if count == 1 else "wait"
        says = f"{counted(count, 'change request')} {waits} for your approval"
        more = f"The oldest: {_title(oldest)}"
        yield Item(Tone.INFO, says, more, _place(oldest) if count == 1 else {})


def to_apply(actor: Actor, _: HomeContext) -> Iterator[Item]:
    count, oldest = _waiting(actor, "applying")
    if oldest is not None:
        says = f"{counted(count, 'change request')} can be applied"
        more = f"Approved: {_title(oldest)}"
        yield Item(Tone.INFO, says, more, _place(oldest) if count == 1 else {})


def rejected(actor: Actor, _: HomeContext) -> Iterator[Item]:
    query = (
        change_requests.rows(actor, state=State.REJECTED)
        .join(Step, Step.request_id == ChangeRequest.id)
        .where(
            ChangeRequest.created_by_id == actor.id,
            ChangeRequest.closed_at > utcnow() - NEWS,
            Step.kind == StepKind.REJECTED,
        )
        .add_columns(Step)
    )
    for request, step in db.session.execute(query.limit(NAMED)):
        says = f"Your change request {request.id} was rejected"
        yield Item(Tone.INFO, says, f"By {step.created_by}: “{step.text}”", _place(request))


def held(actor: Actor, _: HomeContext) -> Iterator[Item]:
    """Releases on hold, and those that couldn’t start at their time."""
    could_not = sa.and_(Release.state == ReleaseState.DRAFT, Release.reason.is_not(None))
    for view in _releases(actor, sa.or_(Release.state == ReleaseState.HELD, could_not)):
        release = view.release
        if hold := release.hold:
            who = view.step.reached if view.step else "no one"
            reason = f"{hold['reason'].rstrip('.')}. " if hold["reason"] else ""
            more = f"{reason}On for {who} in {release.environment}"
            yield Item(Tone.WARNING, f"Release on hold: {view.feature}", more, _feature(view))
        else:
            says = f"Release couldn’t start: {view.feature}"
            yield Item(Tone.WARNING, says, release.reason or "", _feature(view))


def waiting(actor: Actor, _: HomeContext) -> Iterator[Item]:
    """Releases whose next step someone can start now."""
    for view in _releases(actor, releases.waits_for_someone()):
        step = view.next.name if view.next else "The next step"
        more = f"“{step}” can start in {view.release.environment}"
        yield Item(Tone.INFO, f"Release waiting for someone: {view.feature}", more, _feature(view))


def _releases(actor: Actor, which: sa.ColumnElement[bool]) -> list[ReleaseView]:
    """A few releases that the actor created, or of their projects."""
    own = sa.or_(Release.created_by_id == actor.id, Feature.project_id.in_(actor.project_roles))
    query = releases.rows(actor, is_open=True).where(own, which).limit(NAMED)
    return views.of([Located(*row) for row in db.session.execute(query)])


def _feature(view: ReleaseView) -> dict[str, Any]:
    anchor = f"released-in-{view.release.environment}"
    return {"project_id": view.project_id, "name": view.feature, "_anchor": anchor}


def _waiting(actor: Actor, what: str) -> tuple[int, ChangeRequest | None]:
    """Number of change requests that wait for the actor, and the oldest of them."""
    page = page_of(change_requests.rows(actor, waits_for=what, sort="id"), limit=1, offset=0)
    return page.total, next(iter(page.items), None)


def _title(request: ChangeRequest) -> str:
    changes: list[Change] = request.changes
    return request.title or words.title(changes)


def _place(request: ChangeRequest) -> dict[str, Any]:
    return {"project_id": request.project_id, "id": request.id}
