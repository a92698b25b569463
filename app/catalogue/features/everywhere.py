"""The features of all projects that an actor can see."""

from datetime import timedelta
from typing import Unpack

from app.catalogue.features import lifecycle
from app.catalogue.features.queries import FeatureView
from app.catalogue.features.service import Filters
from app.catalogue.projects.queries import visible_projects
from app.core.actor import Actor
from app.core.paging import Page


def search(
    actor: Actor,
    *,
    limit: int,
    offset: int,
    stale_after: timedelta,
    project: str | None = None,
    **filters: Unpack[Filters],
) -> Page[FeatureView]:
    """Features that match every filter. A project that the actor cannot see has none."""
    within = visible_projects(actor, project)
    query = lifecycle.matching(within, stale_after=stale_after, **filters)
    return lifecycle.page(query, limit=limit, offset=offset, stale_after=stale_after)
