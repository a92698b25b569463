"""Favourites: projects and features that a person marked. No one else sees them."""

from typing import NamedTuple

import sqlalchemy as sa

from app.catalogue.favourites.models import Favourite
from app.catalogue.features import service as features
from app.catalogue.features.models import Feature
from app.catalogue.projects import service as projects
from app.catalogue.projects.models import Project
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db, insert_if_absent
from app.core.errors import Conflict

MAX_FAVOURITES = 100
"""Per person, so that all fit on the home page."""


class FavouriteItem(NamedTuple):
    """A favourite with its current names and state. ``feature``: None for a project."""

    project_id: str
    project: str
    feature: str | None
    is_archived: bool


def add(actor: Actor, project_id: str, feature: str | None = None) -> None:
    """Make a project, or a feature of it, a favourite of the actor.

    Raises:
        Conflict: when they have MAX_FAVOURITES of them already.

    """
    feature_id = _id(actor, project_id, feature)
    if is_one(actor, project_id, feature_id):
        return
    own = sa.select(sa.func.count()).where(Favourite.account_id == actor.account_id)
    if (db.session.scalar(own) or 0) >= MAX_FAVOURITES:
        raise Conflict(
            f"You have {MAX_FAVOURITES} favourites, which is the most. Remove one first."
        )
    row = {
        "account_id": actor.account_id,
        "project_id": project_id,
        "feature_id": feature_id,
        "created_at": utcnow(),
    }
    db.session.execute(insert_if_absent(Favourite).values(row))


def remove(actor: Actor, project_id: str, feature: str | None = None) -> None:
    """Remove a favourite of the actor, if it is one."""
    feature_id = _id(actor, project_id, feature)
    db.session.execute(sa.delete(Favourite).where(*_is(actor, project_id, feature_id)))


def is_one(actor: Actor, project_id: str, feature_id: int = 0) -> bool:
    """Whether it is a favourite of the actor. ``feature_id``: 0 for the project."""
    found = sa.exists().where(*_is(actor, project_id, feature_id))
    return bool(db.session.scalar(sa.select(found)))


def all_of(actor: Actor) -> list[FavouriteItem]:
    """Favourites that the actor can still see: projects first, then by name."""
    query = (
        sa.select(
            Project.id,
            Project.name,
            Feature.name,
            sa.case((Favourite.feature_id == 0, Project.archived_at), else_=Feature.archived_at),
        )
        .select_from(Favourite)
        .join(Project, Project.id == Favourite.project_id)
        .outerjoin(Feature, Feature.id == Favourite.feature_id)
        .where(Favourite.account_id == actor.id, Project.visible_to(actor))
        .order_by(
            Favourite.feature_id != 0,
            sa.func.lower(sa.func.coalesce(Feature.name, Project.name)),
            Project.id,
        )
    )
    return [
        FavouriteItem(project_id, project, feature, archived_at is not None)
        for project_id, project, feature, archived_at in db.session.execute(query)
    ]


def _id(actor: Actor, project_id: str, feature: str | None) -> int:
    if feature is None:
        projects.require(actor, project_id)
        return 0
    return features.get(actor, project_id, feature).feature.id


def _is(actor: Actor, project_id: str, feature_id: int) -> list[sa.ColumnElement[bool]]:
    return [
        Favourite.account_id == actor.id,
        Favourite.project_id == project_id,
        Favourite.feature_id == feature_id,
    ]
