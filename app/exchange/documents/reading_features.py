"""Reads features as items of a document, in chunks: an instance can have a hundred thousand."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Any

import sqlalchemy as sa

from app.catalogue.constraints.models import Constraint
from app.catalogue.features import queries
from app.catalogue.features.models import Feature
from app.catalogue.segments.models import Segment
from app.catalogue.strategies.models import Strategy, StrategySegment
from app.catalogue.strategies.queries import STRATEGIES, stored_states
from app.core.db import chunks, db
from app.core.statements import OnList
from app.core.words import camel_case
from app.exchange.documents.documents import Item

CHUNK = 500
"""Features that are read at once. Their rows stay in memory until the next chunk."""

_columns = sa.select(
    Feature.id,
    Feature.name,
    Feature.project_id,
    *(getattr(Feature, name) for name in Feature.settings),
    Feature.archived_at,
    Feature.completed_status,
    Feature.completed_value,
)
_by_name = OnList(lambda is_among: _columns.where(is_among(Feature.name)))
_by_id = OnList(lambda is_among: _columns.where(is_among(Feature.id)))
_strategies = OnList(lambda is_among: STRATEGIES.where(is_among(Strategy.feature_id)))
_segments = OnList(
    lambda is_among: (
        sa.select(StrategySegment.strategy_id, Segment.name)
        .join(Segment, Segment.id == StrategySegment.segment_id)
        .where(is_among(StrategySegment.strategy_id))
        .order_by(Segment.name)
    )
)


def features(
    *, names: Collection[str] | None = None, project_id: str | None = None
) -> Iterator[tuple[str, Item]]:
    """(name, item) of these features, or of those of the project, or of all; in chunks."""
    if names is not None:
        for chunk in chunks(names, CHUNK):
            yield from _features(_by_name.run(chunk))
        return
    ids = sa.select(Feature.id).order_by(Feature.name)
    if project_id is not None:
        ids = ids.where(Feature.project_id == project_id)
    for some in chunks(db.session.scalars(ids).all(), CHUNK):
        yield from _features(_by_id.run(some))


def names() -> set[str]:
    """The names of all features, archived or not."""
    return set(db.session.scalars(sa.select(Feature.name)))


def strategy_ids(ids: Collection[int]) -> dict[tuple[int, str], list[str]]:
    """The ids of the strategies of features, by feature and environment, in their order."""
    found: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
    for row in _strategies.run(ids):
        found[row.feature_id, row.environment].append(row.id)
    return found


def _features(rows: Collection[Any]) -> Iterator[tuple[str, Item]]:
    ids = [row.id for row in rows]
    environments = _environments(ids)
    tags, parents = queries.tags_of(ids), queries.parents_of(ids)
    links = queries.links_of(ids)
    for row in rows:
        completed = row.completed_status and {
            "status": row.completed_status.value,
            "value": row.completed_value,
        }
        yield (
            row.name,
            {
                "name": row.name,
                "project": row.project_id,
                **{camel_case(name): getattr(row, name) for name in Feature.settings},
                "type": row.type.value,
                "archived": row.archived_at is not None,
                "completed": completed,
                "tags": sorted(map(str, tags[row.id])),
                "links": [{"url": link.url, "title": link.title} for link in links[row.id]],
                "parent": parent._asdict() if (parent := parents.get(row.id)) else None,
                "environments": environments.get(row.id, {}),
            },
        )


def _environments(ids: Collection[int]) -> dict[int, dict[str, Item]]:
    """States of features other than the initial one, by feature and environment."""
    found: defaultdict[int, dict[str, Item]] = defaultdict(dict)
    for id, environment, enabled, variants in stored_states(ids):
        if enabled or variants:
            found[id][environment] = {"enabled": enabled, "strategies": [], "variants": variants}
    strategies = _strategies.run(ids)
    segments: defaultdict[str, list[str]] = defaultdict(list)
    for strategy_id, name in _segments.run([row.id for row in strategies]):
        segments[strategy_id].append(name)
    for row in strategies:
        state = found[row.feature_id].setdefault(
            row.environment, {"enabled": False, "strategies": [], "variants": []}
        )
        state["strategies"].append(strategy(row, segments.get(row.id, [])))
    return found


def strategy(row: Any, segments: list[str]) -> Item:
    return {
        "name": row.name,
        "title": row.title,
        "disabled": row.disabled,
        "parameters": row.parameters,
        "constraints": stored(row.constraints),
        "segments": segments,
        "variants": row.variants,
    }


def stored(constraints: list[Constraint]) -> list[Any]:
    """Constraints with every field: those that older versions stored lack some."""
    return [{"inverted": False, "caseInsensitive": False, **each} for each in constraints]
