"""The one-time link to create the first Admin of a new instance; there is no default password."""

from datetime import timedelta

import sqlalchemy as sa

from app.access.auth.models import FirstAdminLink
from app.accounts import admins, passwords
from app.accounts import service as accounts
from app.accounts.links import ExpiredLink, UnusableLink
from app.accounts.models import Account, AccountKind
from app.core import secrets
from app.core.actor import FIRST_LINK, Actor
from app.core.clock import utcnow
from app.core.db import db, save
from app.core.permissions import Role

VALID = timedelta(hours=24)


def make_link() -> str | None:
    """The path of a new link; None if a user already exists."""
    if has_users():
        return None
    secret = secrets.generate()
    save(FirstAdminLink(digest=secrets.digest(secret), expires_at=utcnow() + VALID))
    return f"/first-admin/{secret}"


def check(secret: str) -> None:
    """Refuse a link that can't be used.

    Raises:
        ExpiredLink: if it has expired.
        UnusableLink: if it is unknown or already used, or a user exists.

    """
    admins.guard()  # two links used at once create one Admin
    query = sa.select(FirstAdminLink).where(FirstAdminLink.digest == secrets.digest(secret))
    link = db.session.scalar(query)
    refusal = (
        "This link is unknown, expired or already used. The server prints a new one when it "
        "starts, as long as there are no users."
    )
    if link is None or has_users():
        raise UnusableLink(refusal)
    if link.expires_at <= utcnow():
        raise ExpiredLink(refusal, link.id)


def note_expiry(link_id: int) -> None:
    """Delete a link that was refused as expired: it stays so if the clock is set back."""
    db.session.execute(sa.delete(FirstAdminLink).where(FirstAdminLink.id == link_id))


def create(
    ip: str | None,
    *,
    username: str,
    password: str,
    shortest: int,
    name: str | None = None,
    email: str | None = None,
) -> Account:
    """Create the first Admin, after ``check``; every link stops working."""
    link = Actor(id=None, username=FIRST_LINK, role=Role.ADMIN, ip=ip)
    account = accounts.create(link, root_role=Role.ADMIN, username=username, name=name, email=email)
    admin = Actor(id=account.id, username=account.label, role=Role.ADMIN, ip=ip)
    passwords.set_first(admin, account, password=password, shortest=shortest)
    db.session.execute(sa.delete(FirstAdminLink))
    return account


def has_users() -> bool:
    """Whether any person has, or had, an account."""
    query = sa.exists().where(Account.kind == AccountKind.PERSON)
    return bool(db.session.scalar(sa.select(query)))
