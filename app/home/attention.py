"""What needs someone's attention: a few things, each with one next step."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from app.change_requests import queries as change_requests
from app.change_requests import words
from app.change_requests.models import Change, ChangeRequest, State, Step, StepKind
from app.config.allowed_hosts import AllowedHost
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db
from app.core.permissions import Permission
from app.core.words import counted, spoken
from app.events.models import Event, EventType
from app.features import lifecycle
from app.features.models import Feature
from app.features.stale import StaleFilter
from app.projects import service as projects
from app.projects.approvals import shortages
from app.projects.models import Membership, Project
from app.sdk_tokens import service as sdk_tokens
from app.sdk_tokens.models import SdkTokenState
from app.users import inactive
from app.webhooks import traffic as webhooks

BACKUPS_EVERY = timedelta(days=7)
NEWS = timedelta(days=7)
"""How long someone reads that their change request was rejected."""
NAMED = 2


class Kind(StrEnum):
    """What an item is about, by which its page finds the next step."""

    TO_APPROVE = "to-approve"
    TO_APPLY = "to-apply"
    FAILED = "failed"
    REJECTED = "rejected"
    BACKUP = "backup"
    EVALUATION = "evaluation"
    APPROVERS = "approvers"
    WEBHOOKS = "webhooks"
    TOKENS = "tokens"
    UNUSED = "unused"
    EVERYWHERE = "everywhere"
    INACTIVE = "inactive"
    OWNERLESS = "ownerless"


class Tone(StrEnum):
    INFO = "info"
    WARNING = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Item:
    """``place``: what the address of the next step needs, such as a project's id."""

    kind: Kind
    tone: Tone
    says: str
    more: str
    place: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Facts:
    """What is not in the database.

    ``inactive_after``, ``stale_after``, ``webhook_hosts``: as the settings have them.
    ``unevaluable``: why features can't be evaluated, by environment and name.
    """

    inactive_after: timedelta
    stale_after: timedelta
    webhook_hosts: Sequence[AllowedHost]
    unevaluable: Mapping[str, Mapping[str, str]]


def items(actor: Actor, facts: Facts) -> list[Item]:
    """All that needs the actor, in the order of what to do first."""
    return [item for source in _SOURCES for item in source(actor, facts)]


def _failed(actor: Actor, _: Facts) -> Iterator[Item]:
    """Schedules that did not work, of requests that the actor wrote or scheduled."""
    own = sa.or_(ChangeRequest.created_by_id == actor.id, ChangeRequest.scheduled_by_id == actor.id)
    query = change_requests.rows(actor, state=State.SCHEDULED).where(
        own, ChangeRequest.failure.is_not(None)
    )
    for request in db.session.scalars(query.limit(NAMED)):
        yield Item(
            Kind.FAILED,
            Tone.BAD,
            f"Change request {request.id} could not be applied",
            request.failure or "",
            _place(request),
        )


def _to_approve(actor: Actor, _: Facts) -> Iterator[Item]:
    count, oldest = _waiting(actor, "approval")
    if oldest is not None:
        waits = "waits" if count == 1 else "wait"
        says = f"{counted(count, 'change request')} {waits} for your approval"
        more = f"The oldest: {_title(oldest)}"
        yield Item(Kind.TO_APPROVE, Tone.INFO, says, more, _place(oldest) if count == 1 else {})


def _to_apply(actor: Actor, _: Facts) -> Iterator[Item]:
    count, oldest = _waiting(actor, "applying")
    if oldest is not None:
        says = f"{counted(count, 'change request')} can be applied"
        more = f"Approved: {_title(oldest)}"
        yield Item(Kind.TO_APPLY, Tone.INFO, says, more, _place(oldest) if count == 1 else {})


def _rejected(actor: Actor, _: Facts) -> Iterator[Item]:
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
        yield Item(
            Kind.REJECTED, Tone.INFO, says, f"By {step.created_by}: “{step.text}”", _place(request)
        )


def _backup(actor: Actor, _: Facts) -> Iterator[Item]:
    if not actor.is_admin:
        return
    first = _time_of(Event.id.asc())
    last = _time_of(Event.id.desc(), Event.type == EventType.BACKUP_CREATED)
    since = last or first
    if since is None or since > utcnow() - BACKUPS_EVERY:
        return
    days = counted((utcnow() - since).days, "day")
    says = f"No backup for {days}" if last else "No backup yet"
    yield Item(Kind.BACKUP, Tone.BAD, says, "Create one with the command flagstaff backup")


def _evaluation(actor: Actor, facts: Facts) -> Iterator[Item]:
    if not actor.is_admin:
        return
    for environment, problems in sorted(facts.unevaluable.items()):
        says = f"{counted(len(problems), 'feature')} can’t be evaluated in {environment}"
        more = f"Off for everyone there: {_some(sorted(problems)[:NAMED], len(problems))}"
        yield Item(Kind.EVALUATION, Tone.BAD, says, more)


def _approvers(actor: Actor, _: Facts) -> Iterator[Item]:
    """Only where nothing can be approved at all."""
    able = [id for id in actor.project_roles if actor.may(Permission.UPDATE_PROJECT, id)]
    conditions = [] if actor.is_admin else [Project.id.in_(able)]
    if not actor.is_admin and not able:
        return
    found = [each for each in shortages(*conditions) if each.people < each.required]
    for each in found[:NAMED]:
        says = f"No one can approve changes in {each.environment} of {each.project_id}"
        people = counted(each.people, "person", "people")
        more = f"They need {counted(each.required, 'approval')}, and {people} can approve"
        place = {"project_id": each.project_id}
        yield Item(Kind.APPROVERS, Tone.WARNING, says, more, place)


def _webhooks(actor: Actor, facts: Facts) -> Iterator[Item]:
    if actor.is_admin:
        for webhook, says in webhooks.problems(facts.webhook_hosts)[:NAMED]:
            title = f"Webhook {webhook.name} needs a look"
            yield Item(Kind.WEBHOOKS, Tone.WARNING, title, says, {"webhook_id": webhook.id})


def _tokens(actor: Actor, _: Facts) -> Iterator[Item]:
    if not actor.may(Permission.READ_CLIENT_API_TOKEN):
        return
    found = sdk_tokens.search(limit=NAMED, offset=0, state=SdkTokenState.EXPIRING)
    if found.total:
        expires = "expires" if found.total == 1 else "expire"
        says = f"{counted(found.total, 'SDK token')} {expires} within 30 days"
        names = [f"{token.name} in {token.environment}" for token in found.items]
        yield Item(Kind.TOKENS, Tone.WARNING, says, _some(names, found.total))


def _unused(actor: Actor, facts: Facts) -> Iterator[Item]:
    count, names = _proposed(actor, facts, StaleFilter.UNUSED)
    if count:
        have = "hasn’t" if count == 1 else "haven’t"
        says = f"{counted(count, 'feature')} {have} been used for {_days(facts.stale_after)}"
        yield Item(Kind.UNUSED, Tone.WARNING, says, _some(names, count))


def _everywhere(actor: Actor, facts: Facts) -> Iterator[Item]:
    count, names = _proposed(actor, facts, StaleFilter.EVERYWHERE)
    if count:
        verb = "has" if count == 1 else "have"
        says = (
            f"{counted(count, 'feature')} {verb} been on for everyone for "
            f"{_days(facts.stale_after)}"
        )
        yield Item(Kind.EVERYWHERE, Tone.WARNING, says, _some(names, count))


def _inactive(actor: Actor, facts: Facts) -> Iterator[Item]:
    if not actor.is_admin or not facts.inactive_after:
        return
    found = inactive.search(after=facts.inactive_after, limit=NAMED, offset=0)
    if found.total:
        verb = "has" if found.total == 1 else "have"
        days = _days(facts.inactive_after)
        names = [account.called for account, _ in found.items]
        says = f"{counted(found.total, 'user')} {verb} been inactive for {days}"
        yield Item(Kind.INACTIVE, Tone.WARNING, says, _some(names, found.total))


def _ownerless(actor: Actor, _: Facts) -> Iterator[Item]:
    if not actor.is_admin:
        return
    found = projects.search(
        actor, archived=False, limit=NAMED, offset=0, membership=Membership.OWNERLESS
    )
    if found.total:
        verb = "has" if found.total == 1 else "have"
        names = [project.name for project in found.items]
        says = f"{counted(found.total, 'project')} {verb} no Owner"
        yield Item(Kind.OWNERLESS, Tone.WARNING, says, _some(names, found.total))


_SOURCES: tuple[Callable[[Actor, Facts], Iterator[Item]], ...] = (
    _failed,
    _to_approve,
    _to_apply,
    _rejected,
    _backup,
    _evaluation,
    _approvers,
    _webhooks,
    _tokens,
    _unused,
    _everywhere,
    _inactive,
    _ownerless,
)


def _waiting(actor: Actor, what: str) -> tuple[int, ChangeRequest | None]:
    """How many change requests wait for the actor, and the oldest."""
    query = change_requests.rows(actor, waits_for=what, sort="id")
    number = sa.select(sa.func.count()).select_from(query.order_by(None).subquery())
    count = db.session.scalar(number) or 0
    return count, db.session.scalar(query.limit(1)) if count else None


def _proposed(actor: Actor, facts: Facts, reason: StaleFilter) -> tuple[int, list[str]]:
    """The features of the actor's own projects that look ready to go."""
    if not facts.stale_after:
        return 0, []
    able = [id for id in actor.project_roles if actor.may(Permission.UPDATE_FEATURE, id)]
    if not able:
        return 0, []
    own = sa.select(Project.id).where(Project.id.in_(able), Project.archived_at.is_(None))
    query = lifecycle.matching(own, stale_after=facts.stale_after, stale_proposal=reason)
    names = query.with_only_columns(Feature.name)
    count = db.session.scalar(
        sa.select(sa.func.count()).select_from(names.order_by(None).subquery())
    )
    return count or 0, list(db.session.scalars(names.limit(NAMED))) if count else []


def _time_of(order: sa.ColumnElement[Any], *conditions: sa.ColumnElement[bool]) -> datetime | None:
    return db.session.scalar(
        sa.select(Event.created_at).where(*conditions).order_by(order).limit(1)
    )


def _title(request: ChangeRequest) -> str:
    changes: list[Change] = request.changes
    return request.title or words.title(changes)


def _place(request: ChangeRequest) -> dict[str, Any]:
    return {"project_id": request.project_id, "id": request.id}


def _some(names: Iterable[str], total: int) -> str:
    shown = list(names)
    rest = total - len(shown)
    return spoken([*shown, f"{rest:,} more"]) if rest else spoken(shown)


def _days(time: timedelta) -> str:
    return counted(time.days, "day")
