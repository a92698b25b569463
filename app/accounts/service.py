"""People: who they are and which root role they have."""

from collections.abc import Collection
from datetime import timedelta
from typing import TypedDict, Unpack

import sqlalchemy as sa

from app.accounts.models import Account, AccountKind, RoleRow, SetupLink, key_of
from app.core.actor import Actor
from app.core.db import CHUNK, MAX_ID, chunks, contains, db, flush, save, utcnow
from app.core.errors import Conflict, Invalid, NameExists, NotFound
from app.core.paging import Page, page_of, sorted_by
from app.core.permissions import Role
from app.events import service as events
from app.events.models import EventType
from app.sessions import service as sessions
from app.tokens import service as tokens

RESTORABLE = timedelta(days=30)
CANDIDATES = 500


class Changes(TypedDict, total=False):
    """What an update may name. A key left out is left alone; None clears."""

    root_role: Role
    username: str | None
    email: str | None
    name: str | None


def create(
    actor: Actor,
    *,
    root_role: Role,
    username: str | None = None,
    email: str | None = None,
    name: str | None = None,
) -> Account:
    """Make a person known. Without a password he can't sign in yet."""
    if username is None and email is None:
        message = "Give a username, an email, or both."
        raise Invalid.at("/username", message)
    account = Account(kind=AccountKind.PERSON, role=root_role, name=name)
    rename(account, username)
    account.email = email
    account.email_key = key_of(email) if email else None
    _refuse_taken_email(account)
    save(account, if_taken=name_taken(username))
    events.record(actor, EventType.USER_CREATED, data=account.snapshot())
    return account


def update(actor: Actor, account: Account, **changes: Unpack[Changes]) -> Account:
    """Change a person or service account that came from ``get_for_change``."""
    before = account.snapshot()
    role = changes.get("root_role", account.role)
    if account.is_person and account.role is Role.ADMIN and role is not Role.ADMIN:
        _keep_an_admin(account)
    account.role = role
    if "name" in changes:
        account.name = changes["name"]
    if "username" in changes:
        rename(account, changes["username"])
    if "email" in changes:
        account.email = changes["email"]
        account.email_key = key_of(account.email) if account.email else None
        _refuse_taken_email(account)
    if account.is_person and account.username is None and account.email is None:
        raise Invalid.at("/username", "A user needs a username, an email, or both.")
    flush(if_taken=name_taken(account.username))
    after = account.snapshot()
    if after != before:
        type = EventType.USER_UPDATED if account.is_person else EventType.SERVICE_ACCOUNT_UPDATED
        events.record(actor, type, pre_data=before, data=after)
    return account


def remove(actor: Actor, account: Account) -> None:
    """Delete a person, who can be restored for a while, or a service account."""
    if account.id == actor.id:
        raise Conflict("You can't delete your own account; ask another Admin.")
    if account.is_person and account.role is Role.ADMIN:
        _keep_an_admin(account)
    mark_deleted([account])
    type = EventType.USER_DELETED if account.is_person else EventType.SERVICE_ACCOUNT_DELETED
    events.record(actor, type, pre_data=account.snapshot())


def restore(actor: Actor, account_id: int) -> Account:
    """Bring back a person deleted within RESTORABLE, with his roles but not his tokens."""
    query = sa.select(Account).where(Account.id == account_id, _restorable())
    account = db.session.scalar(query.with_for_update())
    if account is None:
        raise NotFound(
            f"No user with the id {account_id} was deleted in the last {RESTORABLE.days} days."
        )
    account.deleted_at = None
    rename(account, account.username)
    account.email_key = key_of(account.email) if account.email else None
    _refuse_taken_email(account)
    flush(if_taken=name_taken(account.username))
    events.record(actor, EventType.USER_RESTORED, data=account.snapshot())
    return account


def get_for_change(account_id: int, *, kind: AccountKind = AccountKind.PERSON) -> Account:
    """The account, for this transaction alone to change."""
    account = get(account_id, kind=kind)
    db.session.refresh(account, with_for_update=True)
    if account.deleted_at is not None:
        raise NotFound(f"There is no account with the id {account_id}.")
    return account


def get(account_id: int, *, kind: AccountKind = AccountKind.PERSON) -> Account:
    account = db.session.get(Account, account_id)
    if account is None or account.kind is not kind or account.deleted_at is not None:
        what = "user" if kind is AccountKind.PERSON else "service account"
        raise NotFound(f"There is no {what} with the id {account_id}.")
    return account


class Filters(TypedDict, total=False):
    """What a list of accounts can be narrowed by, and sorted."""

    text: str
    root_role: Role
    sort: str


def search(
    kind: AccountKind, *, limit: int, offset: int, deleted: bool = False, **filters: Unpack[Filters]
) -> Page[Account]:
    """The accounts of a kind; ``deleted``: instead the people who can still be restored."""
    condition = _restorable() if deleted else Account.deleted_at.is_(None)
    columns = {
        "id": Account.id,
        "username": Account.username_key,
        "name": sa.func.lower(Account.name),
        "createdAt": Account.created_at,
        "seenAt": Account.last_sign_in_at,
    }
    query = sa.select(Account).where(Account.kind == kind, condition)
    if "text" in filters:
        query = query.where(
            contains(filters["text"], Account.username, Account.name, Account.email)
        )
    if "root_role" in filters:
        query = query.where(Account.role == filters["root_role"])
    query = query.order_by(*sorted_by(filters.get("sort"), columns), Account.id)
    return page_of(query, limit=limit, offset=offset)


def count_people() -> int:
    return search(AccountKind.PERSON, limit=0, offset=0).total


def sign_out(actor: Actor, account: Account) -> None:
    """End every session of a person; he can sign in again."""
    sessions.close_all([account.id])
    events.record(actor, EventType.USER_SIGNED_OUT, data={"id": account.id, "name": account.label})


def with_username(username: str) -> Account | None:
    """The account of that username, whether a person's or a service account's."""
    return db.session.scalar(sa.select(Account).where(Account.username_key == key_of(username)))


def named(name: str) -> Account | None:
    """The living account that somebody means by a username, or else by an e-mail address."""
    key = key_of(name)
    query = (
        sa.select(Account)
        .where(sa.or_(Account.username_key == key, Account.email_key == key))
        .order_by((Account.username_key == key).desc())
        .limit(1)
    )
    return db.session.scalar(query)


def candidates(besides: Collection[int]) -> list[Account]:
    """Some of the living accounts, to choose from by name."""
    query = sa.select(Account).where(
        Account.deleted_at.is_(None), Account.id.not_in(list(besides)[:CHUNK])
    )
    return list(db.session.scalars(query.order_by(Account.username_key).limit(CANDIDATES)))


def find(account_id: int) -> Account | None:
    """The account, of whichever kind, deleted or not."""
    return db.session.get(Account, account_id)


def names(ids: Collection[int]) -> dict[int, str]:
    """What the accounts are called, those of them that there are or were."""
    found: dict[int, str] = {}
    for chunk in chunks(id for id in ids if 0 < id <= MAX_ID):
        query = sa.select(Account).where(Account.id.in_(chunk))
        found |= {account.id: account.called for account in db.session.scalars(query)}
    return found


def rename(account: Account, username: str | None) -> None:
    account.username = username
    account.username_key = key_of(username) if username else None


def name_taken(username: str | None) -> NameExists:
    return NameExists(f"The username {username!r} is taken; choose another.", field="username")


def mark_deleted(accounts: list[Account]) -> None:
    """End these accounts: tokens, sessions and links stop, names are free, the rows are kept."""
    for account in accounts:
        account.deleted_at = utcnow()
        account.username_key = account.email_key = None
    ids = [account.id for account in accounts]
    tokens.revoke_all(ids)
    sessions.close_all(ids)
    for chunk in chunks(ids):
        db.session.execute(sa.delete(SetupLink).where(SetupLink.account_id.in_(chunk)))


def guard_admins() -> None:
    """Let nobody else, at any process, make or lose an Admin in this way until the end."""
    guard = sa.select(RoleRow.id).where(RoleRow.id == Role.ADMIN)
    db.session.execute(guard.with_for_update(key_share=True))


def other_admin_can_sign_in(besides: Collection[int]) -> bool:
    """Whether an Admin is left who can sign in when those ``besides`` are gone.

    Until the transaction ends nobody else gets an answer here, so two of the last Admins can't
    each count on the other.
    """
    guard_admins()
    return not admins_who_can_sign_in() <= set(besides)


def admins_who_can_sign_in() -> set[int]:
    """The ids of the people who are Admins and have a password."""
    query = sa.select(Account.id).where(
        Account.kind == AccountKind.PERSON,
        Account.role == Role.ADMIN,
        Account.deleted_at.is_(None),
        Account.password_hash.is_not(None),
    )
    return set(db.session.scalars(query))


def _keep_an_admin(account: Account) -> None:
    if not other_admin_can_sign_in(besides={account.id}):
        raise Conflict(
            "This is the last Admin who can sign in. Make somebody else an Admin first, "
            "and let him set a password."
        )


def _restorable() -> sa.ColumnElement[bool]:
    since = utcnow() - RESTORABLE
    return sa.and_(Account.kind == AccountKind.PERSON, Account.deleted_at > since)


def _refuse_taken_email(account: Account) -> None:
    """Say which of the two is taken: the constraint alone would only say that one is.

    A race past this look ends in the username's refusal, still a 409.
    """
    if account.email_key is None:
        return
    taken = sa.select(Account.id).where(
        Account.email_key == account.email_key, Account.id.is_distinct_from(account.id)
    )
    with db.session.no_autoflush:
        other = db.session.scalar(taken)
    if other is not None:
        raise NameExists(f"The email {account.email!r} belongs to another user.", field="email")
