"""Snapshots of the subject of a change: a feature in one environment, a segment, or the project.

A snapshot of a feature is ``{"enabled", "archived", "strategies", "variants", "parents",
"impressionData"}``; older ones lack the last. With an open release there: also ``"release"``, as
the event log records it. That of a segment is the one in the event log. That
of a project is ``{"archived", "used", "requiredApprovals"}``; the last two are about the
environment. None: the subject doesn’t exist.
"""

from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from app.catalogue.features import queries as features
from app.catalogue.features.models import Feature
from app.catalogue.projects.models import Project
from app.catalogue.releases import queries as releases
from app.catalogue.segments.models import Segment
from app.catalogue.strategies import queries as strategies
from app.core.db import chunks, db
from app.releases.change_requests.models import Change

SubjectSnapshot = dict[str, Any] | None
PROJECT = 0


def of_features(
    project_id: str, environment: str, ids: Collection[int]
) -> dict[int, SubjectSnapshot]:
    """The snapshots of features of a project in one environment, by id."""
    if not ids:
        return {}
    parents = {edge.child_id: edge.rule() for edge in features.edges(ids) if edge.child_id in ids}
    states = strategies.states([(id, project_id) for id in ids])
    settings, released = _settings(ids), releases.open_of(environment, ids)
    return {
        id: {
            "enabled": state.enabled,
            "archived": settings[id].archived_at is not None,
            "strategies": [strategy.snapshot() for strategy in state.strategies],
            "variants": list(state.variants),
            "parents": [parents[id]] if id in parents else [],
            "impressionData": settings[id].impression_data,
            **({"release": released[id].snapshot()} if id in released else {}),
        }
        for id, places in states.items()
        for state in places
        if state.name == environment
    }


def of_segments(ids: Collection[int]) -> dict[int, SubjectSnapshot]:
    if not ids:
        return {}
    query = sa.select(Segment).where(Segment.id.in_(ids))
    return {segment.id: segment.snapshot() for segment in db.session.scalars(query)}


def of_project(id: str, environment: str) -> SubjectSnapshot:
    project = db.session.get_one(Project, id)
    rules = {rule.environment: rule.required_approvals for rule in project.approvals}
    return {
        "archived": project.archived_at is not None,
        "used": environment in project.environments,
        "requiredApprovals": rules.get(environment, 0),
    }


def segment_names(ids: Collection[int]) -> dict[int, str]:
    """The names of the segments that strategies of snapshots use, by id."""
    return {
        id: name
        for chunk in chunks(ids)
        for id, name in db.session.execute(
            sa.select(Segment.id, Segment.name).where(Segment.id.in_(chunk))
        )
    }


def of_changes(
    project_id: str, environment: str, changes: Collection[Change]
) -> dict[int, SubjectSnapshot]:
    """Current snapshots of the subjects of changes, by their ``key``."""
    segments = of_segments({id for change in changes if (id := change.segment_id)})
    of_feature = of_features(project_id, environment, {id for c in changes if (id := c.feature_id)})
    found = of_feature | {-id: segments[id] for id in segments}
    if any(change.action.is_on_project for change in changes):
        found[PROJECT] = of_project(project_id, environment)
    return found


def key(change: Change) -> int:
    """The key of a change’s subject in ``of_changes``: a feature’s id, a negative one, PROJECT."""
    return change.feature_id or -(change.segment_id or PROJECT)


def _settings(ids: Collection[int]) -> dict[int, Any]:
    """When the features were archived, and whether SDKs report impressions."""
    query = sa.select(Feature.id, Feature.archived_at, Feature.impression_data)
    return {
        row.id: row
        for chunk in chunks(ids)
        for row in db.session.execute(query.where(Feature.id.in_(chunk)))
    }
