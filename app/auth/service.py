"""Signing in with a password: throttled before it costs anything, alike for unknown names.

What counts as one network: the first 24 bits of an IPv4 address, the first 64 of an IPv6 one.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from ipaddress import ip_address, ip_network
from time import perf_counter, sleep
from typing import TypeVar

import sqlalchemy as sa

from app.accounts import passwords
from app.accounts.models import Account, AccountKind, key_of
from app.auth import second_factor
from app.auth.models import SignIn, Throttle
from app.core.actor import Actor
from app.core.db import db, insert_if_absent, save, transact, utcnow
from app.core.errors import NotFound, TooManyRequests, WrongPassword
from app.sessions import service as sessions
from app.sessions.service import Browser

T = TypeVar("T")

HISTORY = timedelta(days=400)
NOBODY = 0
"""No account has this id; for a name of nobody the database is asked about it just the same."""

STEP = timedelta(milliseconds=50)

NETWORK_BITS = {4: 24, 6: 64}


@dataclass(frozen=True, slots=True)
class Limit:
    """``free`` failures without delay, then 2, 4, 8 … seconds up to ``longest``."""

    free: int
    longest: timedelta

    def wait(self, throttle: Throttle, now: datetime) -> timedelta:
        """How long until the next attempt, at most zero for none."""
        beyond = throttle.failures - self.free
        if beyond < 0:
            return timedelta()
        delay = min(timedelta(seconds=2 ** min(beyond + 1, 20)), self.longest)
        since = max(now - throttle.counted_at, timedelta())  # clocks may be set back
        return delay - since


FORGOTTEN = timedelta(hours=1)
"""After so long without a failure, counting begins anew."""

FROM_NETWORK = Limit(20, timedelta(minutes=5))
NAME_FROM_NETWORK = Limit(5, timedelta(minutes=5))
NAME = Limit(50, timedelta(minutes=2))
"""Bounds what many networks together can try; those that the person came from before are free."""


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
    network = network_of(browser.ip)

    def look() -> _Candidate | None:
        candidate = _candidate(name)
        account_id = candidate.account_id if candidate else NOBODY
        _count(_limits(name, network, account_id), utcnow())
        return candidate

    def conclude() -> Welcome | HalfWay | None:
        account = _still_there(candidate) if candidate and fits else None
        if account is None:
            _note_failure(candidate.account_id if candidate else NOBODY, browser)
            return None
        _forgive(name, network)
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
    name, network = f"\0{account.id}", network_of(browser.ip)  # which nobody can type as a name
    _count(_limits(name, network, account.id), utcnow())
    actor = Actor(id=account.id, username=account.label, role=account.role, ip=browser.ip)
    if not second_factor.fits(actor, code, key):
        _note_failure(account.id, browser)
        return None
    _forgive(name, network)
    return _welcome(account, browser)


def with_password(actor: Actor, work: Callable[[], T]) -> T:
    """Do ``work``, which asks for the actor's own password: wrong ones count as at sign-in.

    Raises:
        TooManyRequests: after too many.

    """
    name, network = actor.username, network_of(actor.ip)
    _count(_limits(name, network, actor.account_id), utcnow())
    done = work()
    _forgive(name, network)
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


def network_of(ip: str | None) -> str:
    if ip is None:
        return "unknown"
    try:
        address = ip_address(ip.partition("%")[0])
    except ValueError:
        return "unknown"
    return str(ip_network((address, NETWORK_BITS[address.version]), strict=False))


def _welcome(account: Account, browser: Browser) -> Welcome:
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
    told = (utcnow(), browser.ip, network_of(browser.ip), False)
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


def _limits(name: str, network: str, account_id: int) -> dict[str, Limit]:
    keys = _keys(name, network)
    limits = dict(zip(keys, (FROM_NETWORK, NAME_FROM_NETWORK, NAME), strict=True))
    if _came_from_before(account_id, network):
        del limits[keys[-1]]
    return limits


def _keys(name: str, network: str) -> tuple[str, str, str]:
    of_name = sha256(key_of(name.strip()).encode()).hexdigest()[:32]
    return f"network {network}", f"{of_name} from {network}", of_name


def _came_from_before(account_id: int, network: str) -> bool:
    query = sa.exists().where(
        SignIn.account_id == account_id, SignIn.network == network, SignIn.succeeded
    )
    return bool(db.session.scalar(sa.select(query)))


def _count(limits: dict[str, Limit], now: datetime) -> None:
    """Take an attempt for a failure until it is known to be none; refuse it if it is too early."""
    db.session.execute(sa.delete(Throttle).where(Throttle.counted_at < now - FORGOTTEN))
    keys = sorted(limits)  # in one order for all, or two could wait for each other
    fresh = [{"key": key, "failures": 0, "counted_at": now} for key in keys]
    db.session.execute(insert_if_absent(Throttle), fresh)
    query = sa.select(Throttle).where(Throttle.key.in_(keys)).order_by(Throttle.key)
    throttles = list(db.session.scalars(query.with_for_update()))
    wait = max(limits[throttle.key].wait(throttle, now) for throttle in throttles)
    if wait > timedelta():
        raise TooManyRequests(seconds=int(wait.total_seconds()) + 1)
    for throttle in throttles:
        throttle.failures += 1
        throttle.counted_at = now


def _forgive(name: str, network: str) -> None:
    """It was no failure: forget those of the name from here, and this one elsewhere."""
    from_network, pair, of_name = _keys(name, network)
    db.session.execute(sa.delete(Throttle).where(Throttle.key == pair))
    db.session.execute(
        sa.update(Throttle)
        .where(Throttle.key.in_([from_network, of_name]), Throttle.failures > 0)
        .values(failures=Throttle.failures - 1)
    )
