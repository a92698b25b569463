"""Reading the event log; ``app/core/events`` writes it.

People with READ_LOGS read all of it, except events of private projects that they can't see.
Members of a project read the events of that project, without addresses and tokens.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from functools import partial
from typing import Any, TypedDict, Unpack

import sqlalchemy as sa
from sqlalchemy.orm import aliased

from app.access.auth.models import SignIn
from app.accounts.models import Account
from app.accounts.service import named
from app.catalogue.projects import queries as projects
from app.catalogue.projects.models import Project
from app.core.activity import Activity, days, draw
from app.core.actor import Actor
from app.core.db import chunks, contains, db, unit_of_work
from app.core.events.event_types import EventType, types_named
from app.core.events.models import Event
from app.core.events.words import Naming, account_ids, types_that_name
from app.core.paging import Comparison, Page, page_of
from app.core.permissions import Permission
from app.portal.event_log.unleash import nearest_in_unleash

FIRST = 20
"""Features of a batch that a row names."""
STREAMED = 100
"""Events of a file that are in memory at once: each may be large."""
SUGGESTIONS = 300

PARTIAL = {"batch", "feature", "type", "text", "about", "segment", "token"}
"""Filters that can match a part of a batch."""

ABOUT_TOKENS = types_that_name("token")
"""Types whose data has the id of a token, and that of its owner as ``userId``."""
ABOUT_ACCOUNTS = [
    type
    for type in types_that_name("account", "new_user", "whose", "for_other", "of_other")
    if type not in ABOUT_TOKENS
]
"""Types whose data has the id of the account that they are about."""
ABOUT_SEGMENTS = types_that_name("segment")
ABOUT_MEMBERS = types_that_name("members")
"""Types whose data has the roles in a project by account."""


class EventFilters(TypedDict, total=False):
    """``type``: of an event, or a subject. ``by``: the user name or e-mail of who acted, or the
    name that the event recorded. ``from_`` is included, ``to`` is not. ``about``: id of an account
    that the event is about. ``segment``: its id. ``token``: id of one that acted or was changed.
    """

    type: str
    by: str
    project: str
    feature: str
    account: int
    about: int
    segment: int
    token: int
    from_: datetime
    to: datetime
    batch: str
    text: str


def search(
    actor: Actor,
    *,
    limit: int,
    before: int | None = None,
    count: bool = True,
    **filters: Unpack[EventFilters],
) -> tuple[list[Event], int]:
    """Return events with an id below ``before``, newest first, and the number of all that match.

    Without ``count`` the number is 0, since counting reads all of them.
    """
    conditions = _conditions(actor, filters)
    total = 0
    if count:
        total = db.session.scalar(sa.select(sa.func.count(Event.id)).where(*conditions)) or 0
    query = sa.select(Event).where(*conditions).order_by(Event.id.desc()).limit(limit)
    if before is not None:
        query = query.where(Event.id < before)
    return readable(actor, list(db.session.scalars(query))), total


def search_by(
    actor: Actor,
    *,
    limit: int,
    offset: int,
    query: str | None = None,
    from_: Comparison | None = None,
    to: Comparison | None = None,
    type: Comparison | None = None,
    **filters: Comparison,
) -> Page[Event]:
    """A page of the events that match every filter, newest first. ``to``: the last day."""
    conditions = [may_know(actor)]
    columns = {
        "id": Event.id,
        "group_id": Event.batch_id,
        "project": Event.project,
        "feature": Event.feature_name,
        "environment": sa.func.coalesce(Event.data, Event.pre_data)["environment"].as_string(),
        "created_by": Event.created_by_user_id,
    }
    conditions += [each.with_column(columns[name]) for name, each in filters.items()]
    if query is not None:
        conditions.append(_mentions(query))
    if type is not None:
        wanted = {*type.values}
        named = [own for own in EventType if wanted & {own.value, nearest_in_unleash(own)}]
        conditions.append(Event.type.in_(named))
    if from_ is not None:
        conditions.append(Event.created_at >= datetime.combine(from_.values[0], time.min, UTC))
    if to is not None:
        conditions.append(Event.created_at <= datetime.combine(to.values[0], time.max, UTC))
    found = sa.select(Event).where(*conditions).order_by(Event.id.desc())
    page = page_of(found, limit=limit, offset=offset)
    return page.of(readable(actor, page.items))


def creators(actor: Actor) -> list[Account]:
    """The accounts that caused events which the actor can read."""
    caused = sa.exists().where(Event.created_by_user_id == Account.id, may_know(actor))
    return list(db.session.scalars(sa.select(Account).where(caused).order_by(Account.id)))


@dataclass(frozen=True, slots=True)
class Act:
    """A row of the log: an event, or the last event of a batch.

    ``count``: how many events of its type the row shows. ``features``: names of the first features.
    ``size``, ``types``: of its whole batch. ``request``: the project and the id of the change
    request that was applied by the batch.
    """

    event: Event
    count: int = 1
    features: tuple[str, ...] = ()
    size: int = 1
    types: frozenset[EventType] = frozenset()
    request: tuple[str, int] | None = None


def acts(
    actor: Actor, *, limit: int, before: int | None = None, **filters: Unpack[EventFilters]
) -> list[Act]:
    """Return what ``search`` finds, with each batch as one row at its last event.

    With filters that can match a part of a batch, each event is a row.
    """
    conditions = _conditions(actor, filters)
    if filters.keys() & PARTIAL:
        events, _ = search(actor, limit=limit, before=before, count=False, **filters)
        return [replace(act, count=1, features=()) for act in as_acts(events)]
    later = aliased(Event)
    is_last = ~sa.exists().where(later.batch_id == Event.batch_id, later.id > Event.id)
    query = sa.select(Event).where(*conditions, is_last).order_by(Event.id.desc()).limit(limit)
    if before is not None:
        query = query.where(Event.id < before)
    return as_acts(readable(actor, list(db.session.scalars(query))))


def as_acts(events: Collection[Event]) -> list[Act]:
    """Return the events, each with what its batch holds."""
    group = Event.batch_id, Event.type
    place = sa.func.row_number().over(partition_by=group, order_by=Event.id)
    number = sa.func.count().over(partition_by=group)
    members = (
        sa.select(*group, Event.feature_name, place.label("place"), number.label("number"))
        .where(Event.batch_id.in_([event.batch_id for event in events if event.batch_id]))
        .subquery()
    )
    found: defaultdict[str | None, defaultdict[EventType, list[Any]]]
    found = defaultdict(lambda: defaultdict(list))
    for row in db.session.execute(sa.select(members).where(members.c.place <= FIRST)):
        found[row.batch_id][row.type].append(row)
    requests = _applied(found)
    return [
        Act(
            event,
            batch[event.type][0].number,
            _names(batch[event.type]),
            sum(rows[0].number for rows in batch.values()),
            frozenset(batch),
            requests.get(event.batch_id),
        )
        if (batch := found.get(event.batch_id))
        else Act(event, types=frozenset([event.type]))
        for event in events
    ]


def _applied(batches: Mapping[str | None, Mapping[EventType, Any]]) -> dict[str | None, Any]:
    """The project and the id of the change request that each batch applied, if it did."""
    applied = EventType.CHANGE_REQUEST_APPLIED
    asked = [id for id, types in batches.items() if applied in types]
    if not asked:
        return {}
    query = sa.select(Event.batch_id, Event.project, Event.data)
    query = query.where(Event.type == applied, Event.batch_id.in_(asked))
    return {row.batch_id: (row.project, row.data["id"]) for row in db.session.execute(query)}


def may_know(actor: Actor) -> sa.ColumnElement[bool]:
    """Whether the actor can read an event; for queries of the model."""
    if actor.is_admin:
        return sa.true()
    if actor.may(Permission.READ_LOGS):
        return sa.or_(Event.project.is_(None), Event.project.not_in(projects.hidden_from(actor)))
    return Event.project.in_(list(actor.project_roles))


def readable(actor: Actor, events: list[Event]) -> list[Event]:
    """Return the events. Members of a project don't see addresses and tokens."""
    if not actor.may(Permission.READ_LOGS):
        for event in events:
            db.session.expunge(event)  # else the session would save this change
            event.ip = event.token_id = None
    return events


def _names(batch: Iterable[Any]) -> tuple[str, ...]:
    """Return the features of a batch, each once."""
    return tuple(dict.fromkeys(row.feature_name for row in batch if row.feature_name))


def accounts_in(events: Collection[Event]) -> dict[int, Account]:
    """Return the accounts by id that the sentences of these events name, also deleted ones."""
    found: dict[int, Account] = {}
    for chunk in chunks(set[int]().union(*map(account_ids, events))):
        query = sa.select(Account).where(Account.id.in_(chunk))
        found |= {account.id: account for account in db.session.scalars(query)}
    return found


def naming(accounts: Mapping[int, Account], reader: Actor | None = None) -> Naming:
    """Return how sentences name these accounts: by full name, and the reader as "you"."""
    names = {id: account.called for id, account in accounts.items()}
    return Naming(names, reader.id if reader else None)


def recent(actor: Actor) -> Activity:
    """Count changes by day that the actor can see; for an Admin also how often people signed in."""
    if not actor.is_admin:
        return draw({"change": days(Event.created_at, may_know(actor))})
    sign_ins = days(SignIn.at, SignIn.succeeded.is_(True))
    return draw({"change": days(Event.created_at), "sign-in": sign_ins})


def known_projects(actor: Actor) -> list[tuple[str, str]]:
    """Return ids and names of projects that the actor can see, by name; at most SUGGESTIONS."""
    query = sa.select(Project.id, Project.name).where(Project.visible_to(actor))
    query = query.order_by(sa.func.lower(Project.name), Project.id).limit(SUGGESTIONS)
    return [(id, name) for id, name in db.session.execute(query)]


def stream(actor: Actor, **filters: Unpack[EventFilters]) -> Iterator[tuple[list[Event], Naming]]:
    """Yield all matching events, newest first, in lists. Each is read in a short transaction."""
    before = None
    while True:
        with unit_of_work(writes=False):
            events, _ = search(actor, limit=STREAMED, before=before, count=False, **filters)
            names = naming(accounts_in(events))
        yield events, names
        if len(events) < STREAMED:
            return
        before = events[-1].id


def _conditions(actor: Actor, filters: EventFilters) -> list[sa.ColumnElement[bool]]:
    tests: dict[str, Callable[[Any], sa.ColumnElement[bool]]] = {
        "type": lambda name: Event.type.in_(types_named(name)),
        "by": _is_by,
        "project": Event.project.__eq__,
        "feature": Event.feature_name.__eq__,
        "account": Event.created_by_user_id.__eq__,
        "about": _is_about,
        "segment": partial(_has, ABOUT_SEGMENTS, "id"),
        "token": _is_of_token,
        "from_": Event.created_at.__ge__,
        "to": Event.created_at.__lt__,
        "batch": Event.batch_id.__eq__,
        "text": _mentions,
    }
    if not actor.may(Permission.READ_LOGS):
        tests["token"] = lambda _: sa.false()  # else one could try ids to find which acted
    return [may_know(actor), *(tests[key](value) for key, value in filters.items())]


def _is_by(name: str) -> sa.ColumnElement[bool]:
    account = named(name)
    return Event.created_by_user_id == account.id if account else Event.created_by == name


def _is_about(account_id: int) -> sa.ColumnElement[bool]:
    before, after = (
        data["members", str(account_id)].as_string() for data in (Event.pre_data, Event.data)
    )
    return sa.or_(
        _has(ABOUT_ACCOUNTS, "id", account_id),
        _has(ABOUT_TOKENS, "userId", account_id),
        sa.and_(Event.type.in_(ABOUT_MEMBERS), before.is_distinct_from(after)),
    )


def _is_of_token(token_id: int) -> sa.ColumnElement[bool]:
    return sa.or_(Event.token_id == token_id, _has(ABOUT_TOKENS, "id", token_id))


def _has(types: list[EventType], name: str, value: int) -> sa.ColumnElement[bool]:
    """Whether events of these types have the number in ``data`` or in ``pre_data``."""
    is_of_type = Event.type.in_(types)
    has_value = (
        # In other types the value may be no number, and PostgreSQL would refuse to compare it.
        sa.case((is_of_type, data[name].as_integer())) == value
        for data in (Event.data, Event.pre_data)
    )
    return sa.and_(is_of_type, sa.or_(*has_value))


def _mentions(text: str) -> sa.ColumnElement[bool]:
    """Whether the text is in the actor, project, feature or reason. Data isn't searched."""
    columns = (Event.created_by, Event.project, Event.feature_name, Event.reason)
    return contains(text, *columns)
