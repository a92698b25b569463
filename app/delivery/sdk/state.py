"""The features of an environment as SDKs get them: read in one snapshot, written as JSON."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Self, TypeVar

import sqlalchemy as sa

from app.catalogue.features import delivered
from app.catalogue.features.delivered import DeliveredRows
from app.core.db import db, has_one_writer
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.statements import Prepared

K = TypeVar("K")
V = TypeVar("V")

_newest = sa.union_all(
    *(
        sa.select(sa.func.max(Event.id).label("id")).where(Event.type == type)
        for type in EventType
        if type.declared.touches_sdks
    )
).subquery()
_last_change = Prepared(
    sa.select(Event.id, Event.created_at).where(
        Event.id == sa.select(sa.func.max(_newest.c.id)).scalar_subquery()
    )
)
"""One look at the index for each type of event, however many other events came last."""

NEVER = datetime.fromtimestamp(0, UTC)

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
    """All features of an environment, by name, and the segments as JSON by their ids.

    ``version``: the id of the last event that may have changed what SDKs get; 0 if the log has
    none. ``changed_at``: its time.
    """

    version: int
    changed_at: datetime
    environment: str
    features: Mapping[str, DeliveredFeature]
    segments: Mapping[int, bytes]

    def segments_of(self, features: Iterable[DeliveredFeature]) -> dict[int, bytes]:
        """The segments that features use, by id."""
        used = sorted({id for feature in features for id in feature.segments})
        return {id: self.segments[id] for id in used}

    def has_content_of(self, other: Self) -> bool:
        """Whether SDKs get the same of both."""
        return self.features == other.features and self.segments == other.segments

    def sharing(self, before: Self) -> Self:
        """The same state, in the memory of an earlier one where nothing has changed."""
        features = _shared(self.features, before.features)
        segments = _shared(self.segments, before.segments)
        return replace(self, features=features, segments=segments)


def _shared(now: Mapping[K, V], before: Mapping[K, V]) -> dict[K, V]:
    """The mapping of now, with the earlier one's values where they are equal."""
    found = {}
    for key, value in now.items():
        known = before.get(key, value)
        found[key] = known if known == value else value
    return found


def read(environment: str) -> DeliveredState:
    """Read the state of an environment, in six statements that see one snapshot.

    Otherwise a feature could be read as on, but without its strategies. SDKs treat such a feature
    as on for everyone.
    """
    if not has_one_writer():
        db.session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
    found = delivered.read(db.session.connection(), environment)
    change = next(iter(_last_change.run()), None)
    return DeliveredState(
        change.id if change else 0,
        change.created_at if change else NEVER,
        environment,
        {feature.name: _delivered(feature, found) for feature in found.features},
        {
            id: _as_json({"id": id, "name": segment.name, "constraints": segment.constraints})
            for id, segment in found.segments.items()
        },
    )


def _as_json(content: dict[str, Any]) -> bytes:
    return _encoder.encode(content).encode()


def _delivered(feature: Any, found: DeliveredRows) -> DeliveredFeature:
    strategies = found.strategies(feature)
    used = frozenset(id for one in strategies for id in found.segment_ids(one))
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


def _feature(feature: Any, found: DeliveredRows, strategies: list[dict[str, Any]]) -> bytes:
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
    if dependencies := found.dependencies(feature):
        content["dependencies"] = dependencies
    return _as_json(content)


def _strategy(strategy: Any, constraints: list[Any]) -> dict[str, Any]:
    """Return a strategy for SDKs: without id, title and order, which older SDKs can't read."""
    return {
        "name": strategy.name,
        "constraints": constraints,
        "parameters": strategy.parameters,
        "variants": strategy.variants,
    }


def _by_reference(strategy: Any, found: DeliveredRows) -> dict[str, Any]:
    made = _strategy(strategy, strategy.constraints)
    used = found.segment_ids(strategy)
    return made | {"segments": used} if used else made


def _inlined(strategy: Any, found: DeliveredRows) -> dict[str, Any]:
    constraints = list(strategy.constraints)
    for id in found.segment_ids(strategy):
        constraints += found.segments[id].constraints
    return _strategy(strategy, constraints)
