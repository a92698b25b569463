"""Which applications have the newest state of each environment."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import NamedTuple

from app.catalogue.receipts import queries, states
from app.catalogue.receipts.queries import Change, Running
from app.catalogue.receipts.service import GONE_AFTER, Counted, Receipt
from app.catalogue.receipts.states import OPEN, State
from app.catalogue.usage.service import INSTANCES_KEPT
from app.core.actor import Actor
from app.core.clock import utcnow

LATE_AFTER = timedelta(minutes=5)
LATE_FOR = timedelta(hours=24)
"""Changes that are older are no longer called late."""

Affecting = dict[tuple[str, frozenset[str] | None], list[Change]]
"""Changes, latest first, by the environment and the projects that a token reads."""


@dataclass(frozen=True)
class Arrival(Counted):
    """An application in an environment. ``receipts``: of the newest change for each process.

    Processes that were silent for long aren't among them. ``behind``: how many changes the one that
    is furthest behind doesn't have.
    """

    application: str
    environment: str
    receipts: Sequence[Receipt]
    behind: int
    sdks: Sequence[str]
    last_seen_at: datetime


class Late(NamedTuple):
    """A change that some processes of an application don't have, though they could by now."""

    application: str
    environment: str
    change: Change
    processes: int


def of_all() -> list[Arrival]:
    """Return where applications run or ran lately, by their names and environments."""
    now = utcnow()
    processes = queries.running(now - INSTANCES_KEPT)
    affecting = _affecting(processes, queries.last_changes())
    groups = groupby(processes, _place)
    return [_arrival(*place, list(found), affecting, now) for place, found in groups]


def late(actor: Actor | None = None) -> list[Late]:
    """Return the newest late change by application and environment. ``actor``: who can see it."""
    now = utcnow()
    last = queries.last_changes(actor, since=now - LATE_FOR)
    changes = [one for one in last if one.at <= now - LATE_AFTER]
    if not changes:
        return []
    since = changes[-1].at - GONE_AFTER
    processes = queries.running(since, lacking=changes[0].id)
    affecting = _affecting(processes, changes)
    found = []
    for place, group in groupby(processes, _place):
        of_each = (
            _late_change(one, affecting[one.environment, one.projects], now) for one in group
        )
        missing = [change for change in of_each if change is not None]
        if missing:
            found.append(Late(*place, max(missing, key=lambda one: one.id), len(missing)))
    return found


def _late_change(process: Running, changes: Sequence[Change], now: datetime) -> Change | None:
    """The newest of the changes, unless the process has it, can't tell or doesn't count."""
    if not changes:
        return None
    newest = changes[0]
    is_counted = process.last_seen_at >= newest.at - GONE_AFTER
    if not is_counted or states.began_with(process, newest):
        return None
    return newest if states.state_of(process, newest, now) in OPEN else None


def _place(process: Running) -> tuple[str, str]:
    return process.application, process.environment


def _affecting(processes: Iterable[Running], changes: Sequence[Change]) -> Affecting:
    reads = {(one.environment, one.projects) for one in processes}
    return {each: [one for one in changes if states.affects(one, *each)] for each in reads}


def _arrival(
    application: str,
    environment: str,
    processes: Sequence[Running],
    affecting: Affecting,
    now: datetime,
) -> Arrival:
    alive = [one for one in processes if one.last_seen_at >= now - _patience(one)]
    missing = [
        _number_missing(one, affecting[one.environment, one.projects])
        for one in alive
        if one.polled_at is not None
    ]
    return Arrival(
        application,
        environment,
        [_receipt(one, affecting[one.environment, one.projects], now) for one in alive],
        max(missing, default=0),
        sorted({one.sdk for one in alive or processes if one.sdk}),
        max(one.last_seen_at for one in processes),
    )


def _number_missing(process: Running, changes: Sequence[Change]) -> int:
    """How many of the changes, latest first, a process isn't known to have."""
    held, sent = process.held_event or 0, process.sent_event
    last = held if sent is None else min(held, sent)
    return bisect_left(changes, -last, key=lambda change: -change.id)


def _patience(process: Running) -> timedelta:
    return max(GONE_AFTER, states.INTERVALS * states.interval_of(process))


def _receipt(process: Running, changes: Sequence[Change], now: datetime) -> Receipt:
    if changes:
        return Receipt(process, states.state_of(process, changes[0], now))
    if not states.can_tell(process) or not process.keeps_etags:
        return Receipt(process, State.CANT_TELL)
    was_sent = process.sent_event is not None
    return Receipt(process, State.SENT if was_sent else State.CONFIRMED)
