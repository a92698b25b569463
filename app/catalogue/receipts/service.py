"""Receipts: which running processes of applications have a change."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import groupby
from typing import Any

from app.catalogue.features.queries import FeatureView
from app.catalogue.receipts import queries
from app.catalogue.receipts.queries import Change, Running
from app.catalogue.receipts.states import (
    OPEN,
    WRITTEN_WITHIN,
    State,
    affects,
    began_with,
    silent_at,
    state_of,
)
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.errors import NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType

GONE_AFTER = timedelta(hours=1)
"""Processes that were silent for so long before a change have probably ended, and don't count."""
MOST_NAMED = 1_000
"""Processes that are named one by one."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """A process and a change. ``after``: when it was confirmed, if that is still known."""

    process: Running
    state: State
    after: timedelta | None = None


class Counted:
    """Receipts, and how many are in each state."""

    receipts: Sequence[Receipt]

    @cached_property
    def counts(self) -> Counter[State]:
        return Counter(one.state for one in self.receipts)

    @property
    def total(self) -> int:
        return len(self.receipts) - self.counts[State.NOT_AFFECTED]

    @property
    def slowest(self) -> timedelta | None:
        """How long it took until the last that confirmed did; None if that isn't known."""
        times = [one.after for one in self.receipts if one.state is State.CONFIRMED]
        known = [time for time in times if time is not None]
        return max(known) if known and len(known) == len(times) else None

    @property
    def has_arrived(self) -> bool:
        """Whether all that can confirm have."""
        return not any(self.counts[state] for state in OPEN)

    def missing(self) -> list[Receipt]:
        """Return those that count and have not confirmed."""
        done = {State.CONFIRMED, State.NOT_AFFECTED}
        return [one for one in self.receipts if one.state not in done]


@dataclass(frozen=True)
class OfApplication(Counted):
    """The receipts of the processes of an application that have the same SDK."""

    application: str
    sdk: str | None
    receipts: Sequence[Receipt]

    @property
    def last_seen_at(self) -> datetime:
        return max(one.process.last_seen_at for one in self.receipts)


@dataclass(frozen=True)
class Receipts(Counted):
    """The receipts of a change in an environment, ``as_of`` a time."""

    change: Change
    environment: str
    as_of: datetime
    receipts: Sequence[Receipt]
    gone: int
    """Number of processes that were silent long before the change."""

    @property
    def applications(self) -> list[OfApplication]:
        """By application and SDK, those with something missing first."""
        groups = groupby(self.receipts, lambda one: (one.process.application, one.process.sdk))
        found = [OfApplication(*key, list(receipts)) for key, receipts in groups]
        return sorted(found, key=lambda one: not one.missing())

    @property
    def place(self) -> dict[str, Any]:
        return self.change.place(self.environment)

    @property
    def is_complete(self) -> bool:
        """Whether all that ran before the change are known: their reports are written by now."""
        return self.as_of >= self.change.at + WRITTEN_WITHIN

    @property
    def has_arrived(self) -> bool:
        return self.is_complete and super().has_arrived

    @property
    def due_at(self) -> datetime | None:
        """When those that are sent or waiting become silent, if they do; None if there are none."""
        due = {State.WAITING, State.SENT}
        times = [silent_at(one.process, self.change) for one in self.receipts if one.state in due]
        return max(times, default=None)


def read(view: FeatureView, environment: str, event: int | None = None) -> Receipts:
    """Return the receipts of a change of a feature. ``event``: of this one, not of the latest.

    Raises:
        NotFound: if there is no such change, if it was pruned, or if the environment isn't used.

    """
    view.state(environment)
    feature = view.feature
    change = change_of(feature.project_id, [feature.name], environment, event=event)
    return of(change, environment)


def change_of(
    project_id: str, names: Sequence[str], environment: str, *, event: int | None = None
) -> Change:
    """Return the latest change of any of the features in an environment. ``event``: this one.

    Raises:
        NotFound: if there is no such change, or if it was pruned.

    """
    change = queries.change_of(project_id, names, environment, id=event)
    if change is None:
        which = "no change" if event is None else f"no event {event} that is a change"
        raise NotFound(f"The log has {which} of {names[0]} in {environment}.")
    return change


def of_batch(batch_id: str, environment: str) -> Receipts | None:
    """Return the receipts of an act. All that it changed arrives together.

    None if it changed nothing that applications read, or if it was pruned.
    """
    change = queries.last_of_batch(batch_id)
    return None if change is None else of(change, environment)


def of(change: Change, environment: str) -> Receipts:
    """Return what is known of a change and each process that ran before it."""
    now, since = utcnow(), change.at - GONE_AFTER
    processes = [one for one in queries.running(since, environment) if not began_with(one, change)]
    held_until = _held_until(change, environment, processes)
    receipts = [_receipt(one, change, now, held_until[one.projects]) for one in processes]
    gone = sum(
        number
        for projects, number in queries.gone(environment, since)
        if affects(change, environment, projects)
    )
    return Receipts(change, environment, now, receipts, gone)


def is_lacked(change: Change, environment: str) -> bool:
    """Whether some process may not have a change. Cheaper than ``of``."""
    return bool(queries.running(change.at - GONE_AFTER, environment, lacking=change.id))


def mark_as_ended(actor: Actor, receipts: Receipts, *, as_of: datetime | None = None) -> int:
    """Forget the silent processes. If one still runs, it appears again. Return their number.

    ``as_of``: only those that were silent already at this time.
    """
    silent = [
        one.process
        for one in receipts.receipts
        if one.state is State.SILENT
        and (as_of is None or silent_at(one.process, receipts.change) < as_of)
    ]
    if not silent:
        return 0
    queries.forget(silent)
    ids = [{"appName": one.application, "instanceId": one.id} for one in silent[:MOST_NAMED]]
    change = receipts.change
    events.record(
        actor,
        EventType.INSTANCES_ENDED,
        project=change.project,
        feature_name=change.feature,
        data={
            "environment": receipts.environment,
            "event": change.id,
            "number": len(silent),
            "instances": ids,
        },
    )
    return len(silent)


def _held_until(
    change: Change, environment: str, processes: Iterable[Running]
) -> dict[frozenset[str] | None, int | None]:
    """By the projects that a token reads, the next change of them; None if there is none yet.

    Of processes that have that too, it isn't known when they had this one.
    """
    later = queries.changes_after(change, environment)
    return {
        projects: next((one.id for one in later if affects(one, environment, projects)), None)
        for projects in {one.projects for one in processes}
    }


def _receipt(process: Running, change: Change, now: datetime, until: int | None) -> Receipt:
    state = state_of(process, change, now)
    held_at, held = process.held_at, process.held_event or 0
    is_known = state is State.CONFIRMED and (until is None or held < until)
    after = held_at - change.at if is_known and held_at and held_at >= change.at else None
    return Receipt(process, state, after)
