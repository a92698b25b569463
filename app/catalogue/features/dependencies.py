"""Which features depend on which, and on what of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from app.catalogue.features import queries
from app.catalogue.features.models import Dependency, Feature
from app.catalogue.features.queries import Edge
from app.catalogue.features.service import find
from app.catalogue.projects import service as projects
from app.catalogue.strategies import queries as strategies
from app.catalogue.strategies.models import Variant
from app.core.actor import Actor
from app.core.db import db
from app.core.errors import Conflict, Invalid, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.words import spoken


def possible_parents(project_id: str, limit: int) -> list[str]:
    """Active features of the project that have no parent."""
    children = sa.select(Dependency.child_id)
    query = queries.rows(project_id).where(Feature.id.not_in(children))
    return list(db.session.scalars(query.with_only_columns(Feature.name).limit(limit)))


def exist_in(actor: Actor, project_id: str) -> bool:
    """Whether any feature of the project depends on another."""
    projects.require(actor, project_id)
    query = sa.select(Dependency.child_id).join(Feature, Feature.id == Dependency.child_id)
    return db.session.scalar(query.where(Feature.project_id == project_id).limit(1)) is not None


def add(
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
    child = find(project_id, child_name)
    parent = find(project_id, parent_name, field="parent")
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
    before = _rule_of(child)
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
        events.record_of(actor, EventType.FEATURE_DEPENDENCY_REMOVED, child, pre_data=before.rule())
    pre_data = same.rule() if same else None
    events.record_of(
        actor, EventType.FEATURE_DEPENDENCY_ADDED, child, pre_data=pre_data, data=after.rule()
    )
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


def remove(actor: Actor, project_id: str, child_name: str, parent_name: str | None = None) -> bool:
    """Remove the child's dependency on this parent, or on any. Return whether there was one.

    Raises:
        NotFound: when a parent is named that the child does not depend on.

    """
    projects.require_for_content(actor, project_id)
    child = find(project_id, child_name)
    queries.lock({child.id})
    known = _rule_of(child)
    if parent_name is not None and (known is None or known.parent != parent_name):
        raise NotFound(f"{child_name} does not depend on {parent_name}.")
    if known is not None:
        db.session.execute(sa.delete(Dependency).where(Dependency.child_id == child.id))
        events.record_of(actor, EventType.FEATURE_DEPENDENCY_REMOVED, child, pre_data=known.rule())
    return known is not None


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


def _rule_of(child: Feature) -> Edge | None:
    """The feature's dependency on its parent, if it has one."""
    return next((edge for edge in queries.edges([child.id]) if edge.child_id == child.id), None)
