"""What SDKs get of an environment: read from the database at one moment, and written as JSON."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from app.catalogue.features.models import Dependency, Feature
from app.catalogue.features.queries import rule_for_sdks
from app.catalogue.projects.models import Project, ProjectEnvironment
from app.catalogue.segments.models import Segment
from app.catalogue.strategies.models import FeatureState, Strategy, StrategySegment
from app.core.db import db, has_one_writer, rows

_in: sa.BindParameter[str] = sa.bindparam("in_environment")
_parent = sa.orm.aliased(Feature)

_features = (
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
    .order_by(Feature.name)
)
_strategies = (
    sa.select(
        Strategy.id,
        Strategy.feature_id,
        Strategy.name,
        Strategy.parameters,
        Strategy.constraints,
        Strategy.variants,
    )
    .where(Strategy.environment == _in, ~Strategy.disabled, Strategy.feature_id.is_not(None))
    .order_by(Strategy.feature_id, Strategy.sort_order, Strategy.id)
)
_segments_used = (
    sa.select(StrategySegment.strategy_id, StrategySegment.segment_id)
    .join(Strategy, Strategy.id == StrategySegment.strategy_id)
    .where(Strategy.environment == _in)
    .order_by(StrategySegment.segment_id)
)
_segments = sa.select(Segment.id, Segment.name, Segment.constraints)
_dependencies = sa.select(
    Dependency.child_id, _parent.name, Dependency.enabled, Dependency.variants
).join(_parent, _parent.id == Dependency.parent_id)

_as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class DeliveredFeature:
    """A feature as JSON. ``inlined``: with the constraints of its segments among its own."""

    name: str
    project: str
    by_reference: bytes
    inlined: bytes
    segments: frozenset[int]


@dataclass(frozen=True, slots=True)
class DeliveredState:
    """All features of an environment, by name, and the segments as JSON by their ids."""

    environment: str
    features: Mapping[str, DeliveredFeature]
    segments: Mapping[int, bytes]


@dataclass(frozen=True, slots=True)
class _Found:
    """What the database has, by the ids it belongs to."""

    strategies: Mapping[int, Sequence[Any]]
    used: Mapping[str, Sequence[int]]
    segments: Mapping[int, Any]
    parents: Mapping[int, Sequence[Any]]


def read(environment: str) -> DeliveredState:
    """The state of an environment, in five statements that see the same moment.

    Without that, a feature that is on could be read without its strategies, and SDKs would take
    it for one that is on for everyone.
    """
    if not has_one_writer():
        db.session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
    features = rows(_features, in_environment=environment)
    found = _Found(
        strategies=_grouped(rows(_strategies, in_environment=environment), by="feature_id"),
        used={
            id: [row.segment_id for row in group]
            for id, group in _grouped(
                rows(_segments_used, in_environment=environment), by="strategy_id"
            ).items()
        },
        segments={segment.id: segment for segment in rows(_segments)},
        parents=_grouped(rows(_dependencies), by="child_id"),
    )
    return DeliveredState(
        environment,
        {feature.name: _delivered(feature, found) for feature in features},
        {id: _segment(segment) for id, segment in found.segments.items()},
    )


def _grouped(found: Iterable[Any], *, by: str) -> dict[Any, list[Any]]:
    groups: defaultdict[Any, list[Any]] = defaultdict(list)
    for row in found:
        groups[getattr(row, by)].append(row)
    return groups


def _delivered(feature: Any, found: _Found) -> DeliveredFeature:
    strategies = found.strategies.get(feature.id, ())
    used = frozenset(id for one in strategies for id in found.used.get(one.id, ()))
    by_reference = _feature(feature, found, [_by_reference(one, found) for one in strategies])
    return DeliveredFeature(
        feature.name,
        feature.project_id,
        by_reference,
        _feature(feature, found, [_inlined(one, found) for one in strategies])
        if used
        else by_reference,
        used,
    )


def _feature(feature: Any, found: _Found, strategies: list[dict[str, Any]]) -> bytes:
    """A feature that is on, but without a strategy, leaves as one that is off.

    The services keep that from happening; should it happen, no one gets the feature by accident.
    """
    facts = {
        "name": feature.name,
        "type": feature.type,
        "enabled": bool(feature.enabled and strategies),
        "project": feature.project_id,
        "stale": feature.stale,
        "strategies": strategies,
        "variants": feature.variants or [],
        "description": feature.description,
        "impressionData": feature.impression_data,
    }
    if parents := found.parents.get(feature.id):
        facts["dependencies"] = [rule_for_sdks(parent) for parent in parents]
    return _as_json(facts).encode()


def _strategy(strategy: Any, constraints: list[Any]) -> dict[str, Any]:
    """No id, title or order: older SDKs can't read them."""
    return {
        "name": strategy.name,
        "constraints": constraints,
        "parameters": strategy.parameters,
        "variants": strategy.variants,
    }


def _by_reference(strategy: Any, found: _Found) -> dict[str, Any]:
    made = _strategy(strategy, strategy.constraints)
    used = found.used.get(strategy.id)
    return made | {"segments": used} if used else made


def _inlined(strategy: Any, found: _Found) -> dict[str, Any]:
    """For SDKs that know no segments."""
    constraints = list(strategy.constraints)
    for id in found.used.get(strategy.id, ()):
        constraints += found.segments[id].constraints
    return _strategy(strategy, constraints)


def _segment(segment: Any) -> bytes:
    facts = {"id": segment.id, "name": segment.name, "constraints": segment.constraints}
    return _as_json(facts).encode()
