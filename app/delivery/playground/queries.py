"""Reads features of several environments at once, with fields that SDKs don't get."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.catalogue.features.models import Dependency, Feature
from app.catalogue.features.queries import Parent, rule_for_sdks
from app.catalogue.projects.models import Project, ProjectEnvironment
from app.catalogue.segments.models import Segment
from app.catalogue.strategies.models import FeatureState, Strategy, StrategySegment
from app.core.actor import Actor
from app.core.db import rows
from app.core.statements import Prepared
from app.evaluation.facts import FeatureFacts, SegmentFacts

_segments = Prepared(sa.select(Segment.id, Segment.name, Segment.constraints))


class Place(NamedTuple):
    """A feature in an environment."""

    environment: str
    feature: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """``projects``: ids by the name of the feature, in the order of names."""

    projects: Mapping[str, str]
    features: Mapping[Place, FeatureFacts]
    segments: Mapping[int, SegmentFacts]


def read(
    actor: Actor, environments: Collection[str], projects: Collection[str] | None = None
) -> Snapshot:
    """Read all features that the actor can see, or those of ``projects``, in five statements."""
    chosen = _chosen(actor, projects)
    found = rows(_features(environments).where(chosen))
    strategies = _grouped(
        rows(_strategies(environments).where(chosen)), "feature_id", "environment"
    )
    used = _grouped(rows(_used(environments).where(chosen)), "strategy_id")
    parents = {row.child_id: row for row in rows(_dependencies().where(chosen))}
    return Snapshot(
        {row.name: row.project_id for row in found},
        {
            Place(row.environment, row.name): FeatureFacts(
                row.name,
                bool(row.enabled),
                [
                    _strategy(each, [link.segment_id for link in used[(each.id,)]])
                    for each in strategies[row.id, row.environment]
                ],
                row.variants or (),
                [rule_for_sdks(parents[row.id])] if row.id in parents else (),
            )
            for row in found
        },
        {row.id: SegmentFacts(*row) for row in _segments.run()},
    )


def project_of(actor: Actor, feature: str) -> str | None:
    """Return the project of an active feature; None if the actor can't see such a feature."""
    query = sa.select(Feature.project_id).join(Project, Project.id == Feature.project_id)
    active = (Feature.archived_at.is_(None), Project.archived_at.is_(None))
    found = rows(query.where(Feature.name == feature, *active, Project.visible_to(actor)))
    return found[0].project_id if found else None


def _chosen(actor: Actor, projects: Collection[str] | None) -> sa.ColumnElement[bool]:
    """Return the condition for active features in ``projects`` that the actor can see."""
    every = [
        Feature.archived_at.is_(None),
        Project.archived_at.is_(None),
        Project.visible_to(actor),
    ]
    if projects is not None:
        every.append(Project.id.in_(projects))
    return sa.and_(*every)


def _features(environments: Collection[str]) -> sa.Select[*tuple[Any, ...]]:
    return (
        sa.select(
            Feature.id,
            Feature.name,
            Feature.project_id,
            ProjectEnvironment.environment,
            FeatureState.enabled,
            FeatureState.variants,
        )
        .join(Project, Project.id == Feature.project_id)
        .join(ProjectEnvironment, ProjectEnvironment.project_id == Project.id)
        .outerjoin(
            FeatureState,
            sa.and_(
                FeatureState.feature_id == Feature.id,
                FeatureState.environment == ProjectEnvironment.environment,
            ),
        )
        .where(ProjectEnvironment.environment.in_(environments))
        .order_by(Feature.name)
    )


def _strategies(environments: Collection[str]) -> sa.Select[*tuple[Any, ...]]:
    return (
        sa.select(
            Strategy.feature_id,
            Strategy.environment,
            Strategy.id,
            Strategy.name,
            Strategy.title,
            Strategy.disabled,
            Strategy.parameters,
            Strategy.constraints,
            Strategy.variants,
        )
        .join(Feature, Feature.id == Strategy.feature_id)
        .join(Project, Project.id == Feature.project_id)
        .where(Strategy.environment.in_(environments))
        .order_by(Strategy.sort_order, Strategy.id)
    )


def _used(environments: Collection[str]) -> sa.Select[*tuple[Any, ...]]:
    return (
        sa.select(StrategySegment.strategy_id, StrategySegment.segment_id)
        .join(Strategy, Strategy.id == StrategySegment.strategy_id)
        .join(Feature, Feature.id == Strategy.feature_id)
        .join(Project, Project.id == Feature.project_id)
        .where(Strategy.environment.in_(environments))
        .order_by(StrategySegment.segment_id)
    )


def _dependencies() -> sa.Select[*tuple[Any, ...]]:
    return (
        sa.select(Dependency.child_id, Parent.name, Dependency.enabled, Dependency.variants)
        .join(Parent, Parent.id == Dependency.parent_id)
        .join(Feature, Feature.id == Dependency.child_id)
        .join(Project, Project.id == Feature.project_id)
    )


def _grouped(found: Iterable[Any], *columns: str) -> defaultdict[tuple[Any, ...], list[Any]]:
    groups: defaultdict[tuple[Any, ...], list[Any]] = defaultdict(list)
    for row in found:
        groups[tuple(getattr(row, column) for column in columns)].append(row)
    return groups


def _strategy(row: Any, segments: list[int]) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "title": row.title,
        "disabled": row.disabled,
        "parameters": row.parameters,
        "constraints": row.constraints,
        "segments": segments,
        "variants": row.variants,
    }
