"""What applications get of features: their rows, and as documents that can be compared."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from operator import attrgetter
from typing import Any

import sqlalchemy as sa

from app.catalogue.features.models import Dependency, Feature
from app.catalogue.features.queries import PARENTS, rule_for_sdks
from app.catalogue.projects.models import Project, ProjectEnvironment
from app.catalogue.segments.models import Segment
from app.catalogue.strategies.models import FeatureState, Strategy
from app.catalogue.strategies.queries import SEGMENTS_USED, STRATEGIES
from app.core.statements import Condition, OnList, Prepared

Document = dict[str, Any]
"""What applications get of a feature that is on: ``{"strategies", "variants", "impressionData",
"dependencies"}``. Strategies contain the constraints of their segments.
"""
EMPTY: Document = {
    "strategies": [],
    "variants": [],
    "impressionData": False,
    "dependencies": [],
}
"""A document of which applications get nothing."""

FEATURES = (
    sa.select(
        Feature.id,
        Feature.name,
        Feature.type,
        Feature.project_id,
        Feature.stale,
        Feature.description,
        Feature.impression_data,
        ProjectEnvironment.environment,
        FeatureState.enabled,
        FeatureState.variants,
    )
    .join(Project, Project.id == Feature.project_id)
    .join(ProjectEnvironment, ProjectEnvironment.project_id == Feature.project_id)
    .outerjoin(
        FeatureState,
        sa.and_(
            FeatureState.feature_id == Feature.id,
            FeatureState.environment == ProjectEnvironment.environment,
        ),
    )
    .where(Feature.archived_at.is_(None), Project.archived_at.is_(None))
    .order_by(Feature.name)
)
"""Active features in the environments of their projects, on or off."""
SEGMENTS = sa.select(Segment.id, Segment.name, Segment.constraints)

_in: sa.BindParameter[str] = sa.bindparam("in_environment")


class DeliveredRows:
    """Rows of features in environments, and what belongs to them.

    ``segments``: by id.
    """

    def __init__(
        self,
        features: Sequence[Any],
        strategies: Iterable[Any],
        used: Iterable[Any],
        segments: Iterable[Any],
        parents: Iterable[Any],
    ) -> None:
        self.features = features
        self.segments = {segment.id: segment for segment in segments}
        self._strategies = _grouped(strategies, "feature_id", "environment")
        self._used = {
            id: [row.segment_id for row in group]
            for id, group in _grouped(used, "strategy_id").items()
        }
        self._parents = _grouped(parents, "child_id")

    def strategies(self, feature: Any) -> Sequence[Any]:
        return self._strategies.get((feature.id, feature.environment), ())

    def segment_ids(self, strategy: Any) -> Sequence[int]:
        return self._used.get(strategy.id, ())

    def dependencies(self, feature: Any) -> list[dict[str, Any]]:
        """The rules on its parents, as SDKs read them."""
        return [rule_for_sdks(parent) for parent in self._parents.get(feature.id, ())]


def read(connection: sa.Connection, environment: str) -> DeliveredRows:
    """All features of an environment, on or off, in five statements."""
    found = (each.run(connection=connection, in_environment=environment) for each in _ALL)
    return DeliveredRows(*found)


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
    delivered = DeliveredRows(found, strategies, used, known, parents)
    return {
        feature.name: _document(feature, delivered)
        for feature in found
        if delivered.strategies(feature)  # without any, SDKs get it as off
    }


def _document(feature: Any, delivered: DeliveredRows) -> Document:
    return {
        "strategies": [
            {
                "name": strategy.name,
                "parameters": strategy.parameters,
                "constraints": strategy.constraints,
                "segments": [
                    {"id": id, "constraints": delivered.segments[id].constraints}
                    for id in delivered.segment_ids(strategy)
                ],
                "variants": strategy.variants,
            }
            for strategy in delivered.strategies(feature)
        ],
        "variants": feature.variants or [],
        "impressionData": feature.impression_data,
        "dependencies": delivered.dependencies(feature),
    }


def _grouped(found: Iterable[Any], *by: str) -> dict[Any, list[Any]]:
    groups: defaultdict[Any, list[Any]] = defaultdict(list)
    key = attrgetter(*by)
    for row in found:
        groups[key(row)].append(row)
    return groups


def _features(condition: Condition) -> sa.Select[*tuple[Any, ...]]:
    return FEATURES.where(ProjectEnvironment.environment == _in, condition(Feature.name))


def _strategies(condition: Condition) -> sa.Select[*tuple[Any, ...]]:
    return STRATEGIES.where(
        Strategy.environment == _in, ~Strategy.disabled, condition(Strategy.feature_id)
    )


def _segments_used(condition: Condition) -> sa.Select[*tuple[Any, ...]]:
    return SEGMENTS_USED.where(Strategy.environment == _in, condition(Strategy.feature_id))


def _segments(condition: Condition) -> sa.Select[*tuple[Any, ...]]:
    return SEGMENTS.where(condition(Segment.id))


def _dependencies(condition: Condition) -> sa.Select[*tuple[Any, ...]]:
    return PARENTS.where(condition(Dependency.child_id))


_ALL = tuple(
    Prepared(build(lambda *_: sa.true()))
    for build in (_features, _strategies, _segments_used, _segments, _dependencies)
)
_features_on = OnList(lambda condition: _features(condition).where(FeatureState.enabled))
_strategies_of = OnList(_strategies)
_segments_used_by = OnList(_segments_used)
_segments_with = OnList(_segments)
_dependencies_of = OnList(_dependencies)
