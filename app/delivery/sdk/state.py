"""The features of an environment as SDKs get them: read in one snapshot, written as JSON."""

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

_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class DeliveredFeature:
    """A feature as JSON.

    ``by_reference``: strategies name their segments by id. ``inlined``: they contain the
    constraints of the segments, for SDKs that don't support segments.
    """

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
class _Lookup:
    """Rows by id. ``strategies``, ``parents``: by feature. ``used``: segment ids by strategy."""

    strategies: Mapping[int, Sequence[Any]]
    used: Mapping[str, Sequence[int]]
    segments: Mapping[int, Any]
    parents: Mapping[int, Sequence[Any]]


def read(environment: str) -> DeliveredState:
    """Read the state of an environment, in five statements that see one snapshot.

    Otherwise a feature could be read as on, but without its strategies. SDKs treat such a feature
    as on for everyone.
    """
    if not has_one_writer():
        db.session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
    features = rows(_features, in_environment=environment)
    lookup = _Lookup(
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
        {feature.name: _delivered(feature, lookup) for feature in features},
        {
            id: _as_json({"id": id, "name": segment.name, "constraints": segment.constraints})
            for id, segment in lookup.segments.items()
        },
    )


def _as_json(content: dict[str, Any]) -> bytes:
    return _encoder.encode(content).encode()


def _grouped(found: Iterable[Any], *, by: str) -> dict[Any, list[Any]]:
    groups: defaultdict[Any, list[Any]] = defaultdict(list)
    for row in found:
        groups[getattr(row, by)].append(row)
    return groups


def _delivered(feature: Any, lookup: _Lookup) -> DeliveredFeature:
    strategies = lookup.strategies.get(feature.id, ())
    used = frozenset(id for one in strategies for id in lookup.used.get(one.id, ()))
    by_reference = _feature(feature, lookup, [_by_reference(one, lookup) for one in strategies])
    return DeliveredFeature(
        feature.name,
        feature.project_id,
        by_reference,
        _feature(feature, lookup, [_inlined(one, lookup) for one in strategies])
        if used
        else by_reference,
        used,
    )


def _feature(feature: Any, lookup: _Lookup, strategies: list[dict[str, Any]]) -> bytes:
    """Serialize a feature. One that is on, but has no strategy, is sent as off.

    The services prevent that state. Should it occur, no one gets the feature by accident.
    """
    content = {
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
    if parents := lookup.parents.get(feature.id):
        content["dependencies"] = [rule_for_sdks(parent) for parent in parents]
    return _as_json(content)


def _strategy(strategy: Any, constraints: list[Any]) -> dict[str, Any]:
    """Return a strategy for SDKs: without id, title and order, which older SDKs can't read."""
    return {
        "name": strategy.name,
        "constraints": constraints,
        "parameters": strategy.parameters,
        "variants": strategy.variants,
    }


def _by_reference(strategy: Any, lookup: _Lookup) -> dict[str, Any]:
    made = _strategy(strategy, strategy.constraints)
    used = lookup.used.get(strategy.id)
    return made | {"segments": used} if used else made


def _inlined(strategy: Any, lookup: _Lookup) -> dict[str, Any]:
    constraints = list(strategy.constraints)
    for id in lookup.used.get(strategy.id, ()):
        constraints += lookup.segments[id].constraints
    return _strategy(strategy, constraints)
