from typing import TypedDict, Unpack

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.db import db, save
from app.core.errors import Conflict, NameExists, NotFound
from app.core.paging import Page, page_of
from app.events import service as events
from app.events.models import EventType
from app.features import queries
from app.features.models import Dependency, Feature, FeatureType
from app.features.queries import FeatureView
from app.projects import service as projects
from app.tags.models import TagName


class Changes(TypedDict, total=False):
    """What an update may name. A key left out is left alone; None clears."""

    type: FeatureType
    description: str | None
    stale: bool
    impression_data: bool


class Filters(TypedDict, total=False):
    """What a list of features can be narrowed by; tags are (type, value)."""

    text: str
    tag: tuple[str, str]
    without_tag: tuple[str, str]
    type: FeatureType
    stale: bool
    archived: bool
    sort: str


def search(
    actor: Actor, project_id: str, *, limit: int, offset: int, **filters: Unpack[Filters]
) -> Page[FeatureView]:
    projects.require(actor, project_id)
    page = page_of(queries.rows(project_id, **filters), limit=limit, offset=offset)
    return Page(queries.views(page.items), page.total)


def names(actor: Actor, project_id: str, **filters: Unpack[Filters]) -> list[str]:
    """The names of all features that match."""
    projects.require(actor, project_id)
    query = queries.rows(project_id, **filters).with_only_columns(Feature.name)
    return list(db.session.scalars(query))


def archived_count(actor: Actor, project_id: str) -> int:
    projects.require(actor, project_id)
    query = queries.rows(project_id, archived=True).order_by(None)
    return page_of(query, limit=0, offset=0).total


def possible_parents(project_id: str, limit: int) -> list[str]:
    """Active features of the project that are no children themselves."""
    children = sa.select(Dependency.child_id)
    query = queries.rows(project_id).where(Feature.id.not_in(children))
    return list(db.session.scalars(query.with_only_columns(Feature.name).limit(limit)))


def used_tags(project_id: str, limit: int) -> list[TagName]:
    """Tags that features of the project carry, most used first."""
    return queries.tags_in(project_id, limit)


def get(actor: Actor, project_id: str, name: str) -> FeatureView:
    """One feature, archived or not."""
    projects.require(actor, project_id)
    return queries.views([_find(project_id, name)])[0]


def create(
    actor: Actor,
    project_id: str,
    *,
    name: str,
    type: FeatureType = FeatureType.RELEASE,
    description: str | None = None,
    stale: bool = False,
    impression_data: bool = False,
) -> FeatureView:
    projects.require_for_content(actor, project_id)
    feature = Feature(
        name=name,
        project_id=project_id,
        type=type,
        description=description,
        stale=stale,
        impression_data=impression_data,
    )
    taken = NameExists(
        f"A feature named {name!r} already exists on this instance (it may be archived, "
        "or of another project); choose another name.",
        field="name",
    )
    save(feature, if_taken=taken)
    events.record(
        actor,
        EventType.FEATURE_CREATED,
        project=project_id,
        feature_name=name,
        data=feature.snapshot(),
    )
    return FeatureView(feature, [], [], [])


def update(actor: Actor, feature: Feature, **changes: Unpack[Changes]) -> None:
    """Change a feature that came from ``get_for_change``."""
    before = feature.snapshot()
    for key, value in changes.items():
        setattr(feature, key, value)
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


def get_for_change(actor: Actor, project_id: str, name: str) -> FeatureView:
    """The feature, for this transaction alone to change; an archived one can't be."""
    projects.require_for_content(actor, project_id)
    feature = _find(project_id, name)
    queries.lock({feature.id})
    db.session.refresh(feature)
    if feature.archived_at is not None:
        raise Conflict(f"{name} is archived; revive it to change it.")
    return queries.views([feature])[0]


def add_dependency(actor: Actor, project_id: str, child_name: str, parent_name: str) -> None:
    """Let the child depend on the parent, in the place of a parent that it had."""
    projects.require_for_content(actor, project_id)
    child = _find(project_id, child_name)
    parent = _find(project_id, parent_name, field="parent")
    if child.id == parent.id:
        raise Conflict(f"{child_name} can't depend on itself.")
    queries.lock({child.id, parent.id})
    for feature in (child, parent):
        db.session.refresh(feature)  # as it is now that nobody else can change it
        if feature.archived_at is not None:
            raise Conflict(f"{feature.name} is archived; only active features can be tied.")
    _refuse_second_level(child, parent)
    known = db.session.get(Dependency, child.id, populate_existing=True)
    if known is not None and known.parent_id == parent.id:
        return
    if known is not None:
        former = db.session.get_one(Feature, known.parent_id)
        known.parent_id = parent.id
        db.session.flush()
        _tell_dependency(actor, EventType.FEATURE_DEPENDENCY_REMOVED, child, former.name)
    else:
        save(Dependency(child_id=child.id, parent_id=parent.id))
    _tell_dependency(actor, EventType.FEATURE_DEPENDENCY_ADDED, child, parent.name)


def remove_dependencies(
    actor: Actor, project_id: str, child_name: str, parent_name: str | None = None
) -> None:
    """Untie the child from that parent, or from whichever it has; no such tie is a NotFound
    only if the parent was named.
    """
    projects.require_for_content(actor, project_id)
    child = _find(project_id, child_name)
    queries.lock({child.id})
    known = db.session.get(Dependency, child.id, populate_existing=True)
    parent = db.session.get_one(Feature, known.parent_id) if known else None
    if parent_name is not None and (parent is None or parent.name != parent_name):
        raise NotFound(f"{child_name} does not depend on {parent_name}.")
    if known is not None and parent is not None:
        db.session.delete(known)
        db.session.flush()
        _tell_dependency(actor, EventType.FEATURE_DEPENDENCY_REMOVED, child, parent.name)


def _find(project_id: str, name: str, *, field: str | None = None) -> Feature:
    query = sa.select(Feature).where(Feature.project_id == project_id, Feature.name == name)
    feature = db.session.scalar(query)
    if feature is None:
        message = f"There is no feature named {name} in project {project_id}."
        raise NotFound(message, field=field)
    return feature


def _refuse_second_level(child: Feature, parent: Feature) -> None:
    """Dependencies are one level deep: so no circle can come about, and a person sees them all."""
    if _exists(Dependency.child_id == parent.id):
        raise Conflict(
            f"{parent.name} depends on another feature itself, so nothing can depend on it."
        )
    if _exists(Dependency.parent_id == child.id):
        raise Conflict(f"Other features depend on {child.name}, so it can't depend on one itself.")


def _exists(condition: sa.ColumnElement[bool]) -> bool:
    return bool(db.session.scalar(sa.select(sa.exists().where(condition))))


def _tell_dependency(actor: Actor, type: EventType, child: Feature, parent_name: str) -> None:
    facts = {"parent": parent_name}
    added = type is EventType.FEATURE_DEPENDENCY_ADDED
    events.record(
        actor,
        type,
        project=child.project_id,
        feature_name=child.name,
        data=facts if added else None,
        pre_data=None if added else facts,
    )
