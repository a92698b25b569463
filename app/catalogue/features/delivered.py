"""What applications get of features: their rows, and as documents that can be compared."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from app.catalogue.features.models import Dependency, Feature
from app.catalogue.features.queries import Parent, rule_for_sdks
from app.catalogue.projects.models import Project, ProjectEnvironment
from app.catalogue.segments.models import Segment
from app.catalogue.strategies.models import FeatureState, Strategy, StrategySegment
from app.core.statements import Condition, OnList, Prepared

Document = dict[str, Any]
"""What applications get of a feature that is on: ``{"strategies", "variants", "impressionData",
"dependencies"}``. Strategies contain the constraints of their segments.
"""

_in: sa.BindParameter[str] = sa.bindparam("in_environment")


@dataclass(frozen=True, slots=True)
class DeliveredRows:
    """Rows of the features in an environment, and what belongs to them by id.

    ``strategies``, ``parents``: by feature. ``used``: segment ids by strategy.
    """

    features: Sequence[Any]
    strategies: Mapping[int, Sequence[Any]]
    used: Mapping[str, Sequence[int]]
    segments: Mapping[int, Any]
    parents: Mapping[int, Sequence[Any]]

    def segments_of(self, strategy: Any) -> list[Any]:
        return [self.segments[id] for id in self.used.get(strategy.id, ())]

    def dependencies(self, feature: Any) -> list[dict[str, Any]]:
        """The rules on its parents, as SDKs read them."""
        return [rule_for_sdks(parent) for parent in self.parents.get(feature.id, ())]


def read(connection: sa.Connection, environment: str) -> DeliveredRows:
    """All features of an environment, on or off, in five statements."""
    return _rows(*(each.run(connection=connection, in_environment=environment) for each in _ALL))


def documents(
    connection: sa.Connection, environment: str, names: Collection[str]
) -> dict[str, Document]:
    """Documents of the features that are on, by name. No application gets anything of the others.

    Types, descriptions and tags of features are not in it: they don't decide who gets a feature.
    """
    found = _features_on.run(names, connection=connection, in_environment=environment)
    ids = [feature.id for feature in found]
    if not ids:
        return {}
    strategies, used, parents = (
        each.run(ids, connection=connection, in_environment=environment)
        for each in (_strategies_of, _segments_used_by, _dependencies_of)
    )
    segments = {row.segment_id for row in used}
    known = _segments_with.run(segments, connection=connection) if segments else ()
    delivered = _rows(found, strategies, used, known, parents)
    return {
        feature.name: _document(feature, delivered)
        for feature in found
        if feature.id in delivered.strategies  # without any, SDKs get it as off
    }


def _document(feature: Any, delivered: DeliveredRows) -> Document:
    return {
        "strategies": [
            {
                "name": strategy.name,
                "parameters": strategy.parameters,
                "constraints": strategy.constraints,
                "segments": [
                    {"id": segment.id, "constraints": segment.constraints}
                    for segment in delivered.segments_of(strategy)
                ],
                "variants": strategy.variants,
            }
            for strategy in delivered.strategies[feature.id]
        ],
        "variants": feature.variants or [],
        "impressionData": feature.impression_data,
        "dependencies": delivered.dependencies(feature),
    }


def _rows(
    features: Sequence[Any],
    strategies: Iterable[Any],
    used: Iterable[Any],
    segments: Iterable[Any],
    parents: Iterable[Any],
) -> DeliveredRows:
    return DeliveredRows(
        features,
        _grouped(strategies, by="feature_id"),
        {
            id: [row.segment_id for row in group]
            for id, group in _grouped(used, by="strategy_id").items()
        },
        {segment.id: segment for segment in segments},
        _grouped(parents, by="child_id"),
    )


def _grouped(found: Iterable[Any], *, by: str) -> dict[Any, list[Any]]:
    groups: defaultdict[Any, list[Any]] = defaultdict(list)
    for row in found:
        groups[getattr(row, by)].append(row)
    return groups


def _features(condition: Condition) -> sa.Select[*tuple[Any, ...]]:
    return (
        sa.select(
            Feature.id,
            Feature.name,
            Feature.type,
            Feature.project_id,
            Feature.stale,
            Feature.description,
            Feature.impression_data,
            FeatureState.enabled,
            FeatureState.variants,
        )
        .join(Project, Project.id == Feature.project_id)
        .join(
            ProjectEnvironment,
            sa.and_(
                ProjectEnvironment.project_id == Feature.project_id,
                ProjectEnvironment.environment == _in,
            ),
        )
        .outerjoin(
            FeatureState,
            sa.and_(FeatureState.feature_id == Feature.id, FeatureState.environment == _in),
        )
        .where(Feature.archived_at.is_(None), Project.archived_at.is_(None))
        .where(condition(Feature.name))
        .order_by(Feature.name)
    )


def _strategies(condition: Condition) -> sa.Select[*tuple[Any, ...]]:
    return (
        sa.select(
            Strategy.id,
            Strategy.feature_id,
            Strategy.name,
            Strategy.parameters,
            Strategy.constraints,
            Strategy.variants,
        )
        .where(Strategy.environment == _in, ~Strategy.disabled, Strategy.feature_id.is_not(None))
        .where(condition(Strategy.feature_id))
        .order_by(Strategy.feature_id, Strategy.sort_order, Strategy.id)
    )


def _segments_used(condition: Condition) -> sa.Select[*tuple[Any, ...]]:
    return (
        sa.select(StrategySegment.strategy_id, StrategySegment.segment_id)
        .join(Strategy, Strategy.id == StrategySegment.strategy_id)
        .where(Strategy.environment == _in, condition(Strategy.feature_id))
        .order_by(StrategySegment.segment_id)
    )


def _segments(condition: Condition) -> sa.Select[*tuple[Any, ...]]:
    return sa.select(Segment.id, Segment.name, Segment.constraints).where(condition(Segment.id))


def _dependencies(condition: Condition) -> sa.Select[*tuple[Any, ...]]:
    return (
        sa.select(Dependency.child_id, Parent.name, Dependency.enabled, Dependency.variants)
        .join(Parent, Parent.id == Dependency.parent_id)
        .where(condition(Dependency.child_id))
    )


_ALL = tuple(
    Prepared(build(lambda *_: sa.true()))
    for build in (_features, _strategies, _segments_used, _segments, _dependencies)
)
_features_on = OnList(lambda condition: _features(condition).where(FeatureState.enabled))
_strategies_of = OnList(_strategies)
_segments_used_by = OnList(_segments_used)
_segments_with = OnList(_segments)
_dependencies_of = OnList(_dependencies)
