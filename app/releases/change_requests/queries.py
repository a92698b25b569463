"""Reading change requests, and who can approve them now."""

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from typing import TypedDict, Unpack

import sqlalchemy as sa
from sqlalchemy.orm import selectinload

from app.accounts.models import Account
from app.accounts.tokens.models import Token
from app.catalogue.projects.models import Approval as Rule
from app.catalogue.projects.models import Project
from app.catalogue.projects.queries import can_approve, visible_projects
from app.core.actor import Actor
from app.core.db import chunks, contains, db
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.paging import sorted_by
from app.core.statements import shared_alias
from app.releases.change_requests.models import (
    CLOSED,
    Approval,
    Change,
    ChangeRequest,
    Reviewer,
    State,
    Step,
)

SORTS = {
    "createdAt": ChangeRequest.created_at,
    "id": ChangeRequest.id,
    "title": sa.func.lower(ChangeRequest.title),
}


class Filters(TypedDict, total=False):
    """``waits_for``: "approval" of the actor, or "applying" by them."""

    text: str
    project: str
    environment: str
    state: State
    states: Collection[State]
    created_by: int
    feature: str
    waits_for: str
    sort: str


_giver = shared_alias(Account, "giver")


def _proposed(
    account: type[Account], author_id: sa.SQLColumnExpression[int | None]
) -> sa.ColumnElement[bool]:
    """Whether the account is the author, or created a token with which the author proposes."""
    made_a_token = (
        sa.exists()
        .where(
            Token.account_id == author_id,
            Token.created_by_id == account.id,
            Token.revoked_at.is_(None),
            Token.seen_expired_at.is_(None),
        )
        .correlate_except(Token)  # also where it stands two levels below the table of author_id
    )
    # Authors without an account have no id.
    return sa.or_(sa.func.coalesce(author_id == account.id, sa.false()), made_a_token)


def _counts(account: type[Account] = Account) -> sa.ColumnElement[bool]:
    """Whether an approval by this account counts for a request."""
    has_proposed = _proposed(account, ChangeRequest.created_by_id)
    return sa.and_(can_approve(ChangeRequest.project_id, account), ~has_proposed)


REQUIRED = sa.func.coalesce(
    ChangeRequest.required_approvals,
    sa.select(Rule.required_approvals)
    .where(
        Rule.project_id == ChangeRequest.project_id,
        Rule.environment == ChangeRequest.environment,
    )
    .correlate(ChangeRequest)
    .scalar_subquery(),
    0,
)
APPROVALS = (
    sa.select(sa.func.count())
    .select_from(Approval)
    .join(_giver, _giver.id == Approval.account_id)
    .where(
        Approval.request_id == ChangeRequest.id,
        Approval.digest == ChangeRequest.digest,
        _counts(_giver),
    )
    .correlate(ChangeRequest)
    .scalar_subquery()
)
IS_APPROVED = APPROVALS >= REQUIRED


def rows(actor: Actor, **filters: Unpack[Filters]) -> sa.Select[ChangeRequest]:
    """The change requests that the actor can see, newest first: drafts are their author’s alone."""
    query = sa.select(ChangeRequest).where(
        ChangeRequest.project_id.in_(visible_projects(actor)), is_seen_by(actor)
    )
    if text := filters.get("text"):
        query = query.where(_matches(text))
    if project := filters.get("project"):
        query = query.where(ChangeRequest.project_id == project)
    if environment := filters.get("environment"):
        query = query.where(ChangeRequest.environment == environment)
    if "state" in filters:
        query = query.where(is_in_state(filters["state"]))
    if "states" in filters:
        query = query.where(sa.or_(sa.false(), *map(is_in_state, filters["states"])))
    if "created_by" in filters:
        query = query.where(is_by(filters["created_by"]))
    if feature := filters.get("feature"):
        query = query.where(_is_about(Change.subject == feature, Change.feature_id.is_not(None)))
    if waits_for := filters.get("waits_for"):
        query = query.where(_WAITS_FOR[waits_for](actor))
    order = sorted_by(filters.get("sort"), SORTS)
    return query.order_by(*order, ChangeRequest.id.desc()).options(
        selectinload(ChangeRequest.changes)
    )


def is_seen_by(actor: Actor) -> sa.ColumnElement[bool]:
    """Whether the actor can see a request of a project that they can see."""
    return sa.or_(ChangeRequest.state != State.DRAFT, is_by(actor.id))


def is_in_state(state: State) -> sa.ColumnElement[bool]:
    if state is State.APPROVED:
        return sa.and_(ChangeRequest.state == State.IN_REVIEW, IS_APPROVED)
    if state is State.IN_REVIEW:
        return sa.and_(ChangeRequest.state == State.IN_REVIEW, ~IS_APPROVED)
    return ChangeRequest.state == state


def numbers(project_id: str) -> dict[State, int]:
    """Number of a project’s requests by state, without drafts."""
    is_approved = sa.and_(ChangeRequest.state == State.IN_REVIEW, IS_APPROVED)
    state = sa.case(
        (is_approved, State.APPROVED.value), else_=sa.cast(ChangeRequest.state, sa.String)
    )
    query = (
        sa.select(state, sa.func.count())
        .where(ChangeRequest.project_id == project_id, ChangeRequest.state != State.DRAFT)
        .group_by(state)
    )
    found = {State(name): number for name, number in db.session.execute(query)}
    return {each: found.get(each, 0) for each in State if each is not State.DRAFT}


def required(ids: Collection[int]) -> dict[int, int]:
    """How many approvals each request needs; 0 if its environment needs none any more."""
    found: dict[int, int] = {}
    for chunk in chunks(ids):
        query = sa.select(ChangeRequest.id, REQUIRED).where(ChangeRequest.id.in_(chunk))
        found |= dict(db.session.execute(query).all())
    return found


def approvals(ids: Collection[int]) -> dict[int, list[tuple[Approval, Account]]]:
    """Approvals that count with the people who gave them, oldest first, by request."""
    # In closed requests all count: closing deletes the others.
    counts = sa.or_(
        ChangeRequest.state.in_(CLOSED),
        sa.and_(Approval.digest == ChangeRequest.digest, _counts()),
    )
    found: defaultdict[int, list[tuple[Approval, Account]]] = defaultdict(list)
    for chunk in chunks(ids):
        query = (
            sa.select(Approval, Account)
            .join(Account, Account.id == Approval.account_id)
            .join(ChangeRequest, ChangeRequest.id == Approval.request_id)
            .where(Approval.request_id.in_(chunk), counts)
            .order_by(Approval.created_at, Approval.account_id)
        )
        for approval, account in db.session.execute(query):
            found[approval.request_id].append((approval, account))
    return found


def reviewers(ids: Collection[int]) -> dict[int, list[Account]]:
    """People who are asked for a review, by request."""
    found: defaultdict[int, list[Account]] = defaultdict(list)
    for chunk in chunks(ids):
        query = (
            sa.select(Reviewer.request_id, Account)
            .join(Account, Account.id == Reviewer.account_id)
            .where(Reviewer.request_id.in_(chunk), Account.deleted_at.is_(None))
            .order_by(Account.username)
        )
        for id, account in db.session.execute(query):
            found[id].append(account)
    return found


def steps(ids: Collection[int]) -> dict[int, list[Step]]:
    """The history of each request, oldest first."""
    found: defaultdict[int, list[Step]] = defaultdict(list)
    for chunk in chunks(ids):
        query = sa.select(Step).where(Step.request_id.in_(chunk)).order_by(Step.id)
        for step in db.session.scalars(query):
            found[step.request_id].append(step)
    return found


def bypasses(project_id: str, since: datetime) -> int:
    """Number of changes made in the project without the approvals that they needed."""
    query = sa.select(sa.func.count()).where(
        Event.project == project_id,
        Event.type == EventType.CHANGE_REQUEST_BYPASSED,
        Event.created_at > since,
    )
    return db.session.scalar(query) or 0


def approvers(project_id: str, *, but: int | None = None) -> list[Account]:
    """People whose approval counts in the project, sorted by name.

    ``but``: an author; nor does that of people who created a token for this account.
    """
    query = sa.select(Account).where(can_approve(sa.literal(project_id)))
    if but is not None:
        query = query.where(~_proposed(Account, sa.literal(but)))
    return list(db.session.scalars(query.order_by(Account.username, Account.id)))


def is_by(id: int | None) -> sa.ColumnElement[bool]:
    return sa.false() if id is None else ChangeRequest.created_by_id == id


def _is_about(*conditions: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    return sa.exists().where(Change.request_id == ChangeRequest.id, *conditions)


def _matches(text: str) -> sa.ColumnElement[bool]:
    found = [
        contains(text, ChangeRequest.title, ChangeRequest.created_by),
        _is_about(contains(text, Change.subject)),
    ]
    if text.isascii() and text.isdigit() and len(text) < 10:  # noqa: PLR2004 - fits into the column of ids
        found.append(ChangeRequest.id == int(text))
    return sa.or_(*found)


def _members_projects(actor: Actor) -> sa.ColumnElement[bool]:
    """Whether the actor can approve in the project, and it is not archived."""
    query = sa.select(Project.id).where(Project.archived_at.is_(None))
    if not actor.is_admin:
        query = query.where(Project.id.in_(list(actor.project_roles)))
    return ChangeRequest.project_id.in_(query)


def waits_for_approval(actor: Actor) -> sa.ColumnElement[bool]:
    """Whether the request still needs the actor’s approval."""
    has_approved = sa.exists().where(
        Approval.request_id == ChangeRequest.id,
        Approval.account_id == actor.id,
        Approval.digest == ChangeRequest.digest,
    )
    return sa.and_(
        is_in_state(State.IN_REVIEW),
        _members_projects(actor),
        ~sa.exists().where(Account.id == actor.id, _proposed(Account, ChangeRequest.created_by_id)),
        ~has_approved,
    )


def _can_be_applied_by(actor: Actor) -> sa.ColumnElement[bool]:
    return sa.and_(is_in_state(State.APPROVED), sa.or_(_members_projects(actor), is_by(actor.id)))


_WAITS_FOR = {"approval": waits_for_approval, "applying": _can_be_applied_by}
