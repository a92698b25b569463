"""Who counts as inactive, and deleting them without touching anyone else."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from app.accounts import admins, directory
from app.accounts import service as accounts
from app.accounts.models import Account, AccountKind
from app.accounts.tokens.models import Token
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import CHUNK, MAX_ID, chunks, db, locked
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.service import EventPayload
from app.core.paging import Page, page_of
from app.core.permissions import Role

LAST_TOKEN_USE = (
    sa.select(sa.func.max(Token.last_seen_at))
    .where(Token.account_id == Account.id)
    .correlate(Account)
    .scalar_subquery()
)
"""The latest use of any of their personal tokens, including revoked ones."""

_SIGNED_IN = sa.func.coalesce(Account.last_sign_in_at, Account.created_at)
LATEST = sa.case((LAST_TOKEN_USE > _SIGNED_IN, LAST_TOKEN_USE), else_=_SIGNED_IN)
"""The last activity of a person."""

MANAGED = "managed by the directory"


@dataclass(frozen=True, slots=True)
class InactiveOutcome:
    """The accounts that were deleted, and the reason for each id that was skipped."""

    deleted: list[Account]
    skipped: dict[int, str]
    batch_id: str


def search(
    *, after: timedelta, limit: int, offset: int, never_signed_in: bool = False
) -> Page[Any]:
    """Rows of (Account, last token use or None), longest inactive first."""
    query = (
        sa.select(Account, LAST_TOKEN_USE.label("pat_seen_at"))
        .where(_is_inactive(utcnow() - after))
        .order_by(LATEST, Account.id)
    )
    if never_signed_in:
        query = query.where(Account.last_sign_in_at.is_(None))
    return page_of(query, limit=limit, offset=offset)


def for_ids(ids: Collection[int], *, after: timedelta) -> list[Any]:
    """The inactive ones among ``ids``, as rows of ``search``."""
    condition = _is_inactive(utcnow() - after)
    found: list[Any] = []
    for chunk in chunks(ids):
        query = sa.select(Account, LAST_TOKEN_USE.label("pat_seen_at"), LATEST.label("latest"))
        found += db.session.execute(query.where(Account.id.in_(chunk), condition))
    found.sort(key=lambda row: (row.latest, row[0].id))
    return [row[:2] for row in found]


def next_one(*, after: timedelta) -> tuple[Account, datetime] | None:
    """The next person to become inactive, and when; None if there is no one."""
    query = (
        sa.select(Account, LATEST)
        .where(
            Account.kind == AccountKind.PERSON,
            Account.deleted_at.is_(None),
            Account.deactivated_at.is_(None),
            ~_is_inactive(utcnow() - after),
        )
        .order_by(LATEST, Account.id)
        .limit(1)
    )
    found = db.session.execute(query).first()
    return (found[0], found[1] + after) if found else None


def is_last_admin(account: Account) -> bool:
    """Whether this is the only Admin who can sign in."""
    return account.role is Role.ADMIN and not admins.other_can_sign_in({account.id})


def remove(actor: Actor, ids: list[int], *, after: timedelta) -> InactiveOutcome:
    """Delete those of ``ids`` who are inactive at this moment; skip everyone else."""
    wanted = set(ids)
    condition = _is_inactive(utcnow() - after)
    candidates = sorted(
        wanted.intersection(db.session.scalars(sa.select(Account.id).where(condition)))
    )
    found: list[Account] = []
    for chunk in chunks(candidates):
        # Checked again with the rows locked: someone may have signed in since.
        query = sa.select(Account).where(Account.id.in_(chunk), condition).order_by(Account.id)
        found += db.session.scalars(locked(query))
    managed = {account.id: MANAGED for account in found if directory.manages(account)}
    going = [account for account in found if account.id not in managed]
    spared = {actor.id: "yourself"} | managed | _last_admin(going)
    deleted = [account for account in found if account.id not in spared]
    accounts.mark_deleted(deleted)
    skipped = _reasons(wanted.difference(account.id for account in deleted), spared)
    outcome = InactiveOutcome(deleted, skipped, events.new_batch())
    if wanted:
        _record_events(actor, outcome, count_skipped=len(wanted) - len(deleted))
    return outcome


def _is_inactive(since: datetime) -> sa.ColumnElement[bool]:
    """No sign-in and no token use since; without any sign-in, the creation counts."""
    used_token = sa.exists().where(Token.account_id == Account.id, Token.last_seen_at >= since)
    return sa.and_(
        Account.kind == AccountKind.PERSON,
        Account.deleted_at.is_(None),
        Account.deactivated_at.is_(None),
        sa.func.coalesce(Account.last_sign_in_at, Account.created_at) < since,
        ~used_token.correlate(Account),
    )


def _last_admin(found: list[Account]) -> dict[int | None, str]:
    """The Admin to skip if all who can sign in would be deleted: the one active last."""
    going = [account for account in found if account.role is Role.ADMIN]
    if not going or admins.other_can_sign_in(besides={a.id for a in going}):
        return {}
    able = admins.who_can_sign_in()
    stays = max(going, key=lambda a: (a.id in able, a.last_sign_in_at or a.created_at))
    return {stays.id: "the last Admin"}


def _reasons(ids: set[int], spared: dict[int | None, str]) -> dict[int, str]:
    """The reason for each skipped id; only the first CHUNK, to bound the event."""
    first = sorted(ids)[:CHUNK]
    possible = [id for id in first if 0 < id <= MAX_ID]
    known = {
        account.id: account
        for account in db.session.scalars(sa.select(Account).where(Account.id.in_(possible)))
    }
    return {id: spared.get(id) or _reason(known.get(id)) for id in first}


def _reason(account: Account | None) -> str:
    if account is None:
        return "unknown"
    if not account.is_person:
        return "a service account"
    return "already deleted" if account.deleted_at else "active"


def _record_events(actor: Actor, outcome: InactiveOutcome, *, count_skipped: int) -> None:
    payloads = (EventPayload(pre_data=account.snapshot()) for account in outcome.deleted)
    events.record_all(actor, EventType.USER_DELETED, payloads, batch_id=outcome.batch_id)
    events.record(
        actor,
        EventType.INACTIVE_USERS_DELETED,
        batch_id=outcome.batch_id,
        data={
            "deleted": [{"id": a.id, "name": a.label} for a in outcome.deleted],
            "skipped": [{"id": id, "reason": reason} for id, reason in outcome.skipped.items()],
            "skippedCount": count_skipped,
        },
    )
