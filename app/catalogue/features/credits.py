"""Who created features, and which of them the reader marked as favourites."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import quote

import sqlalchemy as sa

from app.catalogue.favourites.models import Favourite
from app.catalogue.features.models import Feature
from app.catalogue.features.queries import Credits, FeatureView
from app.core.actor import Actor
from app.core.db import chunks, db
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.paging import Page
from app.core.words import initials


class Creator(NamedTuple):
    """``id``: 0 for the command line, and for features whose creation was not recorded."""

    id: int
    name: str

    @property
    def image_url(self) -> str:
        return f"/avatars/{quote(initials(self.name))}.svg"


UNKNOWN = Creator(0, "unknown")


def credited(actor: Actor, views: Sequence[FeatureView]) -> list[FeatureView]:
    """The views with what the actor reads about them, in two statements for a thousand."""
    marked = marked_by(actor)
    creators = _creators([view.feature.name for view in views])
    return [
        replace(
            view,
            credits=Credits(view.feature.id in marked, creators.get(view.feature.name, UNKNOWN)),
        )
        for view in views
    ]


def with_credits(
    actor: Actor, search: Callable[..., Page[FeatureView]]
) -> Callable[..., Page[FeatureView]]:
    """The search, whose pages have the credits too."""

    def found(**query: Any) -> Page[FeatureView]:
        page = search(**query)
        return page.of(credited(actor, page.items))

    return found


def marked_by(actor: Actor) -> set[int]:
    """The ids of the actor's favourite features."""
    query = sa.select(Favourite.feature_id).where(Favourite.account_id == actor.account_id)
    return set(db.session.scalars(query))


def is_favourite(actor: Actor, project_id: str) -> bool:
    """Whether the actor marked the project."""
    query = sa.select(Favourite.account_id).where(
        Favourite.account_id == actor.account_id,
        Favourite.project_id == project_id,
        Favourite.feature_id == 0,
    )
    return db.session.scalar(query) is not None


def creators_in(project_id: str) -> list[Creator]:
    """The people who created the active features of a project, by name."""
    query = sa.select(Feature.name).where(
        Feature.project_id == project_id, Feature.archived_at.is_(None)
    )
    found = set(_creators(db.session.scalars(query).all()).values())
    return sorted(found, key=lambda creator: (creator.name, creator.id))


def _creators(names: Collection[str]) -> dict[str, Creator]:
    """By the name of the feature. The latest counts: a name can be used again."""
    found: dict[str, Creator] = {}
    for chunk in chunks(names):
        query = (
            sa.select(Event.feature_name, Event.created_by_user_id, Event.created_by)
            .where(Event.feature_name.in_(chunk), Event.type == EventType.FEATURE_CREATED)
            .order_by(Event.id)
        )
        for name, id, by in db.session.execute(query):
            found[name or ""] = Creator(id or 0, by)
    return found
