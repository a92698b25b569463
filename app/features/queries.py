"""Reading features, always within one project."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import aliased

from app.core.db import any_of, chunks, contains, db, has_one_writer
from app.core.db import rows as table_rows
from app.core.paging import page_of, sorted_by
from app.features.models import Dependency, Feature, FeatureType
from app.tags.models import FeatureTag, Tag, TagName

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


_by_name = sa.select(Feature.name, Feature.id, Feature.archived_at).where(
    Feature.project_id == sa.bindparam("project_id"), Feature.name.in_(any_of("names"))
)
_for_change = (
    sa.select(Feature.id)
    .where(Feature.id.in_(any_of("ids")))
    .order_by(Feature.id)
    .with_for_update(key_share=True)
)
_edges = (
    sa.select(Dependency.child_id, Child.name, Dependency.parent_id, Parent.name)
    .join(Child, Child.id == Dependency.child_id)
    .join(Parent, Parent.id == Dependency.parent_id)
    .where(sa.or_(Dependency.child_id.in_(any_of("ids")), Dependency.parent_id.in_(any_of("ids"))))
)


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
        for name, id, archived_at in table_rows(_by_name, project_id=project_id, names=chunk):
            found[name] = Found(id, archived_at is not None)
    return found


def tag_counts(ids: Collection[int]) -> dict[int, int]:
    """On how many of the features each tag is, by the tag's id; only those that are on some."""
    counts: Counter[int] = Counter()
    for chunk in chunks(ids):
        query = (
            sa.select(FeatureTag.tag_id, sa.func.count())
            .where(FeatureTag.feature_id.in_(chunk))
            .group_by(FeatureTag.tag_id)
        )
        for tag_id, count in db.session.execute(query):
            counts[tag_id] += count
    return counts


def palette(*, text: str | None, type: str | None, limit: int) -> tuple[list[Any], int]:
    """Rows of (id, type, value, used) of tags that match, by type, and the number of all."""
    query = (
        sa.select(Tag.id, Tag.type, Tag.value, sa.func.count(FeatureTag.feature_id).label("used"))
        .outerjoin(FeatureTag, FeatureTag.tag_id == Tag.id)
        .group_by(Tag.id, Tag.type, Tag.value)
        .order_by(Tag.type, Tag.value)
    )
    if text is not None:
        query = query.where(contains(text, Tag.value, Tag.type + ":" + Tag.value))
    if type is not None:
        query = query.where(Tag.type == type)
    found = page_of(query, limit=limit, offset=0)
    return found.items, found.total


def tags_in(project_id: str, limit: int) -> list[TagName]:
    """Tags that features of the project carry, most used first."""
    query = (
        sa.select(Tag.type, Tag.value)
        .join(FeatureTag, FeatureTag.tag_id == Tag.id)
        .join(Feature, Feature.id == FeatureTag.feature_id)
        .where(Feature.project_id == project_id)
        .group_by(Tag.type, Tag.value)
        .order_by(sa.func.count().desc(), Tag.type, Tag.value)
        .limit(limit)
    )
    return [TagName(*row) for row in db.session.execute(query)]


def tags_of(ids: Collection[int]) -> dict[int, set[TagName]]:
    """The tags of each of the features, by its id."""
    found: dict[int, set[TagName]] = {id: set() for id in ids}
    for chunk in chunks(ids):
        query = (
            sa.select(FeatureTag.feature_id, Tag.type, Tag.value)
            .join(Tag)
            .where(FeatureTag.feature_id.in_(chunk))
        )
        for feature_id, type, value in db.session.execute(query):
            found[feature_id].add(TagName(type, value))
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
    if has_one_writer():
        return
    for chunk in chunks(sorted(ids)):
        table_rows(_for_change, ids=chunk)


def edges(ids: Collection[int]) -> set[Edge]:
    """The dependencies of which at least one end is among the features."""
    found: set[Edge] = set()
    for chunk in chunks(ids):
        found.update(Edge(*row) for row in table_rows(_edges, ids=chunk))
    return found


def _carries(type: str, value: str) -> sa.ColumnElement[bool]:
    query = sa.select(FeatureTag.feature_id).join(Tag).where(Tag.type == type, Tag.value == value)
    return Feature.id.in_(query)


def _grouped(query: sa.Select[*tuple[Any, ...]]) -> dict[int, list[Any]]:
    groups: dict[int, list[Any]] = {}
    for id, value in db.session.execute(query):
        groups.setdefault(id, []).append(value)
    return groups
