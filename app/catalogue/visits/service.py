"""The projects and features that people opened last: MAX_VISITS for each person."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa

from app.catalogue.features.models import Feature
from app.catalogue.projects.models import Project
from app.catalogue.visits.models import Visit
from app.core.actor import Actor
from app.core.db import db, upsert

MAX_VISITS = 20


class VisitedPlace(NamedTuple):
    """A project, or with ``feature`` the name of one of its features, and who opened it."""

    account_id: int
    project_id: str
    feature: str | None = None


class Visited(NamedTuple):
    """A project or a feature that someone opened, with its current names and state."""

    project_id: str
    project: str
    feature: str | None
    is_archived: bool
    at: datetime


_older = sa.delete(Visit).where(
    Visit.account_id == sa.bindparam("of_account"),
    Visit.at
    < sa.select(Visit.at)
    .where(Visit.account_id == sa.bindparam("of_account"))
    .order_by(Visit.at.desc())
    .limit(1)
    .offset(MAX_VISITS - 1)
    .correlate(None)
    .scalar_subquery(),
)


def record(seen: Mapping[VisitedPlace, datetime]) -> None:
    """Store when places were last opened. Delete all but the MAX_VISITS latest of each person."""
    names = {place.feature for place in seen if place.feature is not None}
    query = sa.select(Feature.name, Feature.id).where(Feature.name.in_(names))
    known: dict[str | None, int] = {None: 0}
    known |= dict(db.session.execute(query).all()) if names else {}
    rows = sorted(
        (place.account_id, place.project_id, known[place.feature], at)
        for place, at in seen.items()
        if place.feature in known
    )
    columns = ("account_id", "project_id", "feature_id", "at")
    connection = db.session.connection()
    connection.execute(
        upsert(Visit, latest=[("at",)]), [dict(zip(columns, row, strict=True)) for row in rows]
    )
    accounts = sorted({place.account_id for place in seen})
    connection.execute(_older, [{"of_account": id} for id in accounts])


def recent(actor: Actor, limit: int) -> list[Visited]:
    """Places that the actor opened last and can still see, latest first."""
    query = (
        sa.select(
            Project.id,
            Project.name,
            Feature.name,
            sa.case((Visit.feature_id == 0, Project.archived_at), else_=Feature.archived_at),
            Visit.at,
        )
        .join(Project, Project.id == Visit.project_id)
        .outerjoin(Feature, Feature.id == Visit.feature_id)
        .where(Visit.account_id == actor.id, Project.visible_to(actor))
        .order_by(Visit.at.desc(), Visit.project_id, Visit.feature_id)
        .limit(limit)
    )
    return [
        Visited(project_id, project, feature, archived_at is not None, at)
        for project_id, project, feature, archived_at, at in db.session.execute(query)
    ]
