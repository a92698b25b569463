"""Reading segments, and which strategies use them."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import sqlalchemy as sa

from app.catalogue.features.models import Feature
from app.catalogue.projects.models import Project
from app.catalogue.segments.models import Segment
from app.catalogue.strategies.models import FeatureState, Strategy, StrategySegment
from app.core.actor import Actor
from app.core.db import chunks, contains, db, locked, once
from app.core.paging import sorted_by

# A default strategy belongs to a project and to no feature.
_project_id = sa.func.coalesce(Feature.project_id, Strategy.project_id)
_used = sa.join(StrategySegment, Strategy, Strategy.id == StrategySegment.strategy_id).outerjoin(
    Feature, Feature.id == Strategy.feature_id
)


class Use(NamedTuple):
    """A strategy that uses a segment; ``feature``: None for a project's default strategy."""

    id: str
    strategy: str
    project_id: str
    feature: str | None
    environment: str
    is_archived: bool
    is_on: bool


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
    """Select segments that the actor can see. ``project``: those that its strategies can use."""
    visible = sa.select(Project.id).where(Project.visible_to(actor))
    query = sa.select(Segment).where(
        sa.or_(Segment.project_id.is_(None), Segment.project_id.in_(visible))
    )
    if text is not None:
        # The whole name of a field that a constraint compares, as it is written in the JSON text.
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
                StrategySegment.segment_id,
                sa.func.count(),
                sa.func.count(Strategy.feature_id.distinct()),
                sa.func.count(_project_id.distinct()),
            )
            .select_from(_used)
            .where(StrategySegment.segment_id.in_(chunk))
            .group_by(StrategySegment.segment_id)
        )
        found |= {id: UseCount(*numbers) for id, *numbers in db.session.execute(query)}
    return found


def uses(id: int, *, visible_to: Actor | None = None) -> list[Use]:
    """Strategies that use a segment. ``visible_to``: in projects that this actor can see."""
    query = (
        sa.select(
            Strategy.id,
            Strategy.name,
            _project_id,
            Feature.name,
            Strategy.environment,
            Feature.archived_at.is_not(None),
            sa.func.coalesce(FeatureState.enabled, sa.false()),
        )
        .select_from(_used.join(Project, Project.id == _project_id))
        .outerjoin(
            FeatureState,
            sa.and_(
                FeatureState.feature_id == Strategy.feature_id,
                FeatureState.environment == Strategy.environment,
            ),
        )
        .where(StrategySegment.segment_id == id)
        .order_by(_project_id, Feature.name, Strategy.environment, Strategy.id)
    )
    reader = None if visible_to is None or visible_to.is_admin else visible_to
    if reader is not None:
        query = query.where(Project.visible_to(reader))
    return once(
        ("uses", id, reader and reader.id), lambda: [Use(*row) for row in db.session.execute(query)]
    )


def comparing(actor: Actor, field: str) -> list[Use]:
    """Strategies of features that compare a context field, in projects that the actor can see."""
    has_name = sa.cast(Strategy.constraints, sa.Text).contains(f'"{field}"', autoescape=True)
    query = (
        sa.select(Strategy, Feature)
        .join(Feature, Feature.id == Strategy.feature_id)
        .join(Project, Project.id == Feature.project_id)
        .where(Project.visible_to(actor), has_name)
        .order_by(Feature.project_id, Feature.name, Strategy.environment, Strategy.id)
    )
    return [
        Use(
            id=strategy.id,
            strategy=strategy.name,
            project_id=feature.project_id,
            feature=feature.name,
            environment=strategy.environment,
            is_archived=feature.archived_at is not None,
            is_on=False,
        )
        for strategy, feature in db.session.execute(query)
        if any(each["contextName"] == field for each in strategy.constraints)
    ]


def with_ids(ids: Collection[int]) -> dict[int, Segment]:
    """Segments by id, locked against changes until the transaction ends."""
    query = sa.select(Segment).where(Segment.id.in_(ids)).order_by(Segment.id)
    return {segment.id: segment for segment in db.session.scalars(locked(query, read=True))}
