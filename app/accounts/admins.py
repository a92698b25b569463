"""The rule that one Admin can always sign in."""

from collections.abc import Collection

import sqlalchemy as sa

from app.accounts.models import Account, AccountKind, Identity, RoleRow
from app.core.db import db, locked
from app.core.errors import Conflict
from app.core.permissions import Role


def guard() -> None:
    """Take the lock that every removal of an Admin needs: for all processes, until the commit."""
    row = sa.select(RoleRow.id).where(RoleRow.id == Role.ADMIN)
    # key_share: new accounts, whose foreign key refers to this row, needn't wait for the lock.
    db.session.execute(locked(row, key_share=True))


def other_can_sign_in(besides: Collection[int]) -> bool:
    """Whether an Admin who can sign in remains without those in ``besides``.

    Holds a lock until the transaction ends, so that two removals can't each rely on the Admin
    that the other one removes.
    """
    guard()
    return not who_can_sign_in() <= set(besides)


def keep_one(besides: Collection[int]) -> None:
    """Refuse a change after which no Admin could sign in; see ``other_can_sign_in``."""
    if not other_can_sign_in(besides):
        last = "This is the last Admin" if len(besides) == 1 else "These are the last Admins"
        raise Conflict(
            f"{last} who can sign in. Make someone else an Admin first, "
            "and have them set a password."
        )


def who_can_sign_in() -> set[int]:
    """The ids of the people who are Admins, with a password or linked to single sign-on."""
    is_linked = sa.exists().where(Identity.account_id == Account.id)
    query = sa.select(Account.id).where(
        Account.kind == AccountKind.PERSON,
        Account.role == Role.ADMIN,
        Account.deleted_at.is_(None),
        Account.deactivated_at.is_(None),
        sa.or_(Account.password_hash.is_not(None), is_linked),
    )
    return set(db.session.scalars(query))


def counts() -> dict[str, int]:
    """How many Admins are people with a password, people without one, and service accounts."""
    is_person = Account.kind == AccountKind.PERSON
    has_password = Account.password_hash.is_not(None)
    number = sa.func.count()
    query = sa.select(
        number.filter(is_person & has_password).label("password"),
        number.filter(is_person & ~has_password).label("no_password"),
        number.filter(~is_person).label("service"),
    ).where(Account.role == Role.ADMIN, Account.deleted_at.is_(None))
    return dict(db.session.execute(query).mappings().one())
