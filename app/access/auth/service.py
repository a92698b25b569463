"""Sign-in with a password: throttled before hashing, with equal work for unknown names."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from time import perf_counter, sleep
from typing import TypeVar

import sqlalchemy as sa

from app.access.auth import attempts, second_factor, throttle
from app.access.auth.models import SignIn
from app.access.auth.throttle import Counted
from app.access.security_log import service as security_log
from app.access.security_log.models import SecurityKind
from app.access.security_log.service import LogEntry
from app.accounts import passwords
from app.accounts.models import Account, AccountKind, key_of
from app.accounts.sessions import service as sessions
from app.accounts.sessions.service import Browser, Origin
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.config import Settings
from app.core.db import db, locked, save, transact
from app.core.errors import NotFound, WrongPassword
from app.core.networks import network_of
from app.core.permissions import Role

T = TypeVar("T")

NO_ACCOUNT = 0
"""An id without an account, so that unknown names cause the same queries as known ones."""

STEP = timedelta(milliseconds=50)


@dataclass(frozen=True, slots=True)
class SignInResult:
    """A new session, and what its owner should know about earlier sign-ins."""

    account: Account
    secret: str
    last_at: datetime | None
    last_ip: str | None
    failed_since: int


@dataclass(frozen=True, slots=True)
class PendingSecondFactor:
    """A correct password that waits for a code. ``mark`` changes with the password."""

    account_id: int
    mark: str


@dataclass(frozen=True, slots=True)
class _Candidate:
    account_id: int
    name: str
    password_hash: str


def may_use_password(name: str, role: Role, settings: Settings) -> bool:
    """Whether the account with this name can sign in with its password."""
    if settings.password_sign_in:
        return True
    names = {key_of(each) for each in settings.break_glass_admins}
    return role is Role.ADMIN and key_of(name) in names


def sign_in(
    name: str, password: str, browser: Browser, settings: Settings
) -> SignInResult | PendingSecondFactor | None:
    """Start a session if the name (or e-mail) and password are correct, else return None.

    With two-step sign-in on, ``finish`` starts the session. If only break-glass Admins may use a
    password, the passwords of all others count as wrong.

    Uses two units of work, so that no one waits for the database while a password is hashed.

    Raises:
        TooManyRequests: after too many failures, whatever the password; and while all hashing
            slots are taken, which doesn't count as a failure.

    """

    def find() -> tuple[_Candidate | None, Counted]:
        candidate = _candidate(name)
        account_id = candidate.account_id if candidate else NO_ACCOUNT
        return candidate, throttle.count(name, browser.ip, account_id)

    def conclude() -> SignInResult | PendingSecondFactor | None:
        account = _unchanged(candidate) if candidate and is_right else None
        if account is None or not may_use_password(account.label, account.role, settings):
            _record_failure(candidate, browser)
            return None
        throttle.forgive(counted)
        return begin_session(account, browser)

    # The slot comes first: without one, there is no query either.
    with passwords.hashing_slot(), _rounded_duration():
        candidate, counted = transact(find, writes=True)
        is_right = passwords.matches(candidate.password_hash if candidate else None, password)
        return transact(conclude, writes=True)


def admit(account: Account, browser: Browser, origin: Origin | None = None) -> SignInResult:
    """Start a session. ``origin``: of single sign-on; None after a password."""
    last = db.session.execute(
        sa.select(SignIn.at, SignIn.ip)
        .where(SignIn.account_id == account.id, SignIn.succeeded)
        .order_by(SignIn.id.desc())
        .limit(1)
    ).first()
    network = network_of(browser.ip)
    save(SignIn(account_id=account.id, ip=browser.ip, network=network, succeeded=True))
    failed, account.login_attempts = account.login_attempts, 0
    account.last_sign_in_at = utcnow()
    secret = sessions.open(account.id, browser, origin)
    how = None if origin is None else "single sign-on"
    entry = LogEntry(SecurityKind.SIGN_IN, browser.ip, account.id, account.label, detail=how)
    security_log.record(entry)
    at, ip = (last.at, last.ip) if last else (None, None)
    return SignInResult(account, secret, at, ip, failed)


def begin_session(account: Account, browser: Browser) -> SignInResult | PendingSecondFactor:
    """Sign in an account after its password was checked, or ask for the second step."""
    if second_factor.is_on(account.id):
        return PendingSecondFactor(account.id, _mark(account))
    return admit(account, browser)


def finish(
    pending: PendingSecondFactor, code: str, key: str, browser: Browser
) -> SignInResult | None:
    """Start the session if the code is correct, else return None.

    Raises:
        TooManyRequests: after too many failures.
        NotFound: if the account was deleted or has a new password since.

    """
    account = db.session.get(Account, pending.account_id)
    if account is None or not account.is_active or _mark(account) != pending.mark:
        raise NotFound("This sign-in is no longer valid. Start again.")
    name = f"\0{account.id}"  # no one can type this
    counted = throttle.count(name, browser.ip, account.id)
    actor = Actor(id=account.id, username=account.label, role=account.role, ip=browser.ip)
    if not second_factor.accepts(actor, code, key):
        attempts.note_failure(account.id, browser)
        security_log.record(LogEntry.by(actor, SecurityKind.TWO_STEP_CODE_FAILED))
        return None
    throttle.forgive(counted)
    return admit(account, browser)


def with_password(actor: Actor, work: Callable[[], T]) -> T:
    """Run ``work``, which checks the actor's password; failures count like those at sign-in.

    Raises:
        TooManyRequests: after too many failures.

    """
    counted = throttle.count(actor.username, actor.ip, actor.account_id)
    try:
        result = work()
    except WrongPassword:
        security_log.record(LogEntry.by(actor, SecurityKind.PASSWORD_REFUSED))
        raise
    throttle.forgive(counted)
    return result


def prove(actor: Actor, password: str) -> None:
    """Check the password of the signed-in person.

    Raises:
        WrongPassword: if it is wrong.

    """
    account = db.session.get_one(Account, actor.account_id)
    wrong = WrongPassword("This is not your password.")
    with_password(actor, lambda: passwords.check(account, password, otherwise=wrong))


@contextmanager
def _rounded_duration() -> Iterator[None]:
    """Make the block take a multiple of STEP, which hides the time of writes for real accounts."""
    started = perf_counter()
    yield
    step = STEP.total_seconds()
    sleep(step - (perf_counter() - started) % step)


def _record_failure(candidate: _Candidate | None, browser: Browser) -> None:
    """Record a failure, with the same statements if there is no account."""
    account_id = candidate.account_id if candidate else None
    attempts.note_failure(account_id or NO_ACCOUNT, browser)
    name = candidate.name if candidate else None
    security_log.record(LogEntry(SecurityKind.SIGN_IN_FAILED, browser.ip, account_id, name))


def _mark(account: Account) -> str:
    return sha256((account.password_hash or "").encode()).hexdigest()


def _candidate(name: str) -> _Candidate | None:
    """The person with this username, or else with this e-mail."""
    key = key_of(name.strip())
    query = (
        sa.select(
            Account.id,
            sa.func.coalesce(Account.username, Account.email).label("name"),
            Account.password_hash,
        )
        .where(
            sa.or_(Account.username_key == key, Account.email_key == key),
            Account.kind == AccountKind.PERSON,
            Account.password_hash.is_not(None),
            Account.deleted_at.is_(None),
            Account.deactivated_at.is_(None),
        )
        .order_by((Account.username_key == key).desc())
        .limit(1)
    )
    found = db.session.execute(query).first()
    return _Candidate(found.id, found.name, found.password_hash) if found else None


def _unchanged(candidate: _Candidate) -> Account | None:
    """The account, unless it was deleted or got a new password during hashing."""
    query = sa.select(Account).where(
        Account.id == candidate.account_id,
        Account.deleted_at.is_(None),
        Account.deactivated_at.is_(None),
        Account.password_hash == candidate.password_hash,
    )
    return db.session.scalar(locked(query))
