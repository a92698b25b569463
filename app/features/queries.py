"""Reading features, always within one project."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import aliased

from app.core.db import chunks, contains, db
from app.core.paging import sorted_by
from app.features.models import Dependency, Feature, FeatureType
from app.tags.models import FeatureTag, Tag

Parent = aliased(Feature, name="parent")
Child = aliased(Feature, name="child")


@dataclass(frozen=True, slots=True)
class FeatureView:
    """A feature with what hangs on it, names sorted."""

    feature: Feature
    tags: list[Tag]
    dependencies: list[str]
    children: list[str]


class Found(NamedTuple):
    """What looking a name up in a project gives."""

    id: int
    is_archived: bool


class Edge(NamedTuple):
    """A dependency by its ids and names."""

    child_id: int
    child: str
    parent_id: int
    parent: str


def rows(
    project_id: str,
    *,
    text: str | None = None,
    tag: tuple[str, str] | None = None,
    without_tag: tuple[str, str] | None = None,
    type: FeatureType | None = None,
    stale: bool | None = None,
    archived: bool = False,
    sort: str | None = None,
) -> sa.Select[Feature]:
    """The project's features that match all that is given, by name unless ``sort`` differs."""
    condition = Feature.archived_at.is_not(None) if archived else Feature.archived_at.is_(None)
    query = sa.select(Feature).where(Feature.project_id == project_id, condition)
    if text is not None:
        query = query.where(contains(text, Feature.name, Feature.description))
    if tag is not None:
        query = query.where(_carries(*tag))
    if without_tag is not None:
        query = query.where(~_carries(*without_tag))
    if type is not None:
        query = query.where(Feature.type == type)
    if stale is not None:
        query = query.where(Feature.stale == stale)
    columns = {"name": Feature.name, "type": Feature.type, "createdAt": Feature.created_at}
    return query.order_by(*sorted_by(sort, columns), Feature.name)


def views(features: list[Feature]) -> list[FeatureView]:
    """Each feature with its tags and neighbours, in three statements however many they are."""
    ids = [feature.id for feature in features]
    tags = _grouped(
        sa.select(FeatureTag.feature_id, Tag)
        .join(Tag)
        .where(FeatureTag.feature_id.in_(ids))
        .order_by(Tag.type, Tag.value)
    )
    parents = _grouped(
        sa.select(Dependency.child_id, Parent.name)
        .join(Parent, Parent.id == Dependency.parent_id)
        .where(Dependency.child_id.in_(ids))
    )
    children = _grouped(
        sa.select(Dependency.parent_id, Child.name)
        .join(Child, Child.id == Dependency.child_id)
        .where(Dependency.parent_id.in_(ids))
        .order_by(Child.name)
    )
    return [
        FeatureView(f, tags.get(f.id, []), parents.get(f.id, []), children.get(f.id, []))
        for f in features
    ]


def find(project_id: str, names: Iterable[str]) -> dict[str, Found]:
    """Those of the names that are features of this project, archived or not."""
    found: dict[str, Found] = {}
    for chunk in chunks(names):
        query = sa.select(Feature.name, Feature.id, Feature.archived_at).where(
            Feature.project_id == project_id, Feature.name.in_(chunk)
        )
        for name, id, archived_at in db.session.execute(query):
            found[name] = Found(id, archived_at is not None)
    return found


def exist_elsewhere(project_ids: sa.Select[str], names: Iterable[str]) -> set[str]:
    """Those of the names that are features of the given projects."""
    found: set[str] = set()
    for chunk in chunks(names):
        query = sa.select(Feature.name).where(
            Feature.project_id.in_(project_ids), Feature.name.in_(chunk)
        )
        found.update(db.session.scalars(query))
    return found


def lock(ids: Collection[int]) -> None:
    """Keep everybody else from changing these features, their tags and dependencies meanwhile.

    In one order for all callers, or two of them could wait for each other.
    """
    for chunk in chunks(sorted(ids)):
        query = sa.select(Feature.id).where(Feature.id.in_(chunk)).order_by(Feature.id)
        db.session.execute(query.with_for_update(key_share=True))


def edges(ids: Collection[int]) -> set[Edge]:
    """The dependencies of which at least one end is among the features."""
    found: set[Edge] = set()
    for chunk in chunks(ids):
        query = (
            sa.select(Dependency.child_id, Child.name, Dependency.parent_id, Parent.name)
            .join(Child, Child.id == Dependency.child_id)
            .join(Parent, Parent.id == Dependency.parent_id)
        )
        for end in (Dependency.child_id, Dependency.parent_id):
            found.update(Edge(*row) for row in db.session.execute(query.where(end.in_(chunk))))
    return found


def _carries(type: str, value: str) -> sa.ColumnElement[bool]:
    query = sa.select(FeatureTag.feature_id).join(Tag).where(Tag.type == type, Tag.value == value)
    return Feature.id.in_(query)


def _grouped(query: sa.Select[*tuple[Any, ...]]) -> dict[int, list[Any]]:
    groups: dict[int, list[Any]] = {}
    for id, value in db.session.execute(query):
        groups.setdefault(id, []).append(value)
    return groups
