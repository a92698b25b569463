"""Reading features, always within one project."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.catalogue.features.models import (
    CompletedStatus,
    Dependency,
    Feature,
    FeatureLink,
    FeatureType,
    Stage,
    StaleReason,
)
from app.catalogue.projects.models import Project, ProjectEnvironment
from app.catalogue.strategies import queries as strategies
from app.catalogue.strategies.models import FeatureState
from app.catalogue.strategies.queries import EnvironmentState
from app.catalogue.tags.models import FeatureTag, Tag, TagName
from app.catalogue.usage.models import FeatureSeen
from app.core.connections import can_write
from app.core.db import chunks, contains, db, has_one_writer, once
from app.core.paging import sorted_by
from app.core.statements import Condition, OnList, shared_alias

Parent = shared_alias(Feature, "parent")
Child = shared_alias(Feature, "child")
PARENTS = sa.select(Dependency.child_id, Parent.name, Dependency.enabled, Dependency.variants).join(
    Parent, Parent.id == Dependency.parent_id
)
"""What features depend on."""
LAST_SEEN = (
    sa.select(sa.func.max(FeatureSeen.last_seen_at))
    .where(FeatureSeen.feature_id == Feature.id)
    .correlate(Feature)
    .scalar_subquery()
)


@dataclass(frozen=True, slots=True)
class FeatureView:
    """A feature with its tags, parent, children, states and links. Names are sorted."""

    feature: Feature
    tags: list[TagName]
    dependencies: list["ParentLink"]
    children: list[str]
    environments: list[EnvironmentState]
    links: list["Link"]
    life: "Life | None" = None
    """Set only where it is shown; see ``lifecycle.with_life``."""
    credits: "Credits | None" = None
    """Set only where it is shown; see ``credits.credited``."""

    @property
    def states(self) -> dict[str, EnvironmentState]:
        """Its states by environment."""
        return {state.name: state for state in self.environments}

    @property
    def variant_names(self) -> list[str]:
        """Those of its strategies and those that they share, in any environment; sorted."""
        of_strategies = (s.variants for state in self.environments for s in state.strategies)
        shared = (state.variants for state in self.environments)
        found = (variants for group in (of_strategies, shared) for variants in group)
        return sorted({variant["name"] for variants in found for variant in variants})

    def state(self, environment: str) -> EnvironmentState:
        """Its state in this environment. NotFound: its project doesn't use it."""
        if state := self.states.get(environment):
            return state
        raise strategies.not_used(self.feature.project_id, environment)


class Credits(NamedTuple):
    """Whether the feature is a favourite of the reader, its creator, and its segments' names."""

    is_favourite: bool
    creator: Any
    segments: Sequence[str] = ()


class LifecycleStep(NamedTuple):
    """A stage that a feature entered. ``status``, ``value``: how it was completed."""

    stage: Stage
    entered_at: datetime
    status: CompletedStatus | None = None
    value: str | None = None


class Life(NamedTuple):
    """The stages of a feature up to now, and why it is proposed as stale, if it is."""

    steps: list[LifecycleStep]
    last_seen_at: datetime | None = None
    proposal: StaleReason | None = None

    @property
    def now(self) -> LifecycleStep:
        return self.steps[-1]


class ParentLink(NamedTuple):
    """The parent that a feature depends on, by name; see ``ParentRule``."""

    feature: str
    enabled: bool
    variants: list[str]


class Link(NamedTuple):
    """A link of a feature, without its place."""

    id: str
    url: str
    title: str | None


def rule_for_sdks(parent: Any) -> dict[str, Any]:
    """A dependency as SDKs read it; ``parent``: a row with ``name``, ``enabled``, ``variants``."""
    rule: dict[str, Any] = {"feature": parent.name, "enabled": parent.enabled}
    return rule | {"variants": parent.variants or []} if parent.enabled else rule


class Found(NamedTuple):
    """A feature that was looked up by its name."""

    name: str
    id: int
    is_archived: bool
    project_id: str


class Edge(NamedTuple):
    """A dependency by its ids and names; see ``ParentRule``."""

    child_id: int
    child: str
    parent_id: int
    parent: str
    enabled: bool
    variants: tuple[str, ...]

    def rule(self) -> dict[str, Any]:
        """The dependency as the event log records it."""
        return {"parent": self.parent, "enabled": self.enabled, "variants": [*self.variants]}


def _named(is_among: Condition) -> sa.Select[*tuple[Any, ...]]:
    # Of any project: without statistics, PostgreSQL would read the whole of one for a few names.
    columns = Feature.name, Feature.id, Feature.archived_at.is_not(None), Feature.project_id
    return sa.select(*columns).where(is_among(Feature.name))


_by_name = OnList(_named, row=Found)
_by_name_for_change = OnList(
    lambda is_among: _named(is_among).order_by(Feature.id).with_for_update(key_share=True),
    row=Found,
)
_for_change = OnList(
    lambda is_among: (
        sa.select(Feature.id)
        .where(is_among(Feature.id))
        .order_by(Feature.id)
        .with_for_update(key_share=True)  # lets others insert rows that refer to a feature
    )
)
_tags = OnList(
    lambda is_among: (
        sa.select(FeatureTag.feature_id, Tag.type, Tag.value)
        .join(Tag, Tag.id == FeatureTag.tag_id)
        .where(is_among(FeatureTag.feature_id))
        .order_by(Tag.type, Tag.value)
    )
)
_links = OnList(
    lambda is_among: (
        sa.select(FeatureLink.feature_id, FeatureLink.id, FeatureLink.url, FeatureLink.title)
        .where(is_among(FeatureLink.feature_id))
        .order_by(FeatureLink.position)
    )
)
_parents = OnList(lambda is_among: PARENTS.where(is_among(Dependency.child_id)))
_children = OnList(
    lambda is_among: (
        sa.select(Dependency.parent_id, Child.name)
        .join(Child, Child.id == Dependency.child_id)
        .where(is_among(Dependency.parent_id))
        .order_by(Child.name)
    )
)
_edges = OnList(
    lambda is_among: (
        sa.select(
            Dependency.child_id,
            Child.name,
            Dependency.parent_id,
            Parent.name,
            Dependency.enabled,
            Dependency.variants,
        )
        .join(Child, Child.id == Dependency.child_id)
        .join(Parent, Parent.id == Dependency.parent_id)
        .where(sa.or_(is_among(Dependency.child_id), is_among(Dependency.parent_id)))
    ),
    row=Edge,
)


def rows(
    project_id: str | sa.Select[str],
    *,
    text: str | None = None,
    tag: tuple[str, str] | None = None,
    without_tag: tuple[str, str] | None = None,
    type: FeatureType | None = None,
    stale: bool | None = None,
    state: tuple[str, bool] | None = None,
    archived: bool = False,
    sort: str | None = None,
    first: Sequence[sa.ColumnElement[Any]] = (),
) -> sa.Select[Feature]:
    """The project's features that match every filter, sorted by name unless ``sort`` is given.

    ``state``: an environment, and whether they are on there. ``first``: what to sort by before.
    """
    condition = Feature.archived_at.is_not(None) if archived else Feature.archived_at.is_(None)
    query = sa.select(Feature).where(_of_project(project_id), condition)
    if text is not None:
        query = query.where(contains(text, Feature.name, Feature.description))
    if tag is not None:
        query = query.where(has_tag(tag))
    if without_tag is not None:
        query = query.where(~has_tag(without_tag))
    if type is not None:
        query = query.where(Feature.type == type)
    if stale is not None:
        query = query.where(Feature.stale == stale)
    if state is not None:
        query = query.where(in_state(state[0], enabled=state[1]))
    columns = {
        "name": Feature.name,
        "project": Feature.project_id,
        "type": Feature.type,
        "createdAt": Feature.created_at,
        "lastSeenAt": LAST_SEEN,
    }
    return query.order_by(*first, *sorted_by(sort, columns), Feature.name)


def views(features: list[Feature]) -> list[FeatureView]:
    """Views of the features, in a few statements regardless of their number."""
    ids = [feature.id for feature in features]
    tags, links = tags_of(ids), links_of(ids)
    parents = {id: [parent] for id, parent in parents_of(ids).items()}
    children: dict[int, list[str]] = {id: [] for id in ids}
    for parent_id, name in _children.run(ids):
        children[parent_id].append(name)
    states = strategies.states([(feature.id, feature.project_id) for feature in features])
    return [
        FeatureView(f, tags[f.id], parents.get(f.id, []), children[f.id], states[f.id], links[f.id])
        for f in features
    ]


def find(project_id: str, names: Collection[str], *, for_change: bool = False) -> dict[str, Found]:
    """The names that are features of this project, archived or not.

    ``for_change``: lock them as ``lock`` does.
    """
    for_change = for_change and can_write()
    statement = _by_name_for_change if for_change else _by_name
    found = once(("names", *names), lambda: statement.run(names), locks=for_change)
    return {one.name: one for one in found if one.project_id == project_id}


def find_in(project_ids: sa.Select[str], names: Collection[str]) -> dict[str, Found]:
    """The names that are features of the given projects, archived or not."""
    found = _by_name.run(names)
    ids = {one.project_id for one in found}
    shown = set(db.session.scalars(project_ids.where(Project.id.in_(ids))))
    return {one.name: one for one in found if one.project_id in shown}


def active_names(project_id: str | sa.Select[str], limit: int) -> list[str]:
    """Names of active features, in alphabetical order."""
    return list(db.session.scalars(_active_names(project_id).order_by(Feature.name).limit(limit)))


def neighbours(project_id: str | sa.Select[str], name: str, limit: int) -> list[str]:
    """Names of active features just before and after a name in alphabetical order."""
    query = _active_names(project_id)
    before = query.where(Feature.name < name).order_by(Feature.name.desc()).limit(limit)
    after = query.where(Feature.name > name).order_by(Feature.name).limit(limit)
    return [*db.session.scalars(before), *db.session.scalars(after)]


def tags_in(project_id: str, limit: int) -> list[TagName]:
    """Tags on features of the project, most used first."""
    uses = (
        sa.select(FeatureTag.tag_id, sa.func.count().label("number"))
        .join(Feature, Feature.id == FeatureTag.feature_id)
        .where(Feature.project_id == project_id)
        .group_by(FeatureTag.tag_id)
        .subquery()
    )
    query = (
        sa.select(Tag.type, Tag.value)
        .join(uses, uses.c.tag_id == Tag.id)
        .order_by(uses.c.number.desc(), Tag.type, Tag.value)
        .limit(limit)
    )
    return [TagName(*row) for row in db.session.execute(query)]


def tags_of(ids: Collection[int]) -> dict[int, list[TagName]]:
    """The tags of each of the features, by its id, sorted."""
    found: dict[int, list[TagName]] = {id: [] for id in ids}
    for feature_id, *tag in _tags.run(ids):
        found[feature_id].append(TagName(*tag))
    return found


def links_of(ids: Collection[int]) -> dict[int, list[Link]]:
    """The links of each of the features, by its id, in their order."""
    found: dict[int, list[Link]] = {id: [] for id in ids}
    for feature_id, *link in _links.run(ids):
        found[feature_id].append(Link(*link))
    return found


def parents_of(ids: Collection[int]) -> dict[int, ParentLink]:
    """The parent of each of the features that depend on one, by the id of the child."""
    return {
        row.child_id: ParentLink(row.name, row.enabled, row.variants or [])
        for row in _parents.run(ids)
    }


def newest(project_ids: Collection[str] | None) -> str | None:
    """The name of the newest active feature of these projects, or of any; None without one."""
    query = sa.select(Feature.name).where(Feature.archived_at.is_(None))
    if project_ids is not None:
        query = query.where(Feature.project_id.in_(project_ids))
    return db.session.scalar(query.order_by(Feature.id.desc()).limit(1))


def exist_elsewhere(project_ids: sa.Select[str], names: Iterable[str]) -> set[str]:
    """The names that are features of the given projects."""
    found: set[str] = set()
    for chunk in chunks(names):
        query = sa.select(Feature.name).where(
            Feature.project_id.in_(project_ids), Feature.name.in_(chunk)
        )
        found.update(db.session.scalars(query))
    return found


def lock(ids: Collection[int]) -> None:
    """Keep other transactions from changing these features, their tags and dependencies.

    All callers lock in the same order, or two of them could deadlock.
    """
    if can_write() and not has_one_writer():
        _for_change.run(ids)


def edges(ids: Collection[int]) -> set[Edge]:
    """The dependencies with at least one end among the features."""
    return {edge._replace(variants=tuple(edge.variants or ())) for edge in _edges.run(ids)}


def _active_names(project_id: str | sa.Select[str]) -> sa.Select[str]:
    return sa.select(Feature.name).where(_of_project(project_id), Feature.archived_at.is_(None))


def in_state(environment: str, *, enabled: bool) -> sa.ColumnElement[bool]:
    """Whether an active feature of a project that uses the environment is on there, or off."""
    on = sa.select(FeatureState.feature_id).where(
        FeatureState.environment == environment, FeatureState.enabled
    )
    using = sa.select(ProjectEnvironment.project_id).where(
        ProjectEnvironment.environment == environment
    )
    return sa.and_(
        Feature.archived_at.is_(None),
        Feature.project_id.in_(using),
        Feature.id.in_(on) if enabled else Feature.id.not_in(on),
    )


def has_tag(tag: tuple[str, str]) -> sa.ColumnElement[bool]:
    type, value = tag
    query = sa.select(FeatureTag.feature_id).join(Tag).where(Tag.type == type, Tag.value == value)
    return Feature.id.in_(query)


def _of_project(project_id: str | sa.Select[str]) -> sa.ColumnElement[bool]:
    """Condition for features of one project, or of the projects of a query."""
    if isinstance(project_id, str):
        return Feature.project_id == project_id
    return Feature.project_id.in_(project_id)
