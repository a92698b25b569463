"""Reading events that reach applications, and the processes that they have to reach."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.catalogue.projects.queries import visible_projects
from app.catalogue.sdk_tokens.models import SdkToken, SdkTokenProject, SdkTokenType
from app.catalogue.usage.models import Application, Instance
from app.core.actor import Actor
from app.core.db import db, once
from app.core.events.event_types import EventType, Subject
from app.core.events.models import Event, EventHead

NEXT = 1_000
LAST = 10_000
"""Among so many events the last changes of each environment are looked for."""
SUBJECTS = {Subject.SWITCHING, Subject.FEATURES, Subject.PROJECTS, Subject.TARGETING}
CHANGES = [
    type for type in EventType if type.declared.touches_sdks and type.declared.subject in SUBJECTS
]

ChangesQuery = sa.Select[int, EventType, datetime, str | None, str | None, str | None]
"""Selects the fields of ``Change``."""

_environment = sa.func.coalesce(  # events of removals have no ``data``
    Event.data["environment"].as_string(), Event.pre_data["environment"].as_string()
)
_decides_itself = sa.or_(SdkToken.type.is_(None), SdkToken.type == SdkTokenType.CLIENT)


class Change(NamedTuple):
    """An event that may change what SDKs get. ``environment``: the only one, or None for all."""

    id: int
    type: EventType
    at: datetime
    project: str | None
    feature: str | None
    environment: str | None

    def place(self, environment: str) -> dict[str, Any]:
        """What names it in an environment, for the address of its receipts."""
        place = {"project_id": self.project, "name": self.feature, "environment": environment}
        return {**place, "event": self.id}


class Running(NamedTuple):
    """A process of an application. The fields are those of ``Instance``.

    ``projects``: which its token reads; None for all, or if the token isn't known.
    """

    application: str
    application_id: int
    environment: str
    id: str
    sdk: str | None
    first_seen_at: datetime | None
    last_seen_at: datetime
    polled_at: datetime | None
    interval: int | None
    keeps_etags: bool | None
    held_event: int | None
    held_at: datetime | None
    sent_event: int | None
    shared_at: datetime | None
    projects: frozenset[str] | None


def change_of(
    project: str,
    features: Collection[str],
    environment: str | None = None,
    *,
    id: int | None = None,
) -> Change | None:
    """The latest change of any of the features, or the one with this id. ``environment``: in it."""
    query = _changes(environment).where(Event.project == project, Event.feature_name.in_(features))
    if id is not None:
        query = query.where(Event.id == id)
    return _first(query)


def changes_after(change: Change, environment: str) -> list[Change]:
    """The next changes in an environment, the first of them first."""
    query = _changes(environment).where(Event.id > change.id)
    return _read(query.order_by(None).order_by(Event.id).limit(NEXT))


def event_of(change: Change) -> Event:
    return db.session.get_one(Event, change.id)


def last_of_batch(batch_id: str) -> Change | None:
    """The last change of an act."""
    return _first(_changes().where(Event.batch_id == batch_id))


def last_changes(actor: Actor | None = None, *, since: datetime | None = None) -> list[Change]:
    """The changes among the last events, latest first. ``actor``: only those in projects that
    they can see.
    """
    query = _changes().where(Event.id > sa.select(EventHead.last_id).scalar_subquery() - LAST)
    if since is not None:
        query = query.where(Event.created_at >= since)
    if actor is not None:
        seen = Event.project.in_(visible_projects(actor))
        query = query.where(sa.or_(Event.project.is_(None), seen))
    return _read(query)


def running(
    since: datetime, environment: str | None = None, *, lacking: int | None = None
) -> list[Running]:
    """Processes that were heard from since then, by application and environment.

    ``environment``: only those in it. ``lacking``: only those that didn't prove to have this event.

    Without those of browsers and phones. What they get is evaluated here, so it is current
    whenever they ask.
    """
    projects = once("projects of SDK tokens", _projects)
    query = (
        sa.select(
            Application.name.label("application"),
            Instance.application_id,
            Instance.environment,
            Instance.id,
            Instance.sdk,
            Instance.first_seen_at,
            Instance.last_seen_at,
            Instance.polled_at,
            Instance.interval,
            Instance.keeps_etags,
            Instance.held_event,
            Instance.held_at,
            Instance.sent_event,
            Instance.shared_at,
            Instance.token_id,
        )
        .join(Application, Application.id == Instance.application_id)
        .outerjoin(SdkToken, SdkToken.id == Instance.token_id)
        .where(Instance.last_seen_at >= since, _decides_itself)
        .order_by(Application.name, Instance.environment, Instance.sdk, Instance.id)
    )
    if environment is not None:
        query = query.where(Instance.environment == environment)
    if lacking is not None:
        held, sent = Instance.held_event, Instance.sent_event
        query = query.where(sa.or_(held.is_(None), held < lacking, sent < lacking))
    rows = [dict(row) for row in db.session.execute(query).mappings()]
    return [Running(projects=projects.get(row.pop("token_id")), **row) for row in rows]


def forget(processes: Iterable[Running]) -> None:
    """Delete processes, unless they were heard from since."""
    gone = sa.delete(Instance).where(
        Instance.application_id == sa.bindparam("of"),
        Instance.environment == sa.bindparam("in_environment"),
        Instance.id == sa.bindparam("named"),
        Instance.last_seen_at == sa.bindparam("seen"),
    )
    rows = [
        {
            "of": one.application_id,
            "in_environment": one.environment,
            "named": one.id,
            "seen": one.last_seen_at,
        }
        for one in processes
    ]
    # In the order in which reports are written, so that they don't wait for each other.
    rows.sort(key=lambda row: (str(row["of"]), str(row["in_environment"]), str(row["named"])))
    if rows:
        db.session.connection().execute(gone, rows)


def gone(environment: str, since: datetime) -> list[tuple[frozenset[str] | None, int]]:
    """How many processes of an environment were last heard from before, by what they could read."""
    query = (
        sa.select(Instance.token_id, sa.func.count())
        .outerjoin(SdkToken, SdkToken.id == Instance.token_id)
        .where(Instance.environment == environment, Instance.last_seen_at < since, _decides_itself)
        .group_by(Instance.token_id)
    )
    projects = once("projects of SDK tokens", _projects)
    return [(projects.get(token or 0), number) for token, number in db.session.execute(query)]


def _projects() -> dict[int, frozenset[str]]:
    """Which projects each SDK token reads, without those that read all."""
    query = (
        sa.select(SdkToken.id, SdkTokenProject.project_id)
        .join(SdkTokenProject, SdkTokenProject.token_id == SdkToken.id)
        .where(sa.not_(SdkToken.all_projects))
    )
    found: dict[int, set[str]] = {}
    for id, project in db.session.execute(query):
        found.setdefault(id, set()).add(project)
    return {id: frozenset(projects) for id, projects in found.items()}


def _changes(environment: str | None = None) -> ChangesQuery:
    """The latest first. ``environment``: only those in it, or in all."""
    query = (
        sa.select(
            Event.id, Event.type, Event.created_at, Event.project, Event.feature_name, _environment
        )
        .where(Event.type.in_(CHANGES))
        .order_by(Event.id.desc())
    )
    if environment is not None:
        query = query.where(sa.or_(_environment.is_(None), _environment == environment))
    return query


def _read(query: ChangesQuery) -> list[Change]:
    return [Change(*row) for row in db.session.execute(query)]


def _first(query: ChangesQuery) -> Change | None:
    return next(iter(_read(query.limit(1))), None)
