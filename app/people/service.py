"""What people hold here beyond their accounts, and what deleting them would leave behind."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from app.accounts import inactive
from app.accounts.models import Account
from app.auth.models import SignIn
from app.core.activity import Activity, days, draw
from app.core.actor import Actor
from app.core.db import chunks, db, utcnow
from app.core.permissions import Role
from app.events.models import Event
from app.projects.models import Member, Project
from app.tokens import service as tokens


@dataclass(slots=True)
class Holdings:
    """Live tokens, and projects by name: roles held, and those without another Owner."""

    tokens: int = 0
    roles: list[tuple[str, str, Role]] = field(default_factory=list)
    """(project id, name, role)"""
    sole_owner_of: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An inactive person, since when nothing was heard, and why he can't be deleted, if so."""

    account: Account
    token_used_at: datetime | None
    holdings: Holdings
    days: int
    obstacle: str | None


def holdings(account_ids: Collection[int]) -> dict[int, Holdings]:
    """What each of the accounts holds."""
    found: dict[int, Holdings] = {id: Holdings() for id in account_ids}
    for chunk in chunks(account_ids):
        for id, live in tokens.of_accounts(chunk).items():
            found[id].tokens = len(live)
        query = (
            sa.select(Member.account_id, Project.id, Project.name, Member.role)
            .join(Project, Project.id == Member.project_id)
            .where(Member.account_id.in_(chunk), Project.archived_at.is_(None))
            .order_by(Project.name)
        )
        for account_id, project_id, name, role in db.session.execute(query):
            found[account_id].roles.append((project_id, name, role))
    owned = {id for held in found.values() for id, _, role in held.roles if role is Role.OWNER}
    others = _owners(owned)
    for account_id, held in found.items():
        held.sole_owner_of = [
            name
            for id, name, role in held.roles
            if role is Role.OWNER and others[id] == {account_id}
        ]
    return found


def recent(account_id: int) -> Activity:
    """What the account did: changes, and signing in."""
    return draw(
        {
            "change": days(Event.created_at, Event.created_by_user_id == account_id),
            "sign-in": days(SignIn.at, SignIn.succeeded.is_(True), SignIn.account_id == account_id),
        }
    )


def candidates(actor: Actor, rows: Collection[Any]) -> list[Candidate]:
    """The rows of ``inactive.search`` with all that is to be known before deleting."""
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


def without_owner_after(chosen: Collection[Candidate]) -> list[str]:
    """Names of the projects that would have no Owner when all these are gone."""
    gone = {candidate.account.id for candidate in chosen}
    owned = {
        id: name
        for candidate in chosen
        for id, name, role in candidate.holdings.roles
        if role is Role.OWNER
    }
    owners = _owners(owned)
    return sorted(name for id, name in owned.items() if owners[id] <= gone)


def _obstacle(actor: Actor, account: Account) -> str | None:
    if account.id == actor.id:
        return "yourself"
    return "last Admin who can sign in" if inactive.is_last_admin(account) else None


def _owners(project_ids: Collection[str]) -> defaultdict[str, set[int]]:
    """The living Owners of each of the projects."""
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
