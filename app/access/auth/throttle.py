"""Slows down guessing, by name and by network, with growing delays.

At an address where the account has signed in before, the address counts instead of the network,
so neighbours can't lock out the owner of the account.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

import sqlalchemy as sa

from app.access.auth.models import SignIn, Throttle
from app.accounts.models import key_of
from app.core.clock import utcnow
from app.core.db import db, insert_if_absent, locked
from app.core.errors import TooManyRequests
from app.core.networks import network_of


@dataclass(frozen=True, slots=True)
class Limit:
    """``free`` failures without delay, then 2, 4, 8 … seconds up to ``longest``."""

    free: int
    longest: timedelta

    def wait(self, throttle: Throttle, now: datetime) -> timedelta:
        """The time until the next attempt; zero or less means now."""
        beyond = throttle.failures - self.free
        if beyond < 0:
            return timedelta()
        delay = min(timedelta(seconds=2 ** min(beyond + 1, 20)), self.longest)
        since = max(now - throttle.counted_at, timedelta())  # the clock may have been set back
        return delay - since


FORGOTTEN = timedelta(hours=1)
"""How long without a failure resets a counter."""

FROM_PLACE = Limit(20, timedelta(minutes=5))
NAME_FROM_PLACE = Limit(5, timedelta(minutes=5))
NAME = Limit(50, timedelta(minutes=2))
"""Bounds guesses from many networks; networks that the account signed in from are exempt."""


@dataclass(frozen=True, slots=True)
class Counted:
    """Keys of the counters that count an attempt. ``own``: that of this name from this place."""

    own: str
    shared: tuple[str, ...]


def count(name: str, ip: str | None, account_id: int) -> Counted:
    """Count an attempt as a failure until ``forgive`` says otherwise.

    ``account_id``: the account with that name, or an id without an account.

    Raises:
        TooManyRequests: if the attempt comes too early.

    """
    limits, now = _limits(name, ip, account_id), utcnow()
    db.session.execute(sa.delete(Throttle).where(Throttle.counted_at < now - FORGOTTEN))
    keys = sorted(limits)  # one order for all callers avoids deadlocks
    fresh = [{"key": key, "failures": 0, "counted_at": now} for key in keys]
    db.session.execute(insert_if_absent(Throttle), fresh)
    query = sa.select(Throttle).where(Throttle.key.in_(keys)).order_by(Throttle.key)
    throttles = list(db.session.scalars(locked(query)))
    wait = max(limits[throttle.key].wait(throttle, now) for throttle in throttles)
    if wait > timedelta():
        raise TooManyRequests(seconds=int(wait.total_seconds()) + 1)
    for throttle in throttles:
        throttle.failures += 1
        throttle.counted_at = now
    own, *shared = limits
    return Counted(own, tuple(shared))


def forgive(counted: Counted) -> None:
    """Uncount an attempt that succeeded, and reset the counter of this name from this place."""
    db.session.execute(sa.delete(Throttle).where(Throttle.key == counted.own))
    db.session.execute(
        sa.update(Throttle)
        .where(Throttle.key.in_(counted.shared), Throttle.failures > 0)
        .values(failures=Throttle.failures - 1)
    )


def _limits(name: str, ip: str | None, account_id: int) -> dict[str, Limit]:
    """The limits by key, the one of this name from this place first."""
    network = network_of(ip)
    successes = sa.exists().where(SignIn.account_id == account_id, SignIn.succeeded)
    query = sa.select(successes.where(SignIn.ip == ip), successes.where(SignIn.network == network))
    is_known_address, is_known_network = db.session.execute(query).one()
    place = f"address {ip}" if is_known_address else f"network {network}"
    of_name = sha256(key_of(name.strip()).encode()).hexdigest()[:32]
    limits = {f"{of_name} from {place}": NAME_FROM_PLACE, place: FROM_PLACE}
    return limits if is_known_network else limits | {of_name: NAME}
