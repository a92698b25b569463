"""Notices: what others did to what someone owns or follows, read from the event log.

People own the projects whose Owner they are, and their change requests. They follow their
favourites and the instances that they watch, and Admins the version that serves. Only how far they
have read is stored.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute, aliased

from app.catalogue.favourites.models import Favourite
from app.catalogue.features.models import Feature
from app.catalogue.receipts.models import WatchedInstance
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db, once, upsert
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.events.words import types_that_name
from app.core.permissions import Role
from app.portal.event_log import service as event_log
from app.portal.event_log.service import Act
from app.portal.notices.models import NoticesRead
from app.releases.change_requests.models import ChangeRequest
from app.releases.change_requests.queries import is_by

RETENTION = timedelta(days=30)
"""Older events are no longer notices."""
COUNTED = 100
"""Counting ends here, so that it stays fast."""

ABOUT_REQUESTS = types_that_name("change_request")


@dataclass(frozen=True, slots=True)
class Followed:
    """Projects and features that someone follows, and the last event that they have read."""

    projects: Collection[str]
    features: Collection[str]
    read_to: int


class Notice(NamedTuple):
    """An act of someone else."""

    act: Act
    is_unread: bool


class Notices(NamedTuple):
    """Newest first. ``older``: ``before`` of the next page; None on the last page."""

    notices: list[Notice]
    followed: Followed
    older: int | None


def read(actor: Actor, *, limit: int, before: int | None = None) -> Notices:
    """Return the newest notices, or the newest of events with an id below ``before``."""
    followed = _followed(actor)
    found = _newest(actor, followed, limit=limit, before=before)
    query = sa.select(Event).where(Event.id.in_(found)).order_by(Event.id.desc()).limit(limit)
    events = event_log.readable(actor, list(db.session.scalars(query)))
    return Notices(
        [Notice(act, act.event.id > followed.read_to) for act in event_log.as_acts(events)],
        followed,
        events[-1].id if len(events) == limit else None,
    )


def unread(actor: Actor) -> int:
    """How many notices the actor has not read, at most COUNTED."""
    followed = _followed(actor)
    found = _newest(actor, followed, limit=COUNTED, after=followed.read_to).subquery()
    number = db.session.scalar(sa.select(sa.func.count()).select_from(found)) or 0
    return min(number, COUNTED)


def mark_read(actor: Actor, event_id: int) -> None:
    """Mark the notice and all before it as read. What was read stays so."""
    end = db.session.scalar(sa.select(sa.func.max(Event.id))) or 0
    read_to = max(min(event_id, end), _followed(actor).read_to)
    row = {"account_id": actor.account_id, "at": utcnow(), "event_id": read_to}
    db.session.execute(upsert(NoticesRead, latest=[("at", "event_id")]).values(row))


def _followed(actor: Actor) -> Followed:
    favourites = (
        sa.select(Favourite.project_id, Feature.name, sa.literal(0))
        .outerjoin(Feature, Feature.id == Favourite.feature_id)
        .where(Favourite.account_id == actor.id)
    )
    read = sa.select(sa.null(), sa.null(), NoticesRead.event_id).where(
        NoticesRead.account_id == actor.id
    )
    rows: Sequence[Any] = once(
        ("followed", actor.id), lambda: db.session.execute(sa.union_all(favourites, read)).all()
    )
    owned = {id for id, role in actor.project_roles.items() if role is Role.OWNER}
    projects = owned | {id for id, feature, _ in rows if id and not feature}
    features = {feature for id, feature, _ in rows if feature and id not in projects}
    return Followed(sorted(projects), sorted(features), max((row[2] for row in rows), default=0))


def _newest(
    actor: Actor, followed: Followed, *, limit: int, after: int = 0, before: int | None = None
) -> sa.CompoundSelect[int]:
    """Select the ids of the newest notices, at most ``limit`` of each kind.

    Each kind is a statement of its own, so that it uses an index. With one condition for all kinds,
    the database would use none.
    """
    too_old = (
        sa.select(Event.id)
        .where(Event.created_at < utcnow() - RETENTION)
        .order_by(Event.created_at.desc())
        .limit(1)
        .scalar_subquery()
    )
    by_others = Event.created_by_user_id.is_distinct_from(actor.id)
    common = [
        event_log.may_know(actor),
        by_others,
        Event.id > after,
        Event.id > sa.func.coalesce(too_old, 0),
    ]
    if before is not None:
        common.append(Event.id < before)
    return sa.union(
        *(
            sa.select(  # around another one, since SQLite has no LIMIT in the parts of a UNION
                sa.select(Event.id)
                .where(*kind, *common)
                .order_by(Event.id.desc())
                .limit(limit)
                .subquery()
            )
            for kind in _kinds(actor, followed)
        )
    )


def _kinds(actor: Actor, followed: Followed) -> Iterator[list[sa.ColumnElement[bool]]]:
    """Yield conditions: in followed projects, on followed features, on own requests, about watched
    instances; upgrades.
    """
    if followed.projects:
        yield [Event.project.in_(followed.projects), _is_last_in(Event.project)]
    if followed.features:
        yield [Event.feature_name.in_(followed.features), _is_last_in(Event.feature_name)]
    own = sa.select(ChangeRequest.id).where(is_by(actor.id))
    is_about_request = Event.type.in_(ABOUT_REQUESTS)
    # In other types the value may be no number, and PostgreSQL would refuse to compare it.
    request_id = sa.case((is_about_request, Event.data["id"].as_integer()))
    yield [is_about_request, request_id.in_(own)]
    watched = sa.select(WatchedInstance.notice).where(
        WatchedInstance.account_id == actor.id, WatchedInstance.notice.is_not(None)
    )
    yield [Event.batch_id.in_(watched)]
    if actor.is_admin:
        yield [Event.type == EventType.INSTANCE_UPGRADED]


@cache  # an alias takes as long to make as the statement to run, and each page counts the unread
def _is_last_in(column: InstrumentedAttribute[str | None]) -> sa.ColumnElement[bool]:
    """Whether an event is the last of its act in the same project, or on the same feature."""
    later = aliased(Event)
    return ~sa.exists().where(
        later.batch_id == Event.batch_id, getattr(later, column.key) == column, later.id > Event.id
    )
