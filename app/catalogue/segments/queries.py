"""Reading segments, and which strategies use them."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import sqlalchemy as sa

from app.catalogue.segments.models import Segment
from app.core.actor import Actor
from app.core.db import chunks, contains, db
from app.core.paging import sorted_by
from app.core.visibility import can_see, projects

# Looked through here. The models are in strategies and features, areas above.
_links = sa.table("strategy_segments", sa.column("strategy_id"), sa.column("segment_id"))
_strategies = sa.table(
    "strategies",
    sa.column("id"),
    sa.column("name"),
    sa.column("feature_id"),
    sa.column("project_id"),
    sa.column("environment"),
)
_features = sa.table(
    "features",
    sa.column("id"),
    sa.column("name"),
    sa.column("project_id"),
    sa.column("archived_at"),
)
_project_id = sa.func.coalesce(_features.c.project_id, _strategies.c.project_id)
_used = _links.join(_strategies, _strategies.c.id == _links.c.strategy_id).outerjoin(
    _features, _features.c.id == _strategies.c.feature_id
)


class Use(NamedTuple):
    """A strategy that uses a segment; ``feature``: None for the default one of a project."""

    id: str
    strategy: str
    project_id: str
    feature: str | None
    environment: str
    is_archived: bool


@dataclass(frozen=True, slots=True)
class UseCount:
    strategies: int = 0
    features: int = 0
    projects: int = 0


@dataclass(frozen=True, slots=True)
class SegmentView:
    """A segment, and how many strategies, features and projects use it."""

    segment: Segment
    used: UseCount


def rows(
    actor: Actor,
    *,
    text: str | None = None,
    project: str | None = None,
    sort: str | None = None,
) -> sa.Select[Segment]:
    """The segments that the actor can see, by name; with ``project`` those it can use."""
    query = sa.select(Segment).where(_visible(actor))
    if text is not None:
        has_field = sa.cast(Segment.constraints, sa.Text).contains(
            f'"contextName": {json.dumps(text)},', autoescape=True
        )
        query = query.where(sa.or_(contains(text, Segment.name, Segment.description), has_field))
    if project is not None:
        query = query.where(sa.or_(Segment.project_id.is_(None), Segment.project_id == project))
    columns = {"name": Segment.name, "createdAt": Segment.created_at}
    return query.order_by(*sorted_by(sort, columns), Segment.name)


def views(segments: Sequence[Segment]) -> list[SegmentView]:
    counts = use_counts([segment.id for segment in segments])
    return [SegmentView(segment, counts.get(segment.id, UseCount())) for segment in segments]


def use_counts(ids: Collection[int]) -> dict[int, UseCount]:
    """How often each segment is used, also in archived features and paused strategies."""
    found: dict[int, UseCount] = {}
    for chunk in chunks(ids):
        query = (
            sa.select(
                _links.c.segment_id,
                sa.func.count(),
                sa.func.count(_strategies.c.feature_id.distinct()),
                sa.func.count(_project_id.distinct()),
            )
            .select_from(_used)
            .where(_links.c.segment_id.in_(chunk))
            .group_by(_links.c.segment_id)
        )
        found |= {id: UseCount(*numbers) for id, *numbers in db.session.execute(query)}
    return found


def uses(id: int, *, visible_to: Actor | None = None) -> list[Use]:
    """The strategies that use a segment; with ``visible_to`` in projects that the actor can see."""
    query = (
        sa.select(
            _strategies.c.id,
            _strategies.c.name,
            _project_id,
            _features.c.name,
            _strategies.c.environment,
            _features.c.archived_at.is_not(None),
        )
        .select_from(_used.join(projects, projects.c.id == _project_id))
        .where(_links.c.segment_id == id)
        .order_by(_project_id, _features.c.name, _strategies.c.environment, _strategies.c.id)
    )
    if visible_to is not None:
        query = query.where(can_see(visible_to, projects.c.id, projects.c.mode))
    return [Use(*row) for row in db.session.execute(query)]


def with_ids(ids: Collection[int]) -> dict[int, Segment]:
    """Segments by id; no one changes or deletes them until the transaction ends."""
    query = sa.select(Segment).where(Segment.id.in_(ids)).order_by(Segment.id)
    locked = query.with_for_update(read=True).execution_options(populate_existing=True)
    return {segment.id: segment for segment in db.session.scalars(locked)}


def _visible(actor: Actor) -> sa.ColumnElement[bool]:
    seen = sa.select(projects.c.id).where(can_see(actor, projects.c.id, projects.c.mode))
    return sa.or_(Segment.project_id.is_(None), Segment.project_id.in_(seen))
