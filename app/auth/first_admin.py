"""The one-time link by which a new instance gets its first Admin; there is no default password."""

from datetime import timedelta

import sqlalchemy as sa

from app.accounts import passwords
from app.accounts import service as accounts
from app.accounts.models import Account, AccountKind
from app.auth.models import FirstAdminLink
from app.core import secrets
from app.core.actor import Actor
from app.core.db import db, save, utcnow
from app.core.errors import NotFound
from app.core.permissions import Role

VALID = timedelta(hours=24)


def make_link() -> str | None:
    """The path of a new link; None where a person exists already."""
    if _somebody_exists():
        return None
    secret = secrets.generate()
    save(FirstAdminLink(digest=secrets.digest(secret), expires_at=utcnow() + VALID))
    return f"/first-admin/{secret}"


def check(secret: str) -> None:
    """Refuse a link that is unknown, expired, or not needed any more."""
    accounts.guard_admins()  # two of them at once make one Admin
    query = sa.exists().where(
        FirstAdminLink.digest == secrets.digest(secret), FirstAdminLink.expires_at > utcnow()
    )
    if not db.session.scalar(sa.select(query)) or _somebody_exists():
        raise NotFound(
            "This link is unknown, used or expired. Starting the server prints a new one as long "
            "as nobody has an account."
        )


def create(
    ip: str | None,
    *,
    username: str,
    password: str,
    shortest: int,
    name: str | None = None,
    email: str | None = None,
) -> Account:
    """Make the first Admin, after ``check``; no link works after that."""
    nobody = Actor(id=None, username="set-up link", role=Role.ADMIN, ip=ip)
    account = accounts.create(
        nobody, root_role=Role.ADMIN, username=username, name=name, email=email
    )
    passwords.set_first(nobody, account, password=password, shortest=shortest)
    db.session.execute(sa.delete(FirstAdminLink))
    return account


def _somebody_exists() -> bool:
    query = sa.exists().where(Account.kind == AccountKind.PERSON)
    return bool(db.session.scalar(sa.select(query)))
