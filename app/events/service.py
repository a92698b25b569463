"""The only writer of the event log, in the transaction of the change itself."""

from collections.abc import Iterable
from typing import Any, TypedDict
from uuid import uuid4

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.db import db, insert_all, utcnow
from app.core.errors import NotFound
from app.events.models import Event, EventType


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
    """Tell of many objects that one act changed, in one statement; ``batch_id`` ties them."""
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
    insert_all([{**common, **untold, **story} for story in stories], Event)


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


def new_batch() -> str:
    return str(uuid4())
