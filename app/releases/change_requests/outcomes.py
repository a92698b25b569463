"""The outcome of a change request: what applications get once it is applied.

People approve that. If something else changes it, the request needs their approvals again.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import sqlalchemy as sa

from app.catalogue.approvals import guard
from app.catalogue.approvals.guard import DELIVERED, Effect, Place
from app.catalogue.features import delivered
from app.catalogue.features.delivered import Document
from app.catalogue.releases import queries as queries_of_releases
from app.catalogue.releases import service as releases
from app.catalogue.releases.models import FORMER
from app.core.actor import Actor
from app.core.db import db
from app.core.errors import Conflict, DomainError
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.events.words import sentence
from app.core.permissions import Role
from app.releases.change_requests import mailing, queries
from app.releases.change_requests.actions import trace
from app.releases.change_requests.models import (
    ON_RELEASE,
    OPEN_REQUESTS,
    PLAN,
    Change,
    ChangeRequest,
    Outcome,
    State,
    StepKind,
)
from app.releases.change_requests.snapshots import SubjectSnapshot
from app.releases.change_requests.steps import note

TYPES = DELIVERED | {EventType.DEFAULT_STRATEGY_UPDATED, EventType.PROJECT_UPDATED}
"""Events after which a change request may lead to something else."""


TracedChange = tuple[Change, SubjectSnapshot, SubjectSnapshot]
"""A change with the snapshots before and after it."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What applying a request would do: each change with its snapshots, and the outcome."""

    changes: list[TracedChange]
    outcome: list[Effect]


def place_of(request: ChangeRequest) -> Place:
    return Place(request.project_id, request.environment)


def try_out(actor: Actor, request: ChangeRequest) -> Trial:
    """Make all changes, and undo them.

    Raises:
        DomainError: what the service of a change refuses.

    """
    place, since = place_of(request), len(events.recorded())

    def act() -> tuple[list[TracedChange], dict[str, Any]]:
        changes = list(trace(actor, place, request.changes))
        releases.check(since)
        return changes, planned(request)

    (changes, plans), outcome = guard.trial(actor, place, act)
    return Trial(changes, _with_plans(place, outcome, plans))


def planned(request: ChangeRequest) -> dict[str, Any]:
    """What the releases that it starts or goes on with will do, by feature; see ``PLAN``."""
    ids = {each.feature_id for each in request.changes if each.action in ON_RELEASE}
    latest = queries_of_releases.latest({id for id in ids if id is not None})
    found = {}
    for change in request.changes:
        release = latest.get((change.feature_id or 0, request.environment))
        if change.action in ON_RELEASE and release is not None and release.warrant is not None:
            found[change.subject] = {
                "whenStopped": release.warrant[FORMER] if release.restores else None,
                "steps": [
                    {
                        "name": step["name"],
                        "seconds": step["seconds"],
                        "byHand": step["by_hand"],
                        "strategies": release.warrant[step["id"]],
                    }
                    for step in release.steps
                ],
            }
    return found


def _with_plans(place: Place, outcome: list[Effect], plans: Mapping[str, Any]) -> list[Effect]:
    """The outcome, in which the documents of features with a release have its plan."""
    known = {effect.feature: effect for effect in outcome}
    others = plans.keys() - known.keys()  # they start later
    now = delivered.documents(db.session.connection(), place.environment, others)
    for name in others:
        known[name] = Effect(place, name, now.get(name), now.get(name))
    for name, plan in plans.items():
        after = known[name].after or delivered.EMPTY
        known[name] = known[name]._replace(after={**after, PLAN: plan})
    return [known[name] for name in sorted(known)]


def store(request: ChangeRequest, trial: Trial, *, checked_to: int) -> None:
    """Store a trial as what the request leads to, and what its reviewers will see.

    Raises:
        Conflict: when that is too large.

    """
    room = OPEN_REQUESTS.bytes
    for change, before, after in trial.changes:
        change.before, change.after = before, after
        room -= sum(len(json.dumps(each)) for each in (change.payload, before, after))
    if room < 0:
        raise Conflict("This is too much for one change request. Propose it in several.")
    known = {row.feature: row for row in _rows(request)}
    for effect in trial.outcome:
        row = known.pop(effect.feature, None) or Outcome(feature=effect.feature)
        row.before, row.after, row.approved = effect.before, effect.after, effect.after
        db.session.add(row)
        row.request_id = request.id
    for row in known.values():
        db.session.delete(row)
    request.digest = _digest({effect.feature: effect.after for effect in trial.outcome})
    request.is_outdated, request.obstacle, request.checked_to = False, None, checked_to
    db.session.flush()


def accept(request: ChangeRequest) -> None:
    """Note that people have approved what the request leads to now."""
    request.is_outdated = False
    for row in _rows(request):
        row.approved = row.after
    db.session.flush()


def permit(request: ChangeRequest, *, since: int) -> bool:
    """Let the guard pass what applying the request has just changed, if people approved that.

    ``since``: how many entries ``events.recorded`` had before.
    """
    query = sa.select(Outcome.feature, Outcome.after).where(Outcome.request_id == request.id)
    documents: dict[str, Document] = {
        name: after or {} for name, after in db.session.execute(query)
    }
    plans = {name: after[PLAN] for name, after in documents.items() if PLAN in after}
    approved = {name: _without_plan(after) for name, after in documents.items()}
    return guard.approve(place_of(request), approved, since=since) and plans == planned(request)


def _without_plan(document: Document) -> Document | None:
    """The document as applications get it; None: the feature is off for them."""
    rest = {key: value for key, value in document.items() if key != PLAN}
    return rest if rest and rest != delivered.EMPTY else None


def refresh(request: ChangeRequest) -> bool:
    """Try an open request out again if something that it touches has changed since.

    Return whether it leads to something else now. Then approvals no longer count, and a schedule is
    cancelled. The history says who changed what.
    """
    checked_to = events.end().last_id
    cause, is_known = _last_event(request), request.digest is not None
    if cause is None and is_known:
        return False
    former = request.digest, request.obstacle
    acting = Actor(request.created_by_id, request.created_by, Role.ADMIN)
    try:
        trial = try_out(acting, request)
    except DomainError as error:
        request.obstacle = error.message
    else:
        request.obstacle = None
        _update(request, trial)
    request.checked_to = checked_to
    if (request.digest, request.obstacle) == former:
        return False
    request.version += 1
    if request.state is State.SCHEDULED:
        mailing.schedule_failed(request, "it leads to something else than what was approved")
        request.state, request.scheduled_at, request.failure = State.IN_REVIEW, None, None
    if request.state is not State.DRAFT and cause is not None and is_known:
        by = Actor(cause.created_by_user_id, cause.created_by, Role.VIEWER)
        type = EventType.CHANGE_REQUEST_OUTDATED
        text = f"Event {cause.id}: {cause.created_by} {sentence(cause)}."
        note(by, request, StepKind.CHANGED, type, text=text, cause=cause.id)
    db.session.flush()
    return True


def _update(request: ChangeRequest, trial: Trial) -> None:
    """Store what the request leads to now, beside what people had approved, if anyone had."""
    had_approvals = request.is_outdated or bool(queries.approvals([request.id]))
    for change, before, after in trial.changes:
        change.before, change.after = before, after
    rows = {row.feature: row for row in _rows(request)}
    outcome = {effect.feature: (effect.before, effect.after) for effect in trial.outcome}
    others = rows.keys() - outcome.keys()  # the request doesn’t change them now
    now = delivered.documents(db.session.connection(), request.environment, others)
    outcome |= {name: (now.get(name), now.get(name)) for name in others}
    for name, (before, after) in outcome.items():
        row = rows.get(name)
        if row is None:
            row = rows[name] = Outcome(request_id=request.id, feature=name, approved=before)
            db.session.add(row)
        row.before, row.after = before, after
        if not had_approvals:
            row.approved = after
    request.digest = _digest({name: after for name, (_, after) in outcome.items()})
    request.is_outdated = any(row.approved != row.after for row in rows.values())


def _rows(request: ChangeRequest) -> list[Outcome]:
    query = sa.select(Outcome).where(Outcome.request_id == request.id).order_by(Outcome.feature)
    return list(db.session.scalars(query))


def _last_event(request: ChangeRequest) -> Event | None:
    query = (
        sa.select(Event)
        .join(ChangeRequest, ChangeRequest.id == request.id)
        .where(*is_about(Event))
        .order_by(Event.id.desc())
    )
    return db.session.scalar(query.limit(1))


def is_about(event: type[Event]) -> tuple[sa.ColumnElement[bool], ...]:
    """Whether a change request may lead to something else since the event."""
    return (
        event.id > ChangeRequest.checked_to,
        event.type.in_(TYPES),
        sa.or_(event.project.is_(None), event.project == ChangeRequest.project_id),
        sa.or_(
            event.feature_name.is_(None),
            sa.exists()
            .where(Change.request_id == ChangeRequest.id, Change.subject == event.feature_name)
            .correlate_except(Change),
            sa.exists()
            .where(Outcome.request_id == ChangeRequest.id, Outcome.feature == event.feature_name)
            .correlate_except(Outcome),
            # What is done to a segment or to the project may reach any feature.
            ChangeRequest.id.in_(sa.select(Change.request_id).where(Change.feature_id.is_(None))),
        ),
    )


def _digest(outcome: Mapping[str, Any]) -> str:
    text = json.dumps(outcome, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()
