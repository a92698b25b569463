"""People: who they are and which root role they have."""

from collections.abc import Collection

import sqlalchemy as sa

from app.accounts.models import Account, AccountKind, RoleRow, key_of
from app.core.actor import Actor
from app.core.db import db, save, utcnow
from app.core.errors import Invalid, NameExists, NotFound
from app.core.paging import Page, page_of
from app.core.permissions import Role
from app.events import service as events
from app.events.models import EventType
from app.tokens import service as tokens


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
        raise Invalid.because([{"path": "/username", "message": message}])
    account = Account(kind=AccountKind.PERSON, role=root_role, name=name)
    rename(account, username)
    account.email = email
    account.email_key = key_of(email) if email else None
    _refuse_taken_email(account)
    save(account, if_taken=name_taken(username))
    events.record(actor, EventType.USER_CREATED, data=account.snapshot())
    return account


def get(account_id: int, *, kind: AccountKind = AccountKind.PERSON) -> Account:
    account = db.session.get(Account, account_id)
    if account is None or account.kind is not kind or account.deleted_at is not None:
        what = "user" if kind is AccountKind.PERSON else "service account"
        raise NotFound(f"There is no {what} with the id {account_id}.")
    return account


def search(kind: AccountKind, *, limit: int, offset: int) -> Page[Account]:
    query = (
        sa.select(Account)
        .where(Account.kind == kind, Account.deleted_at.is_(None))
        .order_by(Account.id)
    )
    return page_of(query, limit=limit, offset=offset)


def with_username(username: str) -> Account | None:
    """The account of that username, whether a person's or a service account's."""
    return db.session.scalar(sa.select(Account).where(Account.username_key == key_of(username)))


def rename(account: Account, username: str | None) -> None:
    account.username = username
    account.username_key = key_of(username) if username else None


def name_taken(username: str | None) -> NameExists:
    return NameExists(f"The username {username!r} is taken; choose another.", field="username")


def mark_deleted(accounts: list[Account]) -> None:
    """End these accounts: tokens stop, username and email are free, the rows are kept."""
    for account in accounts:
        account.deleted_at = utcnow()
        account.username_key = account.email_key = None
    tokens.revoke_all([account.id for account in accounts])


def other_admin_can_sign_in(besides: Collection[int]) -> bool:
    """Whether an Admin is left who can sign in when those ``besides`` are gone.

    Until the transaction ends nobody else gets an answer here, so two of the last Admins can't
    each count on the other.
    """
    guard = sa.select(RoleRow.id).where(RoleRow.id == Role.ADMIN)
    db.session.execute(guard.with_for_update(key_share=True))
    admins = db.session.scalars(
        sa.select(Account.id).where(
            Account.kind == AccountKind.PERSON,
            Account.role == Role.ADMIN,
            Account.deleted_at.is_(None),
            Account.password_hash.is_not(None),
        )
    )
    return any(id not in besides for id in admins)


def _refuse_taken_email(account: Account) -> None:
    """Say which of the two is taken: the constraint alone would only say that one is.

    A race past this look ends in the username's refusal, still a 409.
    """
    if account.email_key is None:
        return
    taken = sa.select(Account.id).where(Account.email_key == account.email_key)
    if db.session.scalar(taken) is not None:
        raise NameExists(f"The email {account.email!r} belongs to another user.", field="email")
