"""The features of all projects that an actor can see."""

from typing import Unpack

from app.core.actor import Actor
from app.core.paging import Page, page_of
from app.features import queries
from app.features.queries import FeatureView
from app.features.service import Filters
from app.projects.queries import visible_projects


def search(
    actor: Actor,
    *,
    limit: int,
    offset: int,
    project: str | None = None,
    **filters: Unpack[Filters],
) -> Page[FeatureView]:
    """Features that match every filter. A project that the actor cannot see has none."""
    within = visible_projects(actor, project)
    page = page_of(queries.rows(within, **filters), limit=limit, offset=offset)
    return page.of(queries.views(page.items))
