"""People and service accounts: create, change, delete, restore and find them."""

from collections.abc import Collection
from datetime import timedelta
from typing import TypedDict, Unpack

import sqlalchemy as sa

from app.accounts import admins, directory, links, usernames
from app.accounts.models import Account, AccountKind, key_of
from app.accounts.sessions import service as sessions
from app.accounts.tokens import service as tokens
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import CHUNK, MAX_ID, by_id, chunks, contains, db, flush, locked, once, save
from app.core.errors import Conflict, Invalid, NameExists, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.service import EventPayload
from app.core.paging import Page, page_of, sorted_by
from app.core.permissions import Role
from app.core.words import listed

RESTORABLE = timedelta(days=30)
CANDIDATES = 500


class AccountChanges(TypedDict, total=False):
    """The fields of an update. A missing key means no change; None clears."""

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
    """Create a user without a password, who can't sign in yet."""
    if username is None and email is None:
        message = "Give a username, an email, or both."
        raise Invalid.at("/username", message)
    account = Account(kind=AccountKind.PERSON, name=name)
    account.give(actor, root_role)
    usernames.rename(account, username)
    account.email = email
    account.email_key = key_of(email) if email else None
    usernames.refuse_taken(account)
    save(account, if_taken=usernames.name_taken(username))
    events.record(actor, EventType.USER_CREATED, data=account.snapshot())
    return account


def update(
    actor: Actor, account: Account, *, by_directory: bool = False, **changes: Unpack[AccountChanges]
) -> bool:
    """Change a person or service account from ``get_for_change``. Return whether it changed.

    ``by_directory``: the caller is the directory that manages the person.

    Raises:
        Conflict: for a name or an e-mail that a directory decides.

    """
    before, keys = account.snapshot(), (account.username_key, account.email_key)
    if not by_directory:
        directory.refuse_by_hand(account, changes)
    role = changes.get("root_role", account.role)
    if account.is_person and account.role is Role.ADMIN and role is not Role.ADMIN:
        admins.keep_one(besides={account.id})
    if role is not account.role:
        account.give(actor, role)
    if "name" in changes:
        account.name = changes["name"]
    if "username" in changes:
        usernames.rename(account, changes["username"])
    if "email" in changes:
        account.email = changes["email"]
        account.email_key = key_of(account.email) if account.email else None
    if (account.username_key, account.email_key) != keys:
        usernames.refuse_taken(account)
    if account.is_person and account.username is None and account.email is None:
        raise Invalid.at("/username", "A user needs a username, an email, or both.")
    flush(if_taken=usernames.name_taken(account.username))
    after = account.snapshot()
    if after != before:
        type = EventType.USER_UPDATED if account.is_person else EventType.SERVICE_ACCOUNT_UPDATED
        events.record(actor, type, pre_data=before, data=after)
    return after != before


def remove(actor: Actor, account: Account, *, by_directory: bool = False) -> None:
    """Delete a person, who can be restored for a while, or a service account.

    Raises:
        Conflict: for the caller themselves, the last Admin, and a person of a directory.

    """
    if not by_directory and (why_not := directory.no_deletion(account)):
        raise Conflict(why_not)
    if account.id == actor.id:
        raise Conflict("You cannot delete your own account. Ask another Admin.")
    if account.is_person and account.role is Role.ADMIN:
        admins.keep_one(besides={account.id})
    mark_deleted([account])
    type = EventType.USER_DELETED if account.is_person else EventType.SERVICE_ACCOUNT_DELETED
    events.record(actor, type, pre_data=account.snapshot())


def restore(actor: Actor, account_id: int) -> Account:
    """Restore a person deleted within RESTORABLE: roles come back, tokens don't."""
    found = restore_all(actor, [account_id])
    if not found:
        raise NotFound(
            f"No user with the id {account_id} was deleted in the last {RESTORABLE.days} days."
        )
    return found[0]


def restore_all(actor: Actor, account_ids: Collection[int]) -> list[Account]:
    """Restore the people who can be restored: all of them or, in a conflict, none."""
    restored: list[Account] = []
    for chunk in chunks(account_ids):
        query = sa.select(Account).where(Account.id.in_(chunk), _restorable()).order_by(Account.id)
        restored += db.session.scalars(locked(query))
    for account in restored:
        _restore(account)
    payloads = [EventPayload(data=account.snapshot()) for account in restored]
    events.record_together(actor, EventType.USER_RESTORED, payloads)
    return restored


def restorable(account_ids: Collection[int]) -> set[int]:
    """The ids of the people who can be restored."""
    found: set[int] = set()
    for chunk in chunks(account_ids):
        found |= set(
            db.session.scalars(sa.select(Account.id).where(Account.id.in_(chunk), _restorable()))
        )
    return found


def get_for_change(account_id: int, *, kind: AccountKind = AccountKind.PERSON) -> Account:
    """The account as it is now, locked for a change."""
    return _found(by_id(Account, account_id, for_change=True), account_id, kind)


def get(account_id: int, *, kind: AccountKind = AccountKind.PERSON) -> Account:
    return _found(by_id(Account, account_id), account_id, kind)


def _found(account: Account | None, account_id: int, kind: AccountKind) -> Account:
    if account is None or account.kind is not kind or account.deleted_at is not None:
        what = "user" if kind is AccountKind.PERSON else "service account"
        raise NotFound(f"There is no {what} with the id {account_id}.")
    return account


class AccountFilters(TypedDict, total=False):
    """Filters and order of a list of accounts."""

    text: str
    root_role: Role
    sort: str


def search(
    kind: AccountKind,
    *,
    limit: int,
    offset: int,
    deleted: bool = False,
    **filters: Unpack[AccountFilters],
) -> Page[Account]:
    """The accounts of a kind; with ``deleted``, people who can be restored, newest first."""
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
    order = [Account.deleted_at.desc()] if deleted else []
    query = query.order_by(*sorted_by(filters.get("sort"), columns), *order, Account.id)
    return page_of(query, limit=limit, offset=offset)


def managed() -> list[Account]:
    """The people whom a directory manages, locked for a change."""
    query = sa.select(Account).where(
        Account.kind == AccountKind.PERSON,
        Account.scim_id.is_not(None),
        Account.deleted_at.is_(None),
    )
    return list(db.session.scalars(locked(query.order_by(Account.id))))


def count_people() -> int:
    return search(AccountKind.PERSON, limit=0, offset=0).total


def sign_out(actor: Actor, people: Collection[Account]) -> None:
    """End all sessions of these people, who can sign in again."""
    sessions.close_all([account.id for account in people])
    payloads = [EventPayload(data={"id": a.id, "name": a.label}) for a in people]
    events.record_together(actor, EventType.USER_SIGNED_OUT, payloads)


def with_username(username: str) -> Account | None:
    """The account of either kind with that username."""
    return db.session.scalar(sa.select(Account).where(Account.username_key == key_of(username)))


def named(name: str) -> Account | None:
    """The account with that username, or else with that email; never a deleted one."""
    key = key_of(name)
    query = (
        sa.select(Account)
        .where(sa.or_(Account.username_key == key, Account.email_key == key))
        .order_by((Account.username_key == key).desc())
        .limit(1)
    )
    return db.session.scalar(query)


def candidates(besides: Collection[int]) -> list[Account]:
    """Up to CANDIDATES accounts to choose from, by name."""
    query = sa.select(Account).where(
        Account.deleted_at.is_(None), Account.id.not_in(list(besides)[:CHUNK])
    )
    return list(db.session.scalars(query.order_by(Account.username_key).limit(CANDIDATES)))


def find(account_id: int) -> Account | None:
    """The account of either kind, deleted or not."""
    return by_id(Account, account_id)


def names(ids: Collection[int]) -> dict[int, str]:
    """Display names by id; unknown ids are left out."""

    def read() -> dict[int, str]:
        return {
            account.id: account.called
            for chunk in chunks(id for id in ids if 0 < id <= MAX_ID)
            for account in db.session.scalars(sa.select(Account).where(Account.id.in_(chunk)))
        }

    return once(("names of accounts", frozenset(ids)), read)


def mark_deleted(accounts: list[Account]) -> None:
    """Mark accounts as deleted: tokens, sessions and links end, names are free, rows stay."""
    for account in accounts:
        account.deleted_at = utcnow()
        account.username_key = account.email_key = None
    _end_access(accounts)


def deactivate(actor: Actor, account: Account) -> None:
    """Block all access of a person until ``reactivate``. Roles and names stay.

    Raises:
        Conflict: for the last Admin who can sign in.

    """
    _deactivate(actor, [account])


def deactivate_all(actor: Actor, account_ids: Collection[int]) -> tuple[list[Account], int]:
    """Deactivate people by hand, all or none, and return them and how many tokens ended.

    Those who are deactivated already stay as they are.

    Raises:
        NotFound: for an id that is no person's.
        Conflict: for the actor, for people of a directory, and for the last Admin who can sign in.

    """
    found = [account for account in _people(account_ids) if account.deactivated_at is None]
    for account in found:
        if account.id == actor.id:
            raise Conflict("You can’t deactivate your own account. Ask another Admin.")
        if reason := directory.no_deletion(account):
            raise Conflict(reason)
    ids = [account.id for account in found]
    ended = sum(
        len(held) for chunk in chunks(ids) for held in tokens.of_accounts(list(chunk)).values()
    )
    _deactivate(actor, found)
    return found, ended


def _deactivate(actor: Actor, people: list[Account]) -> None:
    if leaving := {account.id for account in people if account.role is Role.ADMIN}:
        admins.keep_one(besides=leaving)
    for account in people:
        account.deactivated_at = utcnow()
    _end_access(people)
    payloads = [EventPayload(data=account.snapshot()) for account in people]
    events.record_together(actor, EventType.USER_DEACTIVATED, payloads)


def reactivate_all(actor: Actor, account_ids: Collection[int]) -> list[Account]:
    """Let those of the people who are deactivated sign in again, all or none.

    Raises:
        NotFound: for an id that is no person's.
        Conflict: for people of a directory.

    """
    found = [account for account in _people(account_ids) if account.deactivated_at is not None]
    for account in found:
        if directory.manages(account):
            raise _activate_there(account)
        account.deactivated_at = None
    payloads = [EventPayload(data=account.snapshot()) for account in found]
    events.record_together(actor, EventType.USER_REACTIVATED, payloads)
    return found


def _people(account_ids: Collection[int]) -> list[Account]:
    """The people with these ids, locked in one order. NotFound: names the other ids."""
    found: list[Account] = []
    wanted = sorted(set(account_ids))
    for chunk in chunks(id for id in wanted if 0 < id <= MAX_ID):
        query = sa.select(Account).where(
            Account.id.in_(chunk), Account.kind == AccountKind.PERSON, Account.deleted_at.is_(None)
        )
        found += db.session.scalars(locked(query.order_by(Account.id)))
    if unknown := set(wanted).difference(account.id for account in found):
        raise NotFound(f"There are no users with these ids: {listed(map(str, unknown))}.")
    return found


def _activate_there(account: Account) -> Conflict:
    return Conflict(f"{account.called} {directory.MANAGED}. Activate them there.")


def reactivate(actor: Actor, account: Account, *, by_directory: bool = False) -> None:
    """Let a deactivated person sign in again. Their tokens stay revoked.

    Raises:
        Conflict: if they are not deactivated, or a directory manages them.

    """
    if account.deactivated_at is None:
        raise Conflict(f"{account.called} is not deactivated.")
    if not by_directory and directory.manages(account):
        raise _activate_there(account)
    account.deactivated_at = None
    events.record(actor, EventType.USER_REACTIVATED, data=account.snapshot())


def _end_access(accounts: list[Account]) -> None:
    """End all tokens, sessions and links of these accounts."""
    ids = [account.id for account in accounts]
    tokens.revoke_all(ids)
    sessions.close_all(ids)
    for chunk in chunks(ids):
        links.end_all(chunk)


def _restore(account: Account) -> None:
    account.deleted_at = None
    usernames.rename(account, account.username)
    account.email_key = key_of(account.email) if account.email else None
    taken = NameExists(
        f"{account.label} cannot be restored: another account has this username or email now. "
        "Change that one first."
    )
    try:
        usernames.refuse_taken(account)
    except NameExists:
        raise taken from None
    flush(if_taken=taken)


def _restorable() -> sa.ColumnElement[bool]:
    since = utcnow() - RESTORABLE
    return sa.and_(Account.kind == AccountKind.PERSON, Account.deleted_at > since)
