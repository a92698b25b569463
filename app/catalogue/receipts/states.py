"""What is known of a change and a process: proved by how it asks, never guessed."""

from datetime import datetime, timedelta
from enum import StrEnum

from app.catalogue.receipts.queries import Change, Running

INTERVAL = 15
"""Seconds between two polls of most SDKs."""
INTERVALS = 2
"""After so many without a poll, a process is silent."""
WRITTEN_WITHIN = timedelta(seconds=5)
"""How long it takes at most until a poll is recorded."""
NOTED_WITHIN = timedelta(seconds=65)
"""The same for a poll that says nothing new."""
NAMELESS = "unknown"
"""Id of processes that don't say which they are. There may be several."""


class State(StrEnum):
    """What is known of a change and a process.

    ``words.MEANINGS`` says for people what each means. SENT and WAITING end as CONFIRMED or SILENT.
    """

    CONFIRMED = "confirmed"
    SENT = "sent"
    WAITING = "waiting"
    SILENT = "silent"
    CANT_TELL = "cantTell"
    NOT_AFFECTED = "notAffected"


OPEN = (State.SENT, State.WAITING, State.SILENT)
"""States of those that can confirm a change and have not."""


def state_of(process: Running, change: Change, now: datetime) -> State:
    """Return what a process is known to have of a change."""
    if not affects(change, process.environment, process.projects):
        return State.NOT_AFFECTED
    if not can_tell(process):
        return State.CANT_TELL
    if has(process, change):
        return State.CONFIRMED
    if now > silent_at(process, change):
        return State.SILENT
    if process.sent_event is not None and process.sent_event >= change.id:
        return State.SENT if process.keeps_etags else State.CANT_TELL
    return State.WAITING


def can_tell(process: Running) -> bool:
    """Whether what polls with its id prove holds for one process."""
    is_one = process.id != NAMELESS and process.shared_at is None
    return process.polled_at is not None and is_one


def has(process: Running, change: Change) -> bool:
    """Whether a change is in what a process proved to have, and in what it was sent since."""
    held, sent = process.held_event, process.sent_event
    return held is not None and held >= change.id and (sent is None or sent >= change.id)


def silent_at(process: Running, change: Change) -> datetime:
    """Return when a process is silent, if it isn't heard from until then.

    Polls that say nothing new are recorded once a minute, but the first one after a change at once.
    """
    heard = process.polled_at or process.last_seen_at
    if heard < change.at:
        heard = min(heard + NOTED_WITHIN, change.at)
    elif not process.keeps_etags:
        heard += NOTED_WITHIN
    return heard + INTERVALS * interval_of(process) + WRITTEN_WITHIN


def began_with(process: Running, change: Change) -> bool:
    """Whether a process started after a change, and proved that or has been sent it."""
    if process.first_seen_at is None or process.first_seen_at <= change.at:
        return False
    known = [one for one in (process.held_event, process.sent_event) if one is not None]
    return bool(known) and min(known) >= change.id


def affects(change: Change, environment: str, projects: frozenset[str] | None) -> bool:
    """Whether a change may alter what a token reads. ``projects``: which it reads; None for all."""
    if change.environment not in {None, environment}:
        return False
    return change.project is None or projects is None or change.project in projects


def interval_of(process: Running) -> timedelta:
    return timedelta(seconds=process.interval or INTERVAL)
