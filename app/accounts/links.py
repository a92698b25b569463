"""One-time links to set a password. They are kept after their end, so that owners learn of them."""

from datetime import timedelta

import sqlalchemy as sa

from app.accounts.models import LINK_VALID, Account, SetupLink
from app.core import secrets
from app.core.actor import Actor
from app.core.clock import in_text, utcnow
from app.core.db import db, locked, save
from app.core.errors import NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType

RETENTION = timedelta(days=400)
NEWS_LASTS = timedelta(days=7)


class UnusableLink(NotFound):
    """A link that is unknown, used, replaced or expired."""

    title = "This link has expired or was already used"
    remedy = "If you just used it, sign in. Otherwise ask for a new one."


class ExpiredLink(UnusableLink):
    """A link that has expired but isn't marked as ended yet."""

    def __init__(self, message: str, link_id: int) -> None:
        super().__init__(message)
        self.link_id = link_id


def create(actor: Actor, account: Account) -> str:
    """The path of a new link; earlier links stop working."""
    end_all([account.id])
    is_old = SetupLink.expires_at < utcnow() - RETENTION
    db.session.execute(sa.delete(SetupLink).where(SetupLink.account_id == account.id, is_old))
    secret = secrets.generate()
    link = SetupLink(
        account_id=account.id,
        digest=secrets.digest(secret),
        expires_at=utcnow() + LINK_VALID,
        created_by=actor.username,
        created_by_user_id=actor.id,
    )
    save(link)
    data = {"id": account.id, "name": account.label, "expiresAt": in_text(link.expires_at)}
    events.record(actor, EventType.SETUP_LINK_CREATED, data=data)
    return f"/set-up/{secret}"


def find(secret: str) -> tuple[SetupLink, Account]:
    """The link with its account, locked for use.

    Raises:
        UnusableLink: if it is unknown, used or replaced.
        ExpiredLink: if it is refused as expired for the first time.

    """
    query = (
        sa.select(SetupLink, Account)
        .join(Account, Account.id == SetupLink.account_id)
        .where(
            SetupLink.digest == secrets.digest(secret),
            SetupLink.ended_at.is_(None),
            Account.deleted_at.is_(None),
            Account.deactivated_at.is_(None),
        )
    )
    found = db.session.execute(locked(query, of=SetupLink)).first()
    refusal = "This link is unknown, expired or already used. Ask an Admin for a new one."
    if found is None:
        raise UnusableLink(refusal)
    link, account = found
    if link.expires_at <= utcnow():
        raise ExpiredLink(refusal, link.id)
    return link, account


def note_use(actor: Actor, account: Account, link: SetupLink) -> None:
    """End a link that is being used, and record who had created it."""
    link.used_at = link.ended_at = utcnow()
    link.used_ip = actor.ip
    data = {
        "id": account.id,
        "name": account.label,
        "madeBy": link.created_by,
        "madeById": link.created_by_user_id,
    }
    events.record(actor, EventType.SETUP_LINK_USED, data=data)


def end_all(account_ids: list[int]) -> None:
    """End the links of these accounts that were not used."""
    is_open = sa.and_(SetupLink.account_id.in_(account_ids), SetupLink.ended_at.is_(None))
    db.session.execute(sa.update(SetupLink).where(is_open).values(ended_at=utcnow()))


def note_expiry(link_id: int) -> None:
    """End a link that was refused as expired: it stays so if the clock is set back."""
    link = sa.update(SetupLink).where(SetupLink.id == link_id, SetupLink.ended_at.is_(None))
    db.session.execute(link.values(ended_at=utcnow()))


def of_account(account_id: int, *, limit: int) -> list[SetupLink]:
    """The latest links of an account, newest first."""
    query = sa.select(SetupLink).where(SetupLink.account_id == account_id)
    return list(db.session.scalars(query.order_by(SetupLink.id.desc()).limit(limit)))


def news(account_id: int) -> list[SetupLink]:
    """The links that the account's owner should know of.

    Each is news for ``NEWS_LASTS`` after it is first shown, and again once it is used: the first
    to read this may be someone else, who set the password with it.
    """
    now = utcnow()
    is_unseen = sa.or_(SetupLink.told_at.is_(None), SetupLink.told_at < SetupLink.used_at)
    of_account = SetupLink.account_id == account_id
    unseen = sa.update(SetupLink).where(of_account, is_unseen)
    db.session.execute(unseen.values(told_at=now))
    query = sa.select(SetupLink).where(of_account, SetupLink.told_at > now - NEWS_LASTS)
    return list(db.session.scalars(query.order_by(SetupLink.id)))
