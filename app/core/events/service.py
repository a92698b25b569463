"""The only writer of the event log, in the transaction of the change itself."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol, TypedDict
from uuid import uuid4

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db
from app.core.errors import Conflict, NotFound
from app.core.events import writing
from app.core.events.chain import START
from app.core.events.event_types import EventType
from app.core.events.models import Event, EventHead
from app.core.events.writing import Act

_UNWRITTEN = "flagstaff.unwritten"


class EventPayload(TypedDict, total=False):
    """Fields of an event besides actor, time and IP address."""

    project: str | None
    feature_name: str | None
    data: dict[str, Any] | None
    pre_data: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class End:
    """Where the log ends, and the last of the events that were removed from its beginning."""

    last_id: int
    digest: bytes
    pruned_to: int
    pruned_digest: bytes


class _Feature(Protocol):
    """What the log says of a feature."""

    @property
    def name(self) -> str: ...

    @property
    def project_id(self) -> str: ...


class Recorded(NamedTuple):
    """Events that this transaction has recorded."""

    actor: Actor
    type: EventType
    payloads: list[EventPayload]


@dataclass(frozen=True, slots=True)
class Pruning:
    """How many events a pruning removed; ``through``, ``digest``: the last of them."""

    count: int
    through: int = 0
    digest: bytes = START


def record(
    actor: Actor,
    type: EventType,
    *,
    batch_id: str | None = None,
    project: str | None = None,
    feature_name: str | None = None,
    data: dict[str, Any] | None = None,
    pre_data: dict[str, Any] | None = None,
) -> None:
    """Record one change. ``pre_data`` and ``data``: the object before and after."""
    payload = EventPayload(project=project, feature_name=feature_name, data=data, pre_data=pre_data)
    record_all(actor, type, [payload], batch_id=batch_id)


def record_of(
    actor: Actor,
    type: EventType,
    feature: _Feature,
    *,
    data: dict[str, Any] | None = None,
    pre_data: dict[str, Any] | None = None,
) -> None:
    """Record one change of a feature."""
    record(
        actor,
        type,
        project=feature.project_id,
        feature_name=feature.name,
        data=data,
        pre_data=pre_data,
    )


def record_all(
    actor: Actor,
    type: EventType,
    payloads: Iterable[EventPayload],
    *,
    batch_id: str | None = None,
    connection: sa.Connection | None = None,
) -> None:
    """Record changes of many objects. ``batch_id``: of all these events.

    They are written when the transaction ends; see ``write``. ``connection``: to write to another
    database than the session's, at once.
    """
    payloads = list(payloads)
    if not payloads:
        return
    shared = {
        "type": type,
        "created_at": utcnow(),
        "created_by": actor.username,
        "created_by_user_id": actor.id,
        "token_id": actor.token_id,
        "ip": actor.ip,
        "reason": actor.reason or actor.cause,
        "batch_id": actor.batch_id or batch_id,
    }
    act = writing.encode(shared, payloads)
    if connection is not None:
        writing.append(connection, [act])
        return
    recorded().append(Recorded(actor, type, payloads))
    db.session.info.setdefault(_UNWRITTEN, []).append(act)


def write() -> None:
    """Append what this transaction has recorded to the log.

    The log is one chain, so no other transaction can do that until this one ends. So it is done
    late: before the commit, or before the transaction reads the log.
    """
    acts: list[Act] = db.session.info.pop(_UNWRITTEN, [])
    if acts:
        writing.append(db.session.connection(), acts)


def recorded() -> list[Recorded]:
    """What this transaction has recorded, and no check has dealt with yet."""
    found: list[Recorded] = db.session.info.setdefault("recorded", [])
    return found


@contextmanager
def savepoint(*, keeps: bool) -> Iterator[None]:
    """Undo the block's changes and its events if it fails, or unless it ``keeps`` them."""
    write()  # or undoing would undo that
    before = len(recorded())
    try:
        with db.session.begin_nested() as attempt:
            yield
            if not keeps:
                attempt.rollback()
    except BaseException:
        _forget(before)
        raise
    if not keeps:
        _forget(before)


def _forget(number: int) -> None:
    """Forget what was recorded after so many records, in a savepoint that was undone."""
    del recorded()[number:]
    db.session.info.pop(_UNWRITTEN, None)


def record_together(actor: Actor, type: EventType, payloads: Collection[EventPayload]) -> None:
    """Record changes of one or more objects; several of them as a batch."""
    record_all(actor, type, payloads, batch_id=new_batch() if len(payloads) > 1 else None)


def of_batch(
    batch_id: str,
    type: EventType | None = None,
    project: str | None = None,
    feature: str | None = None,
) -> list[Event]:
    """Events of a batch, oldest first; only those of this type, project and feature, if given."""
    wanted = {"type": type, "project": project, "feature_name": feature}
    query = sa.select(Event).filter_by(
        batch_id=batch_id, **{name: value for name, value in wanted.items() if value is not None}
    )
    return list(db.session.scalars(query.order_by(Event.id)))


def of_act(batch_id: str, type: EventType) -> dict[str, Any]:
    """The data of the one event of this type in the batch.

    Raises:
        NotFound: when there is none.

    """
    query = sa.select(Event.data).where(Event.batch_id == batch_id, Event.type == type)
    data: dict[str, Any] | None = db.session.scalar(query)
    if data is None:
        raise NotFound("The event log has no such act.")
    return data


def end() -> End:
    found = db.session.scalars(sa.select(EventHead)).one()
    return End(found.last_id, found.digest, found.pruned_to, found.pruned_digest)


def last_time() -> datetime | None:
    """When the last event was recorded."""
    query = sa.select(Event.created_at).order_by(Event.id.desc()).limit(1)
    return db.session.scalar(query)


def is_still(event_id: int, digest: bytes) -> bool:
    """Whether the event has this digest; True if it was pruned since."""
    pruned_to = db.session.scalars(sa.select(EventHead.pruned_to)).one()
    if event_id <= pruned_to:
        return True
    return db.session.scalar(sa.select(Event.digest).where(Event.id == event_id)) == digest


def prune(actor: Actor, *, before: datetime) -> Pruning:
    """Delete older events permanently, and record that."""
    old = Event.created_at < before
    last = db.session.execute(
        sa.select(Event.id, Event.digest).where(old).order_by(Event.id.desc()).limit(1)
    ).first()
    if last is None:
        return Pruning(0)
    # Only a beginning of the chain can be removed, or the events that stay would not verify.
    if db.session.scalar(sa.select(sa.exists().where(~old, Event.id < last.id))):
        raise Conflict(
            "Some of the events before that day follow newer ones, because the clock was set "
            "back. Choose another day."
        )
    count: int = db.session.scalar(sa.select(sa.func.count()).where(old)) or 0
    db.session.execute(sa.update(EventHead).values(pruned_to=last.id, pruned_digest=last.digest))
    db.session.execute(sa.delete(Event).where(old))
    facts = {"through": last.id, "digest": last.digest.hex(), "count": count}
    record(actor, EventType.EVENTS_PRUNED, data=facts)
    return Pruning(count, last.id, last.digest)


def new_batch() -> str:
    return str(uuid4())
