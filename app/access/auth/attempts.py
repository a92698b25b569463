"""Attempts to sign in, by account: what throttling and the person themselves need to know."""

from datetime import timedelta

import sqlalchemy as sa

from app.access.auth.models import SignIn
from app.accounts.models import Account
from app.accounts.sessions.service import Browser
from app.core.clock import utcnow
from app.core.db import db, unit_of_work
from app.core.networks import network_of

HISTORY = timedelta(days=400)


def history(account_id: int, *, limit: int) -> list[SignIn]:
    """The latest attempts to sign in to the account, newest first."""
    query = sa.select(SignIn).where(SignIn.account_id == account_id).order_by(SignIn.id.desc())
    return list(db.session.scalars(query.limit(limit)))


def note_failure(account_id: int, browser: Browser) -> None:
    """Count and store a failure, with the same two statements if there is no account."""
    one_more = sa.update(Account).values(login_attempts=Account.login_attempts + 1)
    db.session.execute(one_more.where(Account.id == account_id))
    facts = (utcnow(), browser.ip, network_of(browser.ip), False)
    columns = (SignIn.at, SignIn.ip, SignIn.network, SignIn.succeeded)
    values = (sa.literal(value, column.type) for value, column in zip(facts, columns, strict=True))
    attempt = sa.select(Account.id, *values).where(Account.id == account_id)
    db.session.execute(sa.insert(SignIn).from_select([SignIn.account_id, *columns], attempt))


def prune() -> None:
    """Delete attempts to sign in that are older than HISTORY."""
    is_old = SignIn.at < utcnow() - HISTORY
    with unit_of_work(writes=False):
        found = db.session.scalar(sa.select(sa.exists().where(is_old)))
    if found:
        with unit_of_work(writes=True):
            db.session.execute(sa.delete(SignIn).where(is_old))
