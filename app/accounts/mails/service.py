"""Mail to people about what concerns them: written with the change itself, sent afterwards.

A mail is sent once. If a server ends while it sends one, no other sends it again.
"""

from collections.abc import Collection
from datetime import timedelta
from typing import NamedTuple

import sqlalchemy as sa
from itsdangerous import BadSignature, URLSafeSerializer

from app.accounts.mails.models import Mail, MailKind, MailStop
from app.accounts.models import Account, AccountKind
from app.core.clock import utcnow
from app.core.db import db, insert_if_absent, locked
from app.core.errors import NotFound
from app.core.messages import Outcome

PAUSES = (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1))
"""Pauses between the attempts to send a mail that the mail server did not take."""
FRESH = timedelta(days=1)
"""Older mail is not sent: it waited for a mail server that was set up later, or was away."""
RETENTION = timedelta(days=30)


class Task(NamedTuple):
    """A mail that this process sends."""

    mail_id: int
    account_id: int
    kind: MailKind
    to: str
    subject: str
    path: str


def queue(
    account_ids: Collection[int],
    kind: MailKind,
    *,
    subject: str,
    path: str,
    about: str | None = None,
) -> None:
    """Write to each of these people, if they have an address and want mail of this kind.

    ``about``: people with a mail about the same get no other.
    """
    stopped = sa.exists().where(MailStop.account_id == Account.id, MailStop.kind == kind)
    wanting = sa.select(Account.id).where(
        Account.id.in_(account_ids),
        Account.kind == AccountKind.PERSON,
        Account.email.is_not(None),
        Account.deleted_at.is_(None),
        Account.deactivated_at.is_(None),
        ~stopped,
    )
    values = {"kind": kind, "subject": subject, "path": path, "about": about}
    now = utcnow()
    rows = [
        {"account_id": id, "created_at": now, "attempts": 0, "next_at": now, **values}
        for id in db.session.scalars(wanting.order_by(Account.id))
    ]
    if rows:
        db.session.execute(insert_if_absent(Mail), rows)


def is_any_due() -> bool:
    return bool(db.session.scalar(sa.select(_due().exists())))


def take() -> Task | None:
    """Take the next mail to send; no one else will. None if there is none."""
    query = _due().order_by(Mail.next_at, Mail.id).limit(1)
    found = db.session.execute(locked(query, of=Mail, skip_locked=True)).first()
    if found is None:
        return None
    mail, to = found
    mail.attempts += 1
    mail.next_at = None
    return Task(mail.id, mail.account_id, mail.kind, str(to), mail.subject, mail.path)


def settle(task: Task, outcome: Outcome) -> None:
    """Try again later what the mail server did not take, a few times."""
    mail = db.session.get_one(Mail, task.mail_id)
    if outcome.error is not None and not outcome.may_have_arrived:
        pause = next(iter(PAUSES[mail.attempts - 1 :]), None)
        mail.next_at = utcnow() + pause if pause else None


def prune() -> None:
    db.session.execute(sa.delete(Mail).where(Mail.created_at < utcnow() - RETENTION))


def wanted(account_id: int) -> list[MailKind]:
    """The kinds of mail that a person wants: all, until they stop some."""
    stopped = set(
        db.session.scalars(sa.select(MailStop.kind).where(MailStop.account_id == account_id))
    )
    return [kind for kind in MailKind if kind not in stopped]


def choose(account_id: int, kinds: Collection[MailKind]) -> None:
    """Send a person mail of these kinds, and of no others."""
    db.session.execute(sa.delete(MailStop).where(MailStop.account_id == account_id))
    for kind in MailKind:
        if kind not in kinds:
            db.session.add(MailStop(account_id=account_id, kind=kind))
    db.session.flush()


def stop(account_id: int, kind: MailKind) -> None:
    """Send a person no more mail of this kind."""
    db.session.execute(insert_if_absent(MailStop), {"account_id": account_id, "kind": kind})


def stop_link(task: Task, key: str) -> str:
    """The path of a page on which the person can stop mail of this kind, without signing in."""
    return f"/account/mail/stop/{_signer(key).dumps([task.account_id, task.kind])}"


def read_stop(secret: str, key: str) -> tuple[Account, MailKind]:
    """The person and the kind of a link that ``stop_link`` made.

    Raises:
        NotFound: if it was made by no one here.

    """
    try:
        account_id, kind = _signer(key).loads(secret)
    except BadSignature:
        raise NotFound("This link is not valid. Sign in, and choose your mail there.") from None
    return db.session.get_one(Account, account_id), MailKind(kind)


def _signer(key: str) -> URLSafeSerializer:
    return URLSafeSerializer(key, salt="stop mail")


def _due() -> sa.Select[Mail, str | None]:
    """Each mail that is due, with the address."""
    now = utcnow()
    return (
        sa.select(Mail, Account.email)
        .join(Account, Account.id == Mail.account_id)
        .where(Mail.next_at <= now, Mail.created_at > now - FRESH)
        .where(Account.email.is_not(None), Account.deleted_at.is_(None))
    )
