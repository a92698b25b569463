"""What archiving features would do, and doing it."""

from collections.abc import Collection
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Plan:
    """What archiving a set of features would do.

    ``ids``: the features that are active and would go, by name. ``blocked``: those of them that
    features outside the set depend on, with these children. ``dropped``: the dependencies that
    would be deleted. ``archived`` and ``unknown``: names with nothing to archive.
    """

    ids: dict[str, int]
    blocked: dict[str, list[str]]
    dropped: list[Edge]
    archived: list[str]
    unknown: list[str]


def plan(actor: Actor, project_id: str, features: Collection[str]) -> Plan:
    """Look at what would happen; nothing is changed."""
    projects.get(actor, project_id)
    return _plan(project_id, features)


def archive(actor: Actor, project_id: str, features: Collection[str]) -> Plan:
    """Archive the features, all or none; those that already are stay as they are."""
    projects.get_for_content(actor, project_id)
    queries.lock([found.id for found in queries.find(project_id, features).values()])
    plan = _plan(project_id, features)  # now that nobody else can change what it says
    if plan.unknown:
        raise NotFound(f"Project {project_id} has no such features: {listed(plan.unknown)}.")
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
    events.record_all(actor, EventType.FEATURE_ARCHIVED, stories, batch_id=events.new_batch())
    return plan


def _plan(project_id: str, features: Collection[str]) -> Plan:
    found = queries.find(project_id, features)
    ids = {name: feature.id for name, feature in found.items() if not feature.is_archived}
    edges = queries.edges(ids.values())
    going = set(ids.values())
    blocked: dict[str, list[str]] = {}
    for edge in sorted(edges):
        if edge.parent_id in going and edge.child_id not in going:
            blocked.setdefault(edge.parent, []).append(edge.child)
    return Plan(
        ids=ids,
        blocked={parent: sorted(children) for parent, children in sorted(blocked.items())},
        dropped=sorted(edges, key=lambda edge: edge.child),
        archived=sorted(name for name, feature in found.items() if feature.is_archived),
        unknown=sorted(set(features) - set(found)),
    )


def _remember(dropped: list[Edge]) -> None:
    for chunk in chunks(edge.child_id for edge in dropped):
        db.session.execute(
            sa.delete(ArchivedDependency).where(ArchivedDependency.child_id.in_(chunk))
        )
    rows = [{"child_id": edge.child_id, "parent_id": edge.parent_id} for edge in dropped]
    insert_all(rows, ArchivedDependency)
