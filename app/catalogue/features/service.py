from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, TypedDict, Unpack

import sqlalchemy as sa

from app.catalogue.features import lifecycle, queries
from app.catalogue.features.models import Dependency, Feature, FeatureType, Stage
from app.catalogue.features.queries import Edge, FeatureView, LifecycleStep
from app.catalogue.features.stale import StaleFilter, UsageFilter
from app.catalogue.projects import service as projects
from app.catalogue.projects.queries import visible_projects
from app.catalogue.strategies import queries as strategies
from app.catalogue.strategies.models import Variant
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
from app.core.words import listed, spoken

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


def possible_parents(project_id: str, limit: int) -> list[str]:
    """Active features of the project that have no parent."""
    children = sa.select(Dependency.child_id)
    query = queries.rows(project_id).where(Feature.id.not_in(children))
    return list(db.session.scalars(query.with_only_columns(Feature.name).limit(limit)))


def has_dependencies(actor: Actor, project_id: str) -> bool:
    """Whether any feature of the project depends on another."""
    projects.require(actor, project_id)
    query = sa.select(Dependency.child_id).join(Feature, Feature.id == Dependency.child_id)
    return db.session.scalar(query.where(Feature.project_id == project_id).limit(1)) is not None


def used_tags(project_id: str, limit: int) -> list[TagName]:
    """Tags on features of the project, most used first."""
    return queries.tags_in(project_id, limit)


def get(actor: Actor, project_id: str, name: str) -> FeatureView:
    """One feature, archived or not, without its life."""
    projects.require(actor, project_id)
    return queries.views([_find(project_id, name)])[0]


def project_of(actor: Actor, name: str) -> str:
    """The project of a feature, for addresses without one; NotFound if the actor can't see it."""
    found = queries.find_in(visible_projects(actor), [name])
    if name not in found:
        raise NotFound(f"There is no feature named {name}.")
    return found[name].project_id


def get_with_life(
    actor: Actor, project_id: str, name: str, *, stale_after: timedelta
) -> FeatureView:
    return lifecycle.with_life([get(actor, project_id, name)], stale_after=stale_after)[0]


def steps(actor: Actor, project_id: str, name: str) -> list[LifecycleStep]:
    """The stages that a feature entered, archived or not."""
    projects.require(actor, project_id)
    feature = _find(project_id, name)
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
    events.record(
        actor,
        EventType.FEATURE_CREATED,
        project=project_id,
        feature_name=name,
        data=feature.snapshot(),
    )
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
    events.record(
        actor,
        EventType.FEATURE_TAGS_CHANGED,
        project=feature.project_id,
        feature_name=feature.name,
        data={"added": [tag._asdict() for tag in sorted(added)], "removed": []},
    )


def check_name(name: str) -> None:
    """Refuse a name that a feature has, archived or not, also where the caller can't see it."""
    if _exists(Feature.name == name):
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
        events.record(
            actor,
            EventType.FEATURE_UPDATED,
            project=feature.project_id,
            feature_name=feature.name,
            pre_data=before,
            data=after,
        )
    return after != before


def get_for_change(actor: Actor, project_id: str, name: str) -> FeatureView:
    """View of a feature that is locked by ``lock_for_change``."""
    return queries.views([lock_for_change(actor, project_id, name)])[0]


def lock_for_change(actor: Actor, project_id: str, name: str) -> Feature:
    """The feature, locked for this transaction; refused if it is archived."""
    projects.require_for_content(actor, project_id)
    feature = _find(project_id, name, for_change=True)
    if feature.archived_at is not None:
        raise Conflict(f"{name} is archived. Revive it before you change it.")
    return feature


def add_dependency(
    actor: Actor,
    project_id: str,
    child_name: str,
    parent_name: str,
    *,
    enabled: bool | None = None,
    variants: list[str] | None = None,
) -> bool:
    """Make the child depend on the parent instead of a former one. Return whether it is a change.

    Omitted values are kept if the parent stays; a new parent gets the defaults of ``ParentRule``.
    """
    projects.require_for_content(actor, project_id)
    child = _find(project_id, child_name)
    parent = _find(project_id, parent_name, field="parent")
    if child.id == parent.id:
        raise Conflict(f"{child_name} cannot depend on itself.")
    queries.lock({child.id, parent.id})
    for feature in (child, parent):
        db.session.refresh(feature)  # current, now that it is locked
        if feature.archived_at is not None:
            raise Conflict(
                f"{feature.name} is archived. Only active features can have dependencies."
            )
    _refuse_second_level(child, parent)
    before = _dependency(child)
    same = before if before is not None and before.parent_id == parent.id else None
    after = Edge(
        child.id,
        child.name,
        parent.id,
        parent.name,
        enabled=enabled if enabled is not None else same is None or same.enabled,
        variants=tuple(variants if variants is not None else same.variants if same else ()),
    )
    if after.variants and not after.enabled:
        message = "A parent that must be off has no variant. Leave variants empty."
        raise Invalid.at("/variants", message)
    if after == before:
        return False
    lists = _variants(parent) if after.variants else ()
    if problems := unknown_variants(parent.name, after.variants, lists):
        raise Invalid.because(
            [{"path": f"/variants/{place}", "message": text} for place, text in problems.items()]
        )
    db.session.merge(
        Dependency(
            child_id=child.id,
            parent_id=parent.id,
            enabled=after.enabled,
            variants=list(after.variants),
        )
    )
    db.session.flush()
    if before is not None and same is None:
        _record_dependency(actor, EventType.FEATURE_DEPENDENCY_REMOVED, child, before=before)
    _record_dependency(actor, EventType.FEATURE_DEPENDENCY_ADDED, child, before=same, after=after)
    return True


def unknown_variants(
    parent: str, wanted: Sequence[str], lists: Iterable[Iterable[Mapping[str, Any]]]
) -> dict[int, str]:
    """What is wrong with wanted variants that the parent has in no environment, by their places.

    SDKs differ in what they make of them. ``lists``: the variants of its strategies and states.
    """
    known = sorted({variant["name"] for each in lists for variant in each})
    has = f"It has {spoken(known)}." if known else "It has none. Leave variants empty."
    return {
        place: f"{parent} has no variant named {name!r}. {has}"
        for place, name in enumerate(wanted)
        if name not in known
    }


def remove_dependencies(
    actor: Actor, project_id: str, child_name: str, parent_name: str | None = None
) -> bool:
    """Remove the child's dependency on this parent, or on any. Return whether there was one.

    Raises:
        NotFound: when a parent is named that the child does not depend on.

    """
    projects.require_for_content(actor, project_id)
    child = _find(project_id, child_name)
    queries.lock({child.id})
    known = _dependency(child)
    if parent_name is not None and (known is None or known.parent != parent_name):
        raise NotFound(f"{child_name} does not depend on {parent_name}.")
    if known is not None:
        db.session.execute(sa.delete(Dependency).where(Dependency.child_id == child.id))
        _record_dependency(actor, EventType.FEATURE_DEPENDENCY_REMOVED, child, before=known)
    return known is not None


def _find(
    project_id: str, name: str, *, field: str | None = None, for_change: bool = False
) -> Feature:
    """``for_change``: current, and locked as ``queries.lock`` does."""
    query = sa.select(Feature).where(Feature.project_id == project_id, Feature.name == name)
    feature = one_or_none(query, "feature", project_id, name, for_change=for_change, key_share=True)
    if feature is None:
        message = f"There is no feature named {name} in project {project_id}."
        raise NotFound(message, field=field)
    return feature


def _refuse_second_level(child: Feature, parent: Feature) -> None:
    """Keep dependencies one level deep, so that no cycle is possible."""
    if _exists(Dependency.child_id == parent.id):
        raise Conflict(f"{parent.name} depends on another feature, so nothing can depend on it.")
    if _exists(Dependency.parent_id == child.id):
        raise Conflict(f"Other features depend on {child.name}, so it cannot depend on one.")


def _variants(parent: Feature) -> Iterator[Sequence[Variant]]:
    """The variants of its strategies, and those they share, in all environments of the project."""
    for state in strategies.states([(parent.id, parent.project_id)])[parent.id]:
        yield state.variants
        yield from (strategy.variants for strategy in state.strategies)


def _exists(condition: sa.ColumnElement[bool]) -> bool:
    return bool(db.session.scalar(sa.select(sa.exists().where(condition))))


def _dependency(child: Feature) -> Edge | None:
    """The feature's dependency on its parent, if it has one."""
    return next((edge for edge in queries.edges([child.id]) if edge.child_id == child.id), None)


def _record_dependency(
    actor: Actor,
    type: EventType,
    child: Feature,
    *,
    before: Edge | None = None,
    after: Edge | None = None,
) -> None:
    events.record(
        actor,
        type,
        project=child.project_id,
        feature_name=child.name,
        data=after.rule() if after else None,
        pre_data=before.rule() if before else None,
    )


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
