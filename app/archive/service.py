"""What archiving features would do, and doing it."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from app.archive.models import ArchivedDependency
from app.core.actor import Actor
from app.core.db import chunks, db, insert_all, utcnow
from app.core.errors import Conflict, NotFound, listed
from app.events import service as events
from app.events.models import EventType
from app.events.service import Story
from app.features import queries
from app.features.models import Dependency, Feature
from app.features.queries import Edge
from app.projects import service as projects
from app.projects.queries import visible_projects


@dataclass(frozen=True, slots=True)
class Plan:
    """What archiving a set of features would do.

    ``ids``: the features that are active and would go, by name. ``blocked``: those of them that
    features outside the set depend on, with these children. ``dropped``: the dependencies that
    would be deleted. ``archived``, ``unknown`` and ``elsewhere``: names with nothing to archive
    here; the last are features of other projects that the actor may know of.
    """

    ids: dict[str, int]
    blocked: dict[str, list[str]]
    dropped: list[Edge]
    archived: list[str]
    unknown: list[str]
    elsewhere: list[str]

    @property
    def archivable(self) -> list[str]:
        """Those that nothing stands in the way of, by name."""
        return sorted(self.ids.keys() - self.blocked.keys())

    @property
    def loosened(self) -> list[Edge]:
        """The dependencies that go because their child does."""
        return [edge for edge in self.dropped if edge.child in self.ids]

    @property
    def facts(self) -> dict[str, Any]:
        """All that a review page shows, in plain words."""
        return {
            "archive": self.archivable,
            "blocked": self.blocked,
            "loosened": [[edge.child, edge.parent] for edge in self.loosened],
        }


@dataclass(frozen=True, slots=True)
class Revived:
    """The names that came back, and the parents that some of them have again."""

    names: list[str]
    parents: dict[str, str]


def plan(actor: Actor, project_id: str, features: Collection[str]) -> Plan:
    """Look at what would happen; nothing is changed."""
    projects.require(actor, project_id)
    return _plan(actor, project_id, features)


def archive(
    actor: Actor,
    project_id: str,
    features: Collection[str],
    *,
    shown: dict[str, Any] | None = None,
) -> str:
    """Archive the features, all or none; those that already are stay as they are.

    With ``shown``, the facts of a plan, exactly that is done or nothing. The id of the batch.
    """
    projects.require_for_content(actor, project_id)
    queries.lock([found.id for found in queries.find(project_id, features).values()])
    plan = _plan(actor, project_id, features)  # now that nobody else can change what it says
    if shown is not None and shown != plan.facts:
        raise Conflict(
            "What archiving would do has changed since you saw it, so nothing was done. The "
            "changes are marked; look again."
        )
    if missing := plan.unknown + plan.elsewhere:
        raise NotFound(f"Project {project_id} has no such features: {listed(missing)}.")
    if plan.blocked:
        children = {child for children in plan.blocked.values() for child in children}
        raise Conflict(
            f"Other features depend on {listed(plan.blocked)}. Archive {listed(children)} too, "
            "or remove their dependency first."
        )
    _remember(plan.dropped)
    now = utcnow()
    for chunk in chunks(plan.ids.values()):
        db.session.execute(sa.update(Feature).where(Feature.id.in_(chunk)).values(archived_at=now))
        db.session.execute(sa.delete(Dependency).where(Dependency.child_id.in_(chunk)))
    parents = {edge.child: edge.parent for edge in plan.dropped}
    stories = (
        Story(
            project=project_id,
            feature_name=name,
            pre_data={"dependencies": [parents[name]] if name in parents else []},
        )
        for name in sorted(plan.ids)
    )
    batch_id = events.new_batch()
    events.record_all(actor, EventType.FEATURE_ARCHIVED, stories, batch_id=batch_id)
    return batch_id


def archived_in(actor: Actor, project_id: str, batch_id: str) -> list[str]:
    """The features that were archived in one act.

    Raises:
        NotFound: when it archived none in this project.

    """
    projects.require(actor, project_id)
    told = events.of_batch(batch_id, EventType.FEATURE_ARCHIVED, project_id)
    if not told:
        raise NotFound("There is no such archiving in this project.")
    return sorted(event.feature_name or "" for event in told)


def revive(actor: Actor, project_id: str, features: Collection[str]) -> Revived:
    """Bring archived features back; each regains its parent if that is active and free for it.

    Active ones stay as they are.
    """
    projects.require_for_content(actor, project_id)
    found = queries.find(project_id, features)
    unknown = set(features) - set(found)
    if unknown:
        raise NotFound(f"Project {project_id} has no such features: {listed(unknown)}.")
    asked = {feature.id for feature in found.values()}
    remembered = _remembered(asked)
    queries.lock(asked | set(remembered.values()))
    archived = {n: f.id for n, f in queries.find(project_id, features).items() if f.is_archived}
    for chunk in chunks(archived.values()):
        db.session.execute(sa.update(Feature).where(Feature.id.in_(chunk)).values(archived_at=None))
    restored = _restore_dependencies({id: remembered.get(id) for id in archived.values()})
    stories = (
        Story(
            project=project_id,
            feature_name=name,
            data={"dependencies": [restored[id]] if id in restored else []},
        )
        for name, id in sorted(archived.items())
    )
    events.record_all(actor, EventType.FEATURE_REVIVED, stories, batch_id=events.new_batch())
    return Revived(
        sorted(archived), {n: restored[id] for n, id in archived.items() if id in restored}
    )


def _remembered(child_ids: Collection[int]) -> dict[int, int]:
    """The parent that each of the features had when it was archived."""
    found: dict[int, int] = {}
    for chunk in chunks(child_ids):
        query = sa.select(ArchivedDependency).where(ArchivedDependency.child_id.in_(chunk))
        found |= {row.child_id: row.parent_id for row in db.session.scalars(query)}
    return found


def _restore_dependencies(parents: dict[int, int | None]) -> dict[int, str]:
    """Tie revived children to their parents again where the rules still allow it.

    The parent's name by the child's id, for those that were tied.
    """
    wanted = {child: parent for child, parent in parents.items() if parent is not None}
    edges = queries.edges({*wanted, *wanted.values()})
    are_children = {edge.child_id for edge in edges}
    are_parents = {edge.parent_id for edge in edges}
    active: dict[int, str] = {}
    for chunk in chunks(sorted(set(wanted.values()))):
        query = sa.select(Feature.id, Feature.name).where(
            Feature.id.in_(chunk), Feature.archived_at.is_(None)
        )
        active |= {row.id: row.name for row in db.session.execute(query)}
    tied = {
        child: parent
        for child, parent in wanted.items()
        if parent in active and parent not in are_children and child not in are_parents
    }
    # Those who come back together may have been tied at different times, one upon the other.
    tied = {child: parent for child, parent in tied.items() if parent not in tied}
    insert_all([{"child_id": c, "parent_id": p} for c, p in tied.items()], Dependency)
    for chunk in chunks(parents):
        gone = sa.delete(ArchivedDependency).where(ArchivedDependency.child_id.in_(chunk))
        db.session.execute(gone)
    return {child: active[parent] for child, parent in tied.items()}


def _plan(actor: Actor, project_id: str, features: Collection[str]) -> Plan:
    found = queries.find(project_id, features)
    ids = {name: feature.id for name, feature in found.items() if not feature.is_archived}
    edges = queries.edges(ids.values())
    going = set(ids.values())
    blocked: dict[str, list[str]] = {}
    for edge in sorted(edges):
        if edge.parent_id in going and edge.child_id not in going:
            blocked.setdefault(edge.parent, []).append(edge.child)
    missing = set(features) - set(found)
    elsewhere = queries.exist_elsewhere(visible_projects(actor), missing)
    return Plan(
        ids=ids,
        blocked={parent: sorted(children) for parent, children in sorted(blocked.items())},
        dropped=sorted(edges, key=lambda edge: edge.child),
        archived=sorted(name for name, feature in found.items() if feature.is_archived),
        unknown=sorted(missing - elsewhere),
        elsewhere=sorted(elsewhere),
    )


def _remember(dropped: list[Edge]) -> None:
    for chunk in chunks(edge.child_id for edge in dropped):
        db.session.execute(
            sa.delete(ArchivedDependency).where(ArchivedDependency.child_id.in_(chunk))
        )
    rows = [{"child_id": edge.child_id, "parent_id": edge.parent_id} for edge in dropped]
    insert_all(rows, ArchivedDependency)
