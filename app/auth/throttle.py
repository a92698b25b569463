"""Slowing guesses down by name and by network, in growing steps; nobody is ever locked out.

What counts as one network: the first 24 bits of an IPv4 address, the first 64 of an IPv6 one.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from ipaddress import ip_address, ip_network

import sqlalchemy as sa

from app.accounts.models import key_of
from app.auth.models import SignIn, Throttle
from app.core.db import db, insert_if_absent, utcnow
from app.core.errors import TooManyRequests

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


def count(name: str, network: str, account_id: int) -> None:
    """Take an attempt for a failure until it is known to be none.

    ``account_id`` is whose the name is, or one that nobody has.

    Raises:
        TooManyRequests: when it comes too early.

    """
    limits, now = _limits(name, network, account_id), utcnow()
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


def forgive(name: str, network: str) -> None:
    """It was no failure: forget those of the name from here, and this one elsewhere."""
    from_network, pair, of_name = _keys(name, network)
    db.session.execute(sa.delete(Throttle).where(Throttle.key == pair))
    db.session.execute(
        sa.update(Throttle)
        .where(Throttle.key.in_([from_network, of_name]), Throttle.failures > 0)
        .values(failures=Throttle.failures - 1)
    )


def network_of(ip: str | None) -> str:
    if ip is None:
        return "unknown"
    try:
        address = ip_address(ip.partition("%")[0])
    except ValueError:
        return "unknown"
    return str(ip_network((address, NETWORK_BITS[address.version]), strict=False))


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
