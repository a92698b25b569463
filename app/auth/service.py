"""Signing in with a password: throttled before it costs anything, alike for unknown names."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from time import perf_counter, sleep
from typing import TypeVar

import sqlalchemy as sa

from app.accounts import passwords
from app.accounts.models import Account, AccountKind, key_of
from app.auth import second_factor, throttle
from app.auth.models import SignIn
from app.core.actor import Actor
from app.core.db import db, save, transact, utcnow
from app.core.errors import NotFound, WrongPassword
from app.sessions import service as sessions
from app.sessions.service import Browser

T = TypeVar("T")

HISTORY = timedelta(days=400)
NOBODY = 0
"""No account has this id; for a name of nobody the database is asked about it just the same."""

STEP = timedelta(milliseconds=50)


@dataclass(frozen=True, slots=True)
class Welcome:
    """A session that has begun, and what its person should know of before."""

    account: Account
    secret: str
    last_at: datetime | None
    last_ip: str | None
    failed_since: int


@dataclass(frozen=True, slots=True)
class HalfWay:
    """The password was right, and a code is to follow. ``mark`` is another for another password."""

    account_id: int
    mark: str


@dataclass(frozen=True, slots=True)
class _Candidate:
    account_id: int
    password_hash: str


def sign_in(name: str, password: str, browser: Browser) -> Welcome | HalfWay | None:
    """Begin a session for whom name (or e-mail) and password fit; None if they don't.

    For whom a second step is on, the session begins with ``finish``.

    Two units of work: nobody waits for the database while a password is hashed between them.

    Raises:
        TooManyRequests: for whom there were too many failures, right or not; and for everybody
            while others are at it, which counts as no failure.

    """
    network = throttle.network_of(browser.ip)

    def look() -> _Candidate | None:
        candidate = _candidate(name)
        account_id = candidate.account_id if candidate else NOBODY
        throttle.count(name, network, account_id)
        return candidate

    def conclude() -> Welcome | HalfWay | None:
        account = _still_there(candidate) if candidate and fits else None
        if account is None:
            _note_failure(candidate.account_id if candidate else NOBODY, browser)
            return None
        throttle.forgive(name, network)
        return begin_session(account, browser)

    # Taken first: who gets none costs the database nothing either.
    with passwords.turn(), _in_whole_steps():
        candidate = transact(look, writes=True)
        fits = passwords.fits(candidate.password_hash if candidate else None, password)
        return transact(conclude, writes=True)


def begin_session(account: Account, browser: Browser) -> Welcome | HalfWay:
    """Sign somebody in whose password is known to be right, or ask for the second step."""
    if second_factor.is_on(account.id):
        return HalfWay(account.id, _mark(account))
    return _welcome(account, browser)


def finish(half_way: HalfWay, code: str, key: str, browser: Browser) -> Welcome | None:
    """Begin the session for whom the code fits too; None if it does not.

    Raises:
        TooManyRequests: after too many failures.
        NotFound: when the account is gone, or has another password by now.

    """
    account = db.session.get(Account, half_way.account_id)
    if account is None or account.deleted_at is not None or _mark(account) != half_way.mark:
        raise NotFound("This sign-in has come to nothing; begin anew.")
    name = f"\0{account.id}"  # which nobody can type
    network = throttle.network_of(browser.ip)
    throttle.count(name, network, account.id)
    actor = Actor(id=account.id, username=account.label, role=account.role, ip=browser.ip)
    if not second_factor.fits(actor, code, key):
        _note_failure(account.id, browser)
        return None
    throttle.forgive(name, network)
    return _welcome(account, browser)


def with_password(actor: Actor, work: Callable[[], T]) -> T:
    """Do ``work``, which asks for the actor's own password: wrong ones count as at sign-in.

    Raises:
        TooManyRequests: after too many.

    """
    name, network = actor.username, throttle.network_of(actor.ip)
    throttle.count(name, network, actor.account_id)
    done = work()
    throttle.forgive(name, network)
    return done


def prove(actor: Actor, password: str) -> None:
    """Check the password of who is signed in.

    Raises:
        WrongPassword: when it is another.

    """
    account = db.session.get_one(Account, actor.account_id)
    wrong = WrongPassword("This is not your password.")
    with_password(actor, lambda: passwords.check(account, password, otherwise=wrong))


def history(account_id: int, *, limit: int) -> list[SignIn]:
    """The latest attempts to sign in with the account's name, newest first."""
    query = sa.select(SignIn).where(SignIn.account_id == account_id).order_by(SignIn.id.desc())
    return list(db.session.scalars(query.limit(limit)))


def _welcome(account: Account, browser: Browser) -> Welcome:
    last = db.session.execute(
        sa.select(SignIn.at, SignIn.ip)
        .where(SignIn.account_id == account.id, SignIn.succeeded)
        .order_by(SignIn.id.desc())
        .limit(1)
    ).first()
    network = throttle.network_of(browser.ip)
    save(SignIn(account_id=account.id, ip=browser.ip, network=network, succeeded=True))
    failed, account.login_attempts = account.login_attempts, 0
    account.last_sign_in_at = utcnow()
    secret = sessions.open(account.id, browser)
    forgotten = SignIn.at < utcnow() - HISTORY
    db.session.execute(sa.delete(SignIn).where(SignIn.account_id == account.id, forgotten))
    at, ip = (last.at, last.ip) if last else (None, None)
    return Welcome(account, secret, at, ip, failed)


@contextmanager
def _in_whole_steps() -> Iterator[None]:
    """Let it take a multiple of STEP: what is written for an account alone takes time to write."""
    began = perf_counter()
    yield
    step = STEP.total_seconds()
    sleep(step - (perf_counter() - began) % step)


def _note_failure(account_id: int, browser: Browser) -> None:
    """Count and tell it, by the same two statements for NOBODY, of whom there is no row."""
    one_more = sa.update(Account).values(login_attempts=Account.login_attempts + 1)
    db.session.execute(one_more.where(Account.id == account_id))
    told = (utcnow(), browser.ip, throttle.network_of(browser.ip), False)
    columns = (SignIn.at, SignIn.ip, SignIn.network, SignIn.succeeded)
    values = (sa.literal(value, column.type) for value, column in zip(told, columns, strict=True))
    attempt = sa.select(Account.id, *values).where(Account.id == account_id)
    db.session.execute(sa.insert(SignIn).from_select([SignIn.account_id, *columns], attempt))


def _mark(account: Account) -> str:
    return sha256((account.password_hash or "").encode()).hexdigest()


def _candidate(name: str) -> _Candidate | None:
    """The person whom the name means: by username first, then by e-mail."""
    key = key_of(name.strip())
    query = (
        sa.select(Account.id, Account.password_hash)
        .where(
            sa.or_(Account.username_key == key, Account.email_key == key),
            Account.kind == AccountKind.PERSON,
            Account.password_hash.is_not(None),
            Account.deleted_at.is_(None),
        )
        .order_by((Account.username_key == key).desc())
        .limit(1)
    )
    found = db.session.execute(query).first()
    return _Candidate(found.id, found.password_hash) if found else None


def _still_there(candidate: _Candidate) -> Account | None:
    """The account, unless it was deleted or got another password while hashing."""
    query = sa.select(Account).where(
        Account.id == candidate.account_id,
        Account.deleted_at.is_(None),
        Account.password_hash == candidate.password_hash,
    )
    return db.session.scalar(query.with_for_update())
