"""The access that people have, and what deleting them would change."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.access.auth.models import SignIn
from app.access.users import inactive
from app.accounts import directory
from app.accounts import service as accounts
from app.accounts.models import Account, AccountKind
from app.accounts.tokens import service as tokens
from app.accounts.tokens.models import Token
from app.catalogue.projects.models import Member, Project
from app.core.activity import Activity, days, draw
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import chunks, db
from app.core.events.models import Event
from app.core.permissions import Role
from app.core.words import counted, spoken

ROLES_SHOWN = 3
NAMES_SHOWN = 10


class Counts(NamedTuple):
    """How many users there are, how many of them are inactive, and how many can be restored."""

    all: int
    inactive: int
    deleted: int


@dataclass(frozen=True, slots=True)
class Membership:
    """A role in a project that is not archived."""

    project_id: str
    project: str
    role: Role
    is_sole_owner: bool


@dataclass(frozen=True, slots=True)
class Holdings:
    """A person's tokens, oldest first, and their roles in projects, by project name."""

    tokens: list[Token]
    roles: list[Membership]

    @property
    def sole_owner_of(self) -> list[str]:
        return [membership.project for membership in self.roles if membership.is_sole_owner]

    @property
    def summary(self) -> str:
        """``2 tokens, Owner of Payments and 4 more projects``; empty without any access."""
        shown = [f"{each.role.title} of {each.project}" for each in self.roles[:ROLES_SHOWN]]
        if len(self.roles) > ROLES_SHOWN:
            shown.append(counted(len(self.roles) - ROLES_SHOWN, "more project"))
        held = [counted(len(self.tokens), "token")] if self.tokens else []
        return spoken(held + shown, ROLES_SHOWN + 1)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A person to delete: ``days`` of inactivity, and the ``obstacle`` if they can't be deleted."""

    account: Account
    token_used_at: datetime | None
    holdings: Holdings
    days: int
    obstacle: str | None

    @property
    def is_safe(self) -> bool:
        return self.obstacle is None and not self.holdings.sole_owner_of

    @property
    def verdict(self) -> tuple[str, str]:
        """Whether the person can be deleted, in words, and the kind of status that is."""
        if self.obstacle:
            return f"Can’t be deleted: {self.obstacle}", "bad"
        if owned := self.holdings.sole_owner_of:
            return f"Only Owner of {counted(len(owned), 'project')}", "warn"
        return "Safe to delete", "ok"


def counts(*, inactivity: timedelta) -> Counts:
    """The numbers on the tabs of the lists."""
    return Counts(
        accounts.count_people(),
        inactive.search(after=inactivity, limit=0, offset=0).total,
        accounts.search(AccountKind.PERSON, deleted=True, limit=0, offset=0).total,
    )


def holdings(account_ids: Collection[int]) -> dict[int, Holdings]:
    """The access of each account, by id."""
    rows: list[Any] = []
    live: dict[int, list[Token]] = {}
    for chunk in chunks(account_ids):
        live |= tokens.of_accounts(chunk)
        query = (
            sa.select(Member.account_id, Project.id, Project.name, Member.role)
            .join(Project, Project.id == Member.project_id)
            .where(Member.account_id.in_(chunk), Project.archived_at.is_(None))
            .order_by(Project.name)
        )
        rows += db.session.execute(query)
    owners = _owners({row.id for row in rows if row.role is Role.OWNER})
    found = {id: Holdings(live[id], []) for id in account_ids}
    for account_id, id, name, role in rows:
        is_sole_owner = role is Role.OWNER and owners[id] == {account_id}
        found[account_id].roles.append(Membership(id, name, role, is_sole_owner))
    return found


def recent(account_id: int) -> Activity:
    """The account's changes and sign-ins by day."""
    return draw(
        {
            "change": days(Event.created_at, Event.created_by_user_id == account_id),
            "sign-in": days(SignIn.at, SignIn.succeeded.is_(True), SignIn.account_id == account_id),
        }
    )


def candidates(actor: Actor, rows: Collection[Any]) -> list[Candidate]:
    """Rows of ``inactive.search`` with what a review shows."""
    held = holdings([account.id for account, _ in rows])
    return [
        Candidate(
            account,
            used_at,
            held[account.id],
            _days_away(account, used_at),
            _obstacle(actor, account),
        )
        for account, used_at in rows
    ]


def without_owner_after(selected: Collection[Candidate]) -> list[str]:
    """The names of the projects that would have no Owner without these people."""
    gone = {candidate.account.id for candidate in selected}
    owned = {
        each.project_id: each.project
        for candidate in selected
        for each in candidate.holdings.roles
        if each.role is Role.OWNER
    }
    owners = _owners(owned)
    return sorted(name for id, name in owned.items() if owners[id] <= gone)


def effects(selected: Collection[Candidate]) -> list[str]:
    """What deleting these people changes, in sentences."""
    sentences = []
    if number := sum(len(candidate.holdings.tokens) for candidate in selected):
        stop = "stops" if number == 1 else "stop"
        sentences.append(f"{counted(number, 'token')} {stop} working immediately.")
    if number := len({r.project_id for c in selected for r in c.holdings.roles}):
        loses = "loses a member" if number == 1 else "lose members"
        sentences.append(f"{counted(number, 'project')} {loses}.")
    if names := without_owner_after(selected):
        sentences.append(
            f"{counted(len(names), 'project')} will have no Owner: {spoken(names, NAMES_SHOWN)}."
        )
    return [*sentences, "Features and events stay as they are."]


def verdict(candidates: Collection[Candidate], *, total: int, people: int) -> str:
    """How many people are inactive, and if ``candidates`` has all of them, how many are safe."""
    are = "is" if total == 1 else "are"
    words = f"{total:,} of {counted(people, 'user')} {are} inactive."
    if len(candidates) < total:
        return words
    safe = sum(candidate.is_safe for candidate in candidates)
    blocked = sum(candidate.obstacle is not None for candidate in candidates)
    parts = [f"{safe:,} can be deleted safely"]
    if owners := total - safe - blocked:
        only = "is the only Owner" if owners == 1 else "are the only Owners"
        parts.append(f"{owners:,} {only} of a project")
    if blocked:
        parts.append(f"{blocked:,} can’t be deleted")
    return f"{words} {spoken(parts)}."


def _obstacle(actor: Actor, account: Account) -> str | None:
    """Why the actor can't delete the account; None if they can."""
    if account.id == actor.id:
        return "your own account"
    if directory.manages(account):
        return "an account of your directory. Delete or deactivate it there"
    return "the last Admin who can sign in" if inactive.is_last_admin(account) else None


def _owners(project_ids: Collection[str]) -> defaultdict[str, set[int]]:
    """The Owners of each project who are not deleted."""
    found: defaultdict[str, set[int]] = defaultdict(set)
    for chunk in chunks(project_ids):
        query = (
            sa.select(Member.project_id, Member.account_id)
            .join(Account, Account.id == Member.account_id)
            .where(
                Member.project_id.in_(chunk),
                Member.role == Role.OWNER,
                Account.deleted_at.is_(None),
            )
        )
        for project_id, account_id in db.session.execute(query):
            found[project_id].add(account_id)
    return found


def _days_away(account: Account, token_used_at: datetime | None) -> int:
    seen = account.last_sign_in_at or account.created_at
    latest = max(seen, token_used_at) if token_used_at else seen
    return (utcnow() - latest) // timedelta(days=1)
