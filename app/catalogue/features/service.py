"""Features: finding them, and their settings."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any, TypedDict, Unpack

import sqlalchemy as sa

from app.catalogue.features import lifecycle, queries
from app.catalogue.features.models import Feature, FeatureType, Stage
from app.catalogue.features.queries import FeatureView, LifecycleStep
from app.catalogue.features.stale import StaleFilter, UsageFilter
from app.catalogue.projects import service as projects
from app.catalogue.projects.queries import visible_projects
from app.catalogue.strategies import queries as strategies
from app.catalogue.strategies.queries import EnvironmentState
from app.catalogue.tags import service as tags
from app.catalogue.tags.models import FeatureTag, TagName
from app.core import words
from app.core.actor import Actor
from app.core.db import db, insert_all, one_or_none, save
from app.core.errors import Conflict, Invalid, NameExists, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.paging import Page, page_of
from app.core.words import listed

COMPARED = 2_000


class Filters(TypedDict, total=False):
    """Filters of a list of features; tags are (type, value), states (environment, is on)."""

    text: str
    tag: tuple[str, str]
    without_tag: tuple[str, str]
    type: FeatureType
    stale: bool
    state: tuple[str, bool]
    archived: bool
    sort: str
    stage: Stage
    stale_proposal: StaleFilter
    usage: UsageFilter


def search(
    actor: Actor,
    project_id: str,
    *,
    limit: int,
    offset: int,
    stale_after: timedelta,
    **filters: Unpack[Filters],
) -> Page[FeatureView]:
    """A page of features with their lives."""
    projects.require(actor, project_id)
    query = lifecycle.matching(project_id, stale_after=stale_after, **filters)
    return lifecycle.page(query, limit=limit, offset=offset, stale_after=stale_after)


def names(
    actor: Actor, project_id: str, *, stale_after: timedelta, **filters: Unpack[Filters]
) -> list[str]:
    """The names of all features that match the filters."""
    projects.require(actor, project_id)
    query = lifecycle.matching(project_id, stale_after=stale_after, **filters)
    return list(db.session.scalars(query.with_only_columns(Feature.name)))


def similar_names(project_id: str | sa.Select[str], names: Sequence[str]) -> dict[str, str]:
    """Active features with similar names, as ``words.similar_names`` finds them.

    ``project_id``: of a project, or of several. Compares with at most COMPARED features: with all,
    or with those next to each name.
    """
    known = queries.active_names(project_id, COMPARED + 1) if names else []
    if len(known) > COMPARED:
        number = COMPARED // words.SUGGESTED // 2
        asked = names[: words.SUGGESTED]
        known = [n for name in asked for n in queries.neighbours(project_id, name, number)]
    return words.similar_names(names, known)


def archived_count(actor: Actor, project_id: str) -> int:
    projects.require(actor, project_id)
    query = queries.rows(project_id, archived=True).order_by(None)
    return page_of(query, limit=0, offset=0).total


def used_tags(project_id: str, limit: int) -> list[TagName]:
    """Tags on features of the project, most used first."""
    return queries.tags_in(project_id, limit)


def get(actor: Actor, project_id: str, name: str) -> FeatureView:
    """One feature, archived or not, without its life."""
    projects.require(actor, project_id)
    return queries.views([find(project_id, name)])[0]


def project_of(actor: Actor, name: str) -> str:
    """The project of a feature, for addresses without one; NotFound if the actor can't see it."""
    query = sa.select(Feature.project_id).where(Feature.name == name)
    found = db.session.scalar(query.where(Feature.project_id.in_(visible_projects(actor))))
    if found is None:
        raise NotFound(f"There is no feature named {name}.")
    return found


def get_with_life(
    actor: Actor, project_id: str, name: str, *, stale_after: timedelta
) -> FeatureView:
    return lifecycle.with_life([get(actor, project_id, name)], stale_after=stale_after)[0]


def steps(actor: Actor, project_id: str, name: str) -> list[LifecycleStep]:
    """The stages that a feature entered, archived or not."""
    projects.require(actor, project_id)
    feature = find(project_id, name)
    return lifecycle.lives([feature], stale_after=timedelta())[feature.id].steps


def create(
    actor: Actor,
    project_id: str,
    *,
    name: str,
    first_tags: Collection[TagName] = (),
    **settings: Any,
) -> FeatureView:
    """Create a feature that is off everywhere. ``settings``: values of ``Feature.settings``."""
    projects.require_for_content(actor, project_id)
    feature = Feature(name=name, project_id=project_id, **settings)
    save(feature, if_taken=_taken(name))
    events.record_of(actor, EventType.FEATURE_CREATED, feature, data=feature.snapshot())
    if first_tags:
        _add_tags(actor, feature, set(first_tags))
    uses = strategies.environments_of([project_id]).get(project_id, [])
    states = [EnvironmentState(use, enabled=False) for use in uses]
    life = lifecycle.new_life(feature)
    return FeatureView(feature, sorted(set(first_tags)), [], [], states, [], life)


def _add_tags(actor: Actor, feature: Feature, added: Collection[TagName]) -> None:
    if unknown := tags.unknown_types({tag.type for tag in added}):
        raise Invalid.at("/tags", f"There are no tag types {listed(unknown)}.")
    rows = [{"feature_id": feature.id, "tag_id": id} for id in tags.make(added).values()]
    insert_all(rows, FeatureTag)
    data = {"added": [tag._asdict() for tag in sorted(added)], "removed": []}
    events.record_of(actor, EventType.FEATURE_TAGS_CHANGED, feature, data=data)


def check_name(name: str) -> None:
    """Refuse a name that a feature has, archived or not, also where the caller can't see it."""
    if db.session.scalar(sa.select(Feature.id).where(Feature.name == name)) is not None:
        raise _taken(name)


def _taken(name: str) -> NameExists:
    return NameExists(
        f"A feature named {name!r} already exists. It may be archived or in another project. "
        "Choose another name.",
        field="name",
    )


def update(actor: Actor, feature: Feature, **changes: Any) -> bool:
    """Change settings of a feature from ``get_for_change``. Return whether anything changed."""
    before = feature.snapshot()
    for name, value in changes.items():
        setattr(feature, name, value)
    after = feature.snapshot()
    if after != before:
        events.record_of(actor, EventType.FEATURE_UPDATED, feature, pre_data=before, data=after)
    return after != before


def get_for_change(actor: Actor, project_id: str, name: str) -> FeatureView:
    """View of a feature that is locked by ``lock_for_change``."""
    return queries.views([lock_for_change(actor, project_id, name)])[0]


def lock_for_change(actor: Actor, project_id: str, name: str) -> Feature:
    """The feature, locked for this transaction; refused if it is archived."""
    projects.require_for_content(actor, project_id)
    feature = find(project_id, name, for_change=True)
    if feature.archived_at is not None:
        raise Conflict(f"{name} is archived. Revive it before you change it.")
    return feature


def refuse_missing(project_id: str, names: Collection[str]) -> None:
    """Refuse names that no feature of this project has."""
    if names:
        raise NotFound(f"These features are not in project {project_id}: {listed(names)}.")


def refuse_archived(names: Collection[str]) -> None:
    """Refuse to change features that are archived."""
    if names:
        raise Conflict(f"These features are archived: {listed(names)}. Revive them first.")


def find(
    project_id: str, name: str, *, field: str | None = None, for_change: bool = False
) -> Feature:
    """``for_change``: current, and locked as ``queries.lock`` does.

    Raises:
        NotFound: at ``field`` of the request.

    """
    query = sa.select(Feature).where(Feature.project_id == project_id, Feature.name == name)
    feature = one_or_none(query, "feature", project_id, name, for_change=for_change, key_share=True)
    if feature is None:
        message = f"There is no feature named {name} in project {project_id}."
        raise NotFound(message, field=field)
    return feature


def names_everywhere(
    actor: Actor,
    *,
    stale_after: timedelta,
    project: str | None = None,
    **filters: Unpack[Filters],
) -> list[str]:
    """The names of all features of visible projects that match the filters."""
    within = visible_projects(actor, project)
    query = lifecycle.matching(within, stale_after=stale_after, **filters)
    return list(db.session.scalars(query.with_only_columns(Feature.name)))


def search_everywhere(
    actor: Actor,
    *,
    limit: int,
    offset: int,
    stale_after: timedelta,
    project: str | None = None,
    **filters: Unpack[Filters],
) -> Page[FeatureView]:
    """Features of all visible projects, or of ``project`` if it is visible, that match."""
    within = visible_projects(actor, project)
    query = lifecycle.matching(within, stale_after=stale_after, **filters)
    return lifecycle.page(query, limit=limit, offset=offset, stale_after=stale_after)
