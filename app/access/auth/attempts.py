"""Attempts to sign in, by account: for throttling, and for the person's own history."""

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
    values = {
        SignIn.at: utcnow(),
        SignIn.ip: browser.ip,
        SignIn.network: network_of(browser.ip),
        SignIn.succeeded: False,
    }
    literals = (sa.literal(value, column.type) for column, value in values.items())
    attempt = sa.select(Account.id, *literals).where(Account.id == account_id)
    db.session.execute(sa.insert(SignIn).from_select([SignIn.account_id, *values], attempt))


def prune() -> None:
    """Delete attempts to sign in that are older than HISTORY."""
    is_old = SignIn.at < utcnow() - HISTORY
    with unit_of_work(writes=False):
        exist = db.session.scalar(sa.select(sa.exists().where(is_old)))
    if exist:  # so that most calls only read
        with unit_of_work(writes=True):
            db.session.execute(sa.delete(SignIn).where(is_old))
