"""The security log: sign-ins and sign-outs, refusals, look-ups of tokens, and exports.

Unlike the event log it is not a record of changes, and not chained. It is bounded: strangers can
cause entries, and must not fill the disk.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Self, TypedDict, Unpack

import sqlalchemy as sa

from app.access.security_log.models import SECURITY_ENTRIES, SecurityEntry, SecurityKind
from app.accounts.models import Account
from app.accounts.tokens.models import Token
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import CHUNK, db, unit_of_work
from app.core.networks import network_of

MOST_A_MINUTE = 10
"""Rows of one kind, network and account. Further entries are counted in the last of them."""
MINUTE = timedelta(minutes=1)
LONGEST_IP = 45
LONGEST_DETAIL = 255

observers: set[Callable[[SecurityKind, int], object]] = set()
"""Called with the kind of each entry, and how often it happened."""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """What to record; equal ones can be counted instead of repeated.

    ``name``: of an account that exists or existed, never what someone typed.
    """

    kind: SecurityKind
    ip: str | None
    account_id: int | None = None
    name: str | None = None
    token_id: int | None = None
    detail: str | None = None

    @classmethod
    def by(cls, actor: Actor, kind: SecurityKind, detail: str | None = None) -> Self:
        """An entry about a known caller."""
        return cls(kind, actor.ip, actor.id, actor.username, actor.token_id, detail)


class SecurityFilters(TypedDict, total=False):
    """``from_`` is included, ``to`` is not."""

    kind: SecurityKind
    account: int
    ip: str
    from_: datetime
    to: datetime


def record(entry: LogEntry, *, times: int = 1, at: datetime | None = None) -> None:
    """Record the entry in the current transaction, always with the same two statements.

    So the time that it takes doesn't reveal whether an account exists.
    """
    at, network = at or utcnow(), network_of(entry.ip)
    account_id = sa.literal(entry.account_id, sa.Integer)  # None would make another statement
    last = (
        sa.select(SecurityEntry.id)
        .where(
            SecurityEntry.kind == entry.kind,
            SecurityEntry.network == network,
            SecurityEntry.account_id.is_not_distinct_from(account_id),
            SecurityEntry.at > at - MINUTE,
        )
        .order_by(SecurityEntry.id)
        .offset(MOST_A_MINUTE - 1)
        .limit(1)
    )
    one_more = sa.update(SecurityEntry).values(times=SecurityEntry.times + times)
    db.session.execute(
        one_more.where(SecurityEntry.id == last.scalar_subquery()),
        execution_options={"synchronize_session": False},
    )
    columns = {
        SecurityEntry.at: at,
        SecurityEntry.kind: entry.kind,
        SecurityEntry.account_id: entry.account_id,
        SecurityEntry.name: entry.name,
        SecurityEntry.ip: entry.ip and entry.ip[:LONGEST_IP],
        SecurityEntry.network: network,
        SecurityEntry.token_id: entry.token_id,
        SecurityEntry.detail: entry.detail and entry.detail[:LONGEST_DETAIL],
        SecurityEntry.times: times,
    }
    values = (sa.literal(value, column.type) for column, value in columns.items())
    unless_counted = sa.select(*values).where(~sa.exists(last))
    db.session.execute(sa.insert(SecurityEntry).from_select([*columns], unless_counted))
    for observe in observers:
        observe(entry.kind, times)


def looked_up(token: Token | None, owner: Account | None) -> str:
    """What looking up a token found, without its secret."""
    if token is None or owner is None:
        return "unknown"
    return f"token {token.id} of {owner.label}"


def search(
    *, limit: int, before: int | None = None, count: bool = True, **filters: Unpack[SecurityFilters]
) -> tuple[list[SecurityEntry], int]:
    """Entries newest first, those with an id below ``before``, and the number of all that match.

    Without ``count`` the number is 0: counting reads all of them.
    """
    conditions = _conditions(filters)
    total = 0
    if count:
        number = sa.select(sa.func.count(SecurityEntry.id)).where(*conditions)
        total = db.session.scalar(number) or 0
    query = sa.select(SecurityEntry).where(*conditions)
    if before is not None:
        query = query.where(SecurityEntry.id < before)
    found = db.session.scalars(query.order_by(SecurityEntry.id.desc()).limit(limit))
    return list(found), total


def stream(**filters: Unpack[SecurityFilters]) -> Iterator[SecurityEntry]:
    """All entries that match, newest first, read in short separate transactions."""
    before = None
    while True:
        with unit_of_work(writes=False):
            found, _ = search(limit=CHUNK, before=before, count=False, **filters)
        yield from found
        if len(found) < CHUNK:
            return
        before = found[-1].id


def prune(*, days: int) -> None:
    """Delete entries older than this many days, and the oldest beyond their quota."""
    newest = sa.select(sa.func.max(SecurityEntry.id)).scalar_subquery()
    is_old = SecurityEntry.at < utcnow() - timedelta(days=days)
    is_due = sa.or_(is_old, SecurityEntry.id <= newest - SECURITY_ENTRIES.rows)
    with unit_of_work(writes=False):
        exist = db.session.scalar(sa.select(sa.exists().where(is_due)))
    if exist:  # so that most calls only read
        with unit_of_work(writes=True):
            db.session.execute(sa.delete(SecurityEntry).where(is_due))


def _conditions(filters: SecurityFilters) -> list[sa.ColumnElement[bool]]:
    tests: dict[str, Callable[[Any], sa.ColumnElement[bool]]] = {
        "kind": SecurityEntry.kind.__eq__,
        "account": SecurityEntry.account_id.__eq__,
        "ip": SecurityEntry.ip.__eq__,
        "from_": SecurityEntry.at.__ge__,
        "to": SecurityEntry.at.__lt__,
    }
    return [tests[key](value) for key, value in filters.items()]
