"""The only writer of the event log, in the transaction of the change itself."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, TypedDict
from uuid import uuid4

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.db import db, insert_all, rows, utcnow
from app.core.errors import Conflict, NotFound
from app.events.chain import as_text, link
from app.events.models import Event, EventHead, EventType

_head_for_change = sa.select(EventHead.last_id, EventHead.digest).with_for_update()
_go_on = sa.update(EventHead).values(last_id=sa.bindparam("last"), digest=sa.bindparam("end"))


class Broken(NamedTuple):
    """Where the log is not as it was told."""

    event_id: int
    how: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many events were looked at, where the log ends, and what is wrong, if anything."""

    count: int
    last_id: int
    digest: bytes
    broken: Broken | None = None


class Story(TypedDict, total=False):
    """What one event tells beside who, when and from where."""

    project: str | None
    feature_name: str | None
    data: dict[str, Any] | None
    pre_data: dict[str, Any] | None


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
    """Tell one thing that changed. ``pre_data`` and ``data``: the object before and after."""
    story = Story(project=project, feature_name=feature_name, data=data, pre_data=pre_data)
    record_all(actor, type, [story], batch_id=batch_id)


def record_all(
    actor: Actor, type: EventType, stories: Iterable[Story], *, batch_id: str | None = None
) -> None:
    """Tell of many objects that one act changed, in one statement; ``batch_id`` ties them.

    Until the transaction ends nobody else can tell anything: the log is one chain.
    """
    common = {
        "type": type,
        "created_at": utcnow(),
        "created_by": actor.username,
        "created_by_user_id": actor.id,
        "token_id": actor.token_id,
        "ip": actor.ip,
        "reason": actor.reason,
        "batch_id": batch_id,
    }
    untold = Story(project=None, feature_name=None, data=None, pre_data=None)
    told = [{**common, **untold, **story} for story in stories]
    if not told:
        return
    [head] = rows(_head_for_change)
    digest: bytes = head.digest
    texts: dict[int, str] = {}

    def text_of(value: Any) -> str:
        """Events of one act share what they tell, so it is written once."""
        if id(value) not in texts:
            texts[id(value)] = as_text(value)
        return texts[id(value)]

    for number, event in enumerate(told, head.last_id + 1):
        event["id"] = number
        digest = event["digest"] = link(digest, event, text_of)
    insert_all(told, Event)
    db.session.connection().execute(_go_on, {"last": told[-1]["id"], "end": digest})


def of_batch(batch_id: str, type: EventType, project: str) -> list[Event]:
    """What one act told of a project, in the order it was told."""
    query = sa.select(Event).where(
        Event.batch_id == batch_id, Event.type == type, Event.project == project
    )
    return list(db.session.scalars(query.order_by(Event.id)))


def of_act(batch_id: str, type: EventType) -> dict[str, Any]:
    """What the one event of this type in the batch told.

    Raises:
        NotFound: when there is none.

    """
    query = sa.select(Event.data).where(Event.batch_id == batch_id, Event.type == type)
    data: dict[str, Any] | None = db.session.scalar(query)
    if data is None:
        raise NotFound("Nothing is known of such an act.")
    return data


def verify(known: Mapping[int, bytes]) -> Verdict:
    """Follow the whole chain. ``known``: digests of events that were written down elsewhere."""
    head = db.session.scalars(sa.select(EventHead)).one()
    digest, last, count = head.pruned_digest, head.pruned_to, 0
    query = sa.select(Event.__table__).order_by(Event.id)
    with db.session.execute(query, execution_options={"yield_per": 1_000}) as found:
        for event in found.mappings():
            last, count = event["id"], count + 1
            digest = link(digest, dict(event))
            if digest != event["digest"]:
                how = "it, or the one before it, is not as it was told"
                return Verdict(count, last, digest, Broken(last, how))
            if known.get(last, digest) != digest:
                how = "its digest is not the one that was written down; the log was told anew"
                return Verdict(count, last, digest, Broken(last, how))
    lost = [id for id in known if id > last]
    if lost or (last, digest) != (head.last_id, head.digest):
        how = "events after it are missing"
        return Verdict(count, last, digest, Broken(last, how))
    return Verdict(count, last, digest)


def head() -> tuple[int, bytes]:
    """The id and the digest of the last event."""
    found = db.session.scalars(sa.select(EventHead)).one()
    return found.last_id, found.digest


def last_time() -> datetime | None:
    """When the last event was told."""
    query = sa.select(Event.created_at).order_by(Event.id.desc()).limit(1)
    return db.session.scalar(query)


def is_still(event_id: int, digest: bytes) -> bool:
    """Whether an event is the one whose digest was written down; True if it was pruned since."""
    pruned_to = db.session.scalars(sa.select(EventHead.pruned_to)).one()
    if event_id <= pruned_to:
        return True
    return db.session.scalar(sa.select(Event.digest).where(Event.id == event_id)) == digest


def prune(actor: Actor, *, before: datetime) -> int:
    """Take the events that are older away, for ever; their number. The log says so itself."""
    old = Event.created_at < before
    last = db.session.execute(
        sa.select(Event.id, Event.digest).where(old).order_by(Event.id.desc()).limit(1)
    ).first()
    if last is None:
        return 0
    if db.session.scalar(sa.select(sa.exists().where(~old, Event.id < last.id))):
        raise Conflict("Younger events stand before older ones: the clock was set back meanwhile.")
    count: int = db.session.scalar(sa.select(sa.func.count()).where(old)) or 0
    db.session.execute(sa.update(EventHead).values(pruned_to=last.id, pruned_digest=last.digest))
    db.session.execute(sa.delete(Event).where(old))
    facts = {"through": last.id, "digest": last.digest.hex(), "count": count}
    record(actor, EventType.EVENTS_PRUNED, data=facts)
    return count


def new_batch() -> str:
    return str(uuid4())
