"""Verify that no event of the log was changed, removed or added."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa

from app.core.db import CHUNK, db
from app.core.events.chain import START, link
from app.core.events.event_types import EventType
from app.core.events.models import Event, EventHead

MAX_PROBLEMS = 10
_KEEP = (
    "BEGIN IF TG_OP = 'DELETE' AND OLD.id <= (SELECT pruned_to FROM event_heads) THEN RETURN OLD; "
    "END IF; RAISE EXCEPTION 'events are never changed'; END"
)
TRIGGERS = {
    "sqlite": {
        "events_stay": "CREATE TRIGGER events_stay BEFORE DELETE ON events "
        "WHEN OLD.id > (SELECT pruned_to FROM event_heads) "
        "BEGIN SELECT RAISE(ABORT, 'events are never changed'); END",
        "events_stay_as_they_are": "CREATE TRIGGER events_stay_as_they_are BEFORE UPDATE ON events "
        "BEGIN SELECT RAISE(ABORT, 'events are never changed'); END",
    },
    "postgresql": {
        "events_stay": f"27 {_KEEP}",  # before each row's update and delete
        "events_are_not_truncated": f"34 {_KEEP}",  # before the statement
    },
}
"""What refuses changes of events in each database, by name; the migrations create them."""

# What reading a row that someone tampered with may raise.
_UNREADABLE = (LookupError, ValueError, TypeError, AttributeError, sa.exc.SQLAlchemyError)
_table = sa.select(Event.__table__).order_by(Event.id)

Head = tuple[int, bytes]
"""The id and the digest of an event."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known from outside the database. ``source``: where that is known from.

    ``heads``: events and their digests. ``prunings``: the last event of each pruning; None if the
    source has no prunings.
    """

    source: str = ""
    heads: Sequence[Head] = ()
    prunings: frozenset[Head] | None = None


@dataclass(slots=True)
class Verdict:
    """How many events were read, where the log ends, and what is wrong."""

    count: int = 0
    last_id: int = 0
    digest: bytes = START
    problems: list[str] = field(default_factory=list)


def verify(evidence: Evidence) -> Verdict:
    """Check every digest of the chain, and compare it with the evidence."""
    heads = db.session.scalars(sa.select(EventHead)).all()
    if len(heads) != 1:
        found = f"{len(heads)} rows say" if heads else "No row says"
        return Verdict(problems=[f"{found} where the log ends."])
    [head] = heads
    verdict = Verdict(last_id=head.pruned_to, digest=head.pruned_digest)
    prunings = _follow(verdict, evidence)
    verdict.problems += _problems_of_end(verdict, head, evidence)
    verdict.problems += _problems_of_beginning(head, evidence, prunings)
    verdict.problems += _problems_of_triggers()
    del verdict.problems[MAX_PROBLEMS:]
    return verdict


def _follow(verdict: Verdict, evidence: Evidence) -> set[Head]:
    """Check every event. Return the prunings that events record."""
    known = defaultdict(set)
    for id, digest in evidence.heads:
        known[id].add(digest)
    _compare(verdict, known, evidence)
    prunings: set[Head] = set()
    for event in _events(verdict):
        id = event["id"]
        if id > verdict.last_id + 1:
            verdict.problems.append(f"Events between {verdict.last_id} and {id} are missing.")
        elif _digest(verdict.digest, event) != event["digest"]:
            verdict.problems.append(
                f"Event {id}, or the event before it, is not as it was recorded."
            )
        verdict.count, verdict.last_id, verdict.digest = verdict.count + 1, id, event["digest"]
        _compare(verdict, known, evidence)
        prunings |= _prunings(event)
        if len(verdict.problems) >= MAX_PROBLEMS:
            break
    return prunings


def _compare(verdict: Verdict, known: dict[int, set[bytes]], evidence: Evidence) -> None:
    if verdict.last_id in known and known[verdict.last_id] != {verdict.digest}:
        verdict.problems.append(
            f"Event {verdict.last_id} is not the one in {evidence.source}: the log was rewritten."
        )
        known.clear()  # all later ones differ too


def _digest(before: bytes, event: Mapping[str, Any]) -> bytes | None:
    try:
        return link(before, event)
    except _UNREADABLE:
        return None


def _prunings(event: Mapping[str, Any]) -> set[Head]:
    if event["type"] is not EventType.EVENTS_PRUNED:
        return set()
    try:
        return {(event["data"]["through"], bytes.fromhex(event["data"]["digest"]))}
    except _UNREADABLE:
        return set()


def _events(verdict: Verdict) -> Iterator[dict[str, Any]]:
    """All events by id. Ends at one that can't be read, and reports it."""
    query = _table.execution_options(yield_per=CHUNK)
    try:
        with db.session.execute(query) as found:
            for event in found.mappings():
                yield dict(event)
    except _UNREADABLE:
        verdict.problems.append(f"Event {_first_unreadable(verdict.last_id)} can't be read.")


def _first_unreadable(after: int) -> int:
    """The first event that can't be read: rows are read in chunks, so try them one by one."""
    for id in db.session.scalars(sa.select(Event.id).where(Event.id > after).order_by(Event.id)):
        try:
            db.session.execute(_table.where(Event.id == id)).all()
        except _UNREADABLE:
            return id
    return after + 1


def _problems_of_end(verdict: Verdict, head: EventHead, evidence: Evidence) -> Iterator[str]:
    if verdict.problems:
        return  # or the first break would be reported twice
    noted = max((id for id, _ in evidence.heads), default=0)
    last = verdict.last_id
    if noted > last:
        yield f"Events after {last} are missing: {evidence.source} has event {noted}."
    elif head.last_id > last:
        yield f"Events after {last} are missing: the database notes {head.last_id} as the last."
    elif (head.last_id, head.digest) != (last, verdict.digest):
        yield (
            f"The log ends with event {last}, but the database notes {head.last_id} as the last, "
            "or another digest."
        )


def _problems_of_beginning(
    head: EventHead, evidence: Evidence, prunings: set[Head]
) -> Iterator[str]:
    """Report a removed beginning unless an event, and the source if it can, records its pruning."""
    removed = (head.pruned_to, head.pruned_digest)
    if removed == (0, START):
        return
    if removed not in prunings:
        yield f"Events up to {head.pruned_to} are missing, and no event says that they were pruned."
    elif evidence.prunings is not None and removed not in evidence.prunings:
        yield (
            f"Events up to {head.pruned_to} are missing, and {evidence.source} does not say that "
            "they were pruned."
        )


def _problems_of_triggers() -> Iterator[str]:
    wanted, found = TRIGGERS[db.engine.dialect.name], _triggers()
    if missing := sorted(wanted.keys() - found.keys()):
        names = " and ".join(missing)
        yield f"The database lets anyone change events: it has no trigger {names}."
    for name, text in wanted.items():
        if found.get(name, text) != text:
            yield f"The database lets anyone change events: its trigger {name} was replaced."


def _triggers() -> dict[str, str]:
    """Definitions of the enabled triggers on events, by name."""
    if db.engine.dialect.name == "postgresql":
        # O and A: fires in normal sessions, and always. A trigger of a replica doesn't count.
        query = (
            "SELECT tgname, concat_ws(' ', tgtype, tgqual, prosrc) FROM pg_trigger "
            "JOIN pg_proc ON pg_proc.oid = tgfoid "
            "WHERE tgrelid = 'events'::regclass AND tgenabled IN ('O', 'A')"
        )
    else:
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'events'"
    found = db.session.execute(sa.text(query))
    # SQLite puts names into quotes when it rewrites a trigger because a table was renamed.
    return {name: " ".join(text.replace('"', "").split()) for name, text in found}
