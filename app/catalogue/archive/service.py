"""Archiving features, with a preview, and reviving them."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.catalogue.features import queries
from app.catalogue.features.models import ArchivedDependency, Dependency, Feature
from app.catalogue.features.queries import Edge
from app.catalogue.features.service import refuse_missing
from app.catalogue.projects import service as projects
from app.catalogue.projects.queries import visible_projects
from app.catalogue.strategies import queries as strategies
from app.catalogue.usage import queries as usage
from app.catalogue.usage.queries import ASKED_FOR
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import chunks, db, insert_all
from app.core.errors import ChangedSinceReview, Conflict, NotFound
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.service import EventPayload
from app.core.words import listed


class AskedFor(NamedTuple):
    """A feature in use. ``applications``: how many asked for it within ASKED_FOR."""

    feature: str
    last_seen_at: datetime
    applications: int


@dataclass(frozen=True, slots=True)
class ArchivePlan:
    """What archiving a set of features would do.

    ``ids``: the active features of the set, by name. ``blocked``: features that can't be archived,
    by name, with the children outside the set that depend on them. ``detached``: dependencies of
    features outside the set, which are deleted so that they block nothing. ``dropped``: all
    dependencies with the child or the parent in the set. ``archived``, ``unknown`` and
    ``elsewhere``: names with nothing to archive here; the last are features of other projects that
    the actor can see. ``still_asked_for``: filled by ``preview`` only.
    """

    ids: dict[str, int]
    blocked: dict[str, list[str]]
    detached: list[Edge]
    dropped: list[Edge]
    archived: list[str]
    unknown: list[str]
    elsewhere: list[str]
    still_asked_for: list[AskedFor] = field(default_factory=list)

    @property
    def archivable(self) -> list[str]:
        """The names that are not blocked, sorted."""
        return sorted(self.ids.keys() - self.blocked.keys())

    @property
    def lost(self) -> list[Edge]:
        """The dependencies that are deleted because their child is archived."""
        return [edge for edge in self.dropped if edge.child in self.ids]

    def apart_from(self, held: Collection[str]) -> list[str]:
        """Archivable features that don’t have to wait until those ``held`` are archived."""
        free = set(self.archivable) - set(held)
        while parents := {
            edge.parent
            for edge in self.dropped
            if edge.parent in free and edge.child not in free  # a child keeps its parent
        }:
            free -= parents
        return sorted(free)

    def blocks(self, edge: Edge) -> bool:
        """Whether this dependency keeps its parent from being archived."""
        return edge.child in self.blocked.get(edge.parent, ())

    @property
    def facts(self) -> dict[str, Any]:
        """The parts of the plan that a review page shows and confirms, as JSON values."""
        return {
            "archive": self.archivable,
            "archived": self.archived,
            "blocked": self.blocked,
            "detached": [[edge.child, edge.parent] for edge in self.detached],
            "lost": [[edge.child, edge.parent] for edge in self.lost],
        }


@dataclass(frozen=True, slots=True)
class Revived:
    """``names``: the revived features. ``parents``: the parents depended on again, by child."""

    names: list[str]
    parents: dict[str, str]


def plan(
    actor: Actor, project_id: str, features: Collection[str], *, detach: Collection[str] = ()
) -> ArchivePlan:
    """Dry run of ``archive``: return the plan, change nothing."""
    projects.require(actor, project_id)
    return _plan(actor, project_id, features, detach)


def preview(
    actor: Actor, project_id: str, features: Collection[str], *, detach: Collection[str] = ()
) -> ArchivePlan:
    """The plan, with the archivable features that applications still ask for."""
    found = plan(actor, project_id, features, detach=detach)
    wanted = {name: found.ids[name] for name in found.archivable}
    return replace(found, still_asked_for=still_asked_for(wanted))


def archive(
    actor: Actor,
    project_id: str,
    features: Collection[str],
    *,
    detach: Collection[str] = (),
    shown: dict[str, Any] | None = None,
) -> str:
    """Archive all of the features or none. Return the id of the batch.

    Features that are archived already are skipped. ``detach``: parents that features outside the
    set stop depending on. ``shown``: facts of the plan that was confirmed.

    Raises:
        ChangedSinceReview: when the plan is no longer the one in ``shown``.

    """
    projects.require_for_content(actor, project_id)
    ids = {feature.id for feature in queries.find(project_id, features).values()}
    if detach:
        ids |= {edge.child_id for edge in _plan(actor, project_id, features, detach).detached}
    queries.lock(ids)
    plan = _plan(actor, project_id, features, detach)  # current, now that the features are locked
    if shown is not None and shown != plan.facts:
        raise ChangedSinceReview
    refuse_missing(project_id, plan.unknown + plan.elsewhere)
    if plan.blocked:
        children = {child for children in plan.blocked.values() for child in children}
        raise Conflict(
            f"Other features depend on {listed(plan.blocked)}. Archive {listed(children)} too, "
            "or remove their dependency first."
        )
    _delete_dependencies(plan.dropped)
    now = utcnow()
    for chunk in chunks(plan.ids.values()):
        db.session.execute(sa.update(Feature).where(Feature.id.in_(chunk)).values(archived_at=now))
    _record_dependencies(actor, EventType.FEATURE_DEPENDENCY_REMOVED, project_id, plan.detached)
    parents = {edge.child: edge.parent for edge in plan.lost}
    payloads = (
        EventPayload(
            project=project_id,
            feature_name=name,
            pre_data={"dependencies": [parents[name]] if name in parents else []},
        )
        for name in sorted(plan.ids)
    )
    batch_id = events.new_batch()
    events.record_all(actor, EventType.FEATURE_ARCHIVED, payloads, batch_id=batch_id)
    return batch_id


def archived_in(actor: Actor, project_id: str, batch_id: str) -> list[str]:
    """The features that a batch archived.

    Raises:
        NotFound: when it archived none in this project.

    """
    projects.require(actor, project_id)
    recorded = events.of_batch(batch_id, EventType.FEATURE_ARCHIVED, project_id)
    if not recorded:
        raise NotFound("This project has no such archiving.")
    return sorted(event.feature_name or "" for event in recorded)


def revive(actor: Actor, project_id: str, features: Collection[str]) -> Revived:
    """Revive archived features. Each depends on its former parent again if the rules allow it.

    They are off everywhere and keep their strategies. Active features are skipped.
    """
    projects.require_for_content(actor, project_id)
    found = queries.find(project_id, features)
    refuse_missing(project_id, set(features) - found.keys())
    asked = {feature.id for feature in found.values()}
    stored = _stored_dependencies(asked)
    queries.lock({*asked, *stored, *(row.parent_id for row in stored.values())})
    # Read again, now that they are locked: another transaction may have revived some.
    archived = {n: f.id for n, f in queries.find(project_id, features).items() if f.is_archived}
    for chunk in chunks(archived.values()):
        db.session.execute(sa.update(Feature).where(Feature.id.in_(chunk)).values(archived_at=None))
    strategies.switch_off_everywhere(archived.values())
    revived = set(archived.values())
    restored = _restore_dependencies(
        {child: row for child, row in stored.items() if {child, row.parent_id} & revived}, revived
    )
    detached = [edge for edge in restored if edge.child_id not in revived]
    _record_dependencies(actor, EventType.FEATURE_DEPENDENCY_ADDED, project_id, detached)
    parents = {edge.child: edge.parent for edge in restored}
    payloads = (
        EventPayload(
            project=project_id,
            feature_name=name,
            data={"dependencies": [parents[name]] if name in parents else []},
        )
        for name in sorted(archived)
    )
    events.record_all(actor, EventType.FEATURE_REVIVED, payloads, batch_id=events.new_batch())
    return Revived(sorted(archived), parents)


def still_asked_for(ids: dict[str, int]) -> list[AskedFor]:
    """Those of the features, by name, that applications still ask for."""
    demand, since = usage.demand([*ids.values()]), utcnow() - ASKED_FOR
    return [
        AskedFor(name, *demand[id])
        for name, id in sorted(ids.items())
        if id in demand and demand[id].last_seen_at >= since
    ]


def _stored_dependencies(ids: Collection[int]) -> dict[int, ArchivedDependency]:
    """Archived dependencies with the child or the parent among the ids, by child id."""
    found: dict[int, ArchivedDependency] = {}
    for chunk in chunks(ids):
        query = sa.select(ArchivedDependency).where(
            sa.or_(ArchivedDependency.child_id.in_(chunk), ArchivedDependency.parent_id.in_(chunk))
        )
        found |= {row.child_id: row for row in db.session.scalars(query)}
    return found


def _restore_dependencies(stored: dict[int, ArchivedDependency], revived: set[int]) -> list[Edge]:
    """Restore the dependencies that the rules still allow. ``stored``: by child id."""
    active = _active_names({*stored, *(row.parent_id for row in stored.values())})
    edges = queries.edges(active)
    are_children = {edge.child_id for edge in edges}
    are_parents = {edge.parent_id for edge in edges}
    restored = {
        child: row
        for child, row in stored.items()
        if {child, row.parent_id} <= active.keys()
        and not {child, row.parent_id} & are_children
        and child not in are_parents
    }
    # Dependencies archived at different times can form a chain. Only its upper end is restored,
    # because dependencies are one level deep.
    found = sorted(
        Edge(
            child_id=child,
            child=active[child],
            parent_id=row.parent_id,
            parent=active[row.parent_id],
            enabled=row.enabled,
            variants=tuple(row.variants or ()),
        )
        for child, row in restored.items()
        if row.parent_id not in restored
    )
    insert_all([_stored(edge) for edge in found], Dependency)
    # A child that is still archived keeps its record, for when it is revived itself.
    for chunk in chunks(stored.keys() & (revived | active.keys())):
        done = sa.delete(ArchivedDependency).where(ArchivedDependency.child_id.in_(chunk))
        db.session.execute(done)
    return found


def _active_names(ids: Collection[int]) -> dict[int, str]:
    """Names of the active features among the ids, by id."""
    found: dict[int, str] = {}
    for chunk in chunks(ids):
        query = sa.select(Feature.id, Feature.name).where(
            Feature.id.in_(chunk), Feature.archived_at.is_(None)
        )
        found |= {row.id: row.name for row in db.session.execute(query)}
    return found


def _plan(
    actor: Actor, project_id: str, features: Collection[str], detach: Collection[str]
) -> ArchivePlan:
    found = queries.find(project_id, features)
    ids = {name: feature.id for name, feature in found.items() if not feature.is_archived}
    edges = sorted(queries.edges(ids.values()), key=lambda edge: edge.child)
    outside = [edge for edge in edges if edge.child not in ids]
    blocked: dict[str, list[str]] = {}
    for edge in outside:
        if edge.parent not in detach:
            blocked.setdefault(edge.parent, []).append(edge.child)
    missing = set(features) - set(found)
    elsewhere = queries.exist_elsewhere(visible_projects(actor), missing)
    return ArchivePlan(
        ids=ids,
        blocked=dict(sorted(blocked.items())),
        detached=[edge for edge in outside if edge.parent in detach],
        dropped=edges,
        archived=sorted(name for name, feature in found.items() if feature.is_archived),
        unknown=sorted(missing - elsewhere),
        elsewhere=sorted(elsewhere),
    )


def _delete_dependencies(edges: list[Edge]) -> None:
    """Move dependencies to ``ArchivedDependency``, from which reviving can restore them."""
    # A child can have a record from earlier, of another parent; the key allows only one.
    for chunk in chunks(edge.child_id for edge in edges):
        for model in (Dependency, ArchivedDependency):
            db.session.execute(sa.delete(model).where(model.child_id.in_(chunk)))
    insert_all([_stored(edge) for edge in edges], ArchivedDependency)


def _stored(edge: Edge) -> dict[str, object]:
    """Column values of a dependency, archived or not."""
    return {
        "child_id": edge.child_id,
        "parent_id": edge.parent_id,
        "enabled": edge.enabled,
        "variants": list(edge.variants),
    }


def _record_dependencies(actor: Actor, type: EventType, project_id: str, edges: list[Edge]) -> None:
    """Record dependencies that were removed or added, as a batch."""
    added = type is EventType.FEATURE_DEPENDENCY_ADDED
    payloads = (
        EventPayload(
            project=project_id,
            feature_name=edge.child,
            data=edge.rule() if added else None,
            pre_data=None if added else edge.rule(),
        )
        for edge in edges
    )
    events.record_all(actor, type, payloads, batch_id=events.new_batch())
