"""Finding features of all projects by several filters, as Unleash's search has them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from app.catalogue.favourites.models import Favourite
from app.catalogue.features import lifecycle, queries, stale
from app.catalogue.features.credits import credited
from app.catalogue.features.models import Feature
from app.catalogue.features.queries import FeatureView
from app.catalogue.features.stale import StaleFilter
from app.catalogue.projects.queries import visible_projects
from app.catalogue.releases.models import MOVING, Release
from app.catalogue.segments.models import Segment
from app.catalogue.strategies.models import Strategy, StrategySegment
from app.catalogue.strategies.queries import StepNow
from app.core.actor import Actor
from app.core.db import db
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.paging import Comparison, Page

SORTS = ("name", "project", "type", "createdAt", "lastSeenAt")


class State(StrEnum):
    ACTIVE = "active"
    STALE = "stale"
    POTENTIALLY_STALE = "potentially-stale"


def search(
    actor: Actor,
    *,
    limit: int,
    offset: int,
    stale_after: timedelta,
    sort: str,
    favorites_first: bool,
    query: str | None = None,
    status: Sequence[tuple[str, bool]] = (),
    archived: Comparison | None = None,
    **filters: Comparison,
) -> Page[FeatureView]:
    """A page of the features that match every filter. ``status``: any of these states."""
    stage = filters.get("lifecycle")
    is_archived = archived.values[0] if archived else bool(stage and "archived" in stage.values)
    first = [_is_favourite(actor).desc()] if favorites_first else []
    found = queries.rows(
        visible_projects(actor), text=query, archived=is_archived, sort=sort, first=first
    )
    for name, asked in filters.items():
        found = found.where(_condition(actor, name, asked, stale_after))
    if status:
        states = [queries.in_state(environment, enabled=on) for environment, on in status]
        found = found.where(sa.or_(*states))
    page = lifecycle.page(found, limit=limit, offset=offset, stale_after=stale_after)
    return page.of(_with_steps(_with_segments(credited(actor, page.items))))


def _condition(
    actor: Actor, name: str, asked: Comparison, stale_after: timedelta
) -> sa.ColumnElement[bool]:
    columns: dict[str, Any] = {
        "project": Feature.project_id,
        "type": Feature.type,
        "lifecycle": lifecycle.current_stage,
        "created_by": _creator,
        "state": sa.case(
            (Feature.stale, State.STALE.value),
            (
                stale.is_proposed(StaleFilter.ANY, stale.before(stale_after)),
                State.POTENTIALLY_STALE.value,
            ),
            else_=State.ACTIVE.value,
        ),
        "favorite": _is_favourite(actor),
    }
    if name in columns:
        return asked.with_column(columns[name])
    if name in {"created_at", "last_seen_at"}:
        column: Any = Feature.created_at if name == "created_at" else queries.LAST_SEEN
        start = datetime.combine(asked.values[0], time.min, UTC)
        is_before: sa.ColumnElement[bool] = column < start
        return is_before if asked.operator == "IS_BEFORE" else ~is_before
    has: Any = queries.has_tag if name == "tag" else _has_segment
    each = [has(value) for value in asked.values]
    is_match = sa.and_(*each) if asked.operator.endswith("_ALL_OF") else sa.or_(*each)
    if asked.operator == "EXCLUDE_ALL":
        is_match = sa.and_(*each)
    return is_match if asked.operator.startswith("INCLUDE") else ~is_match


_creator = (
    sa.select(sa.func.max(Event.created_by_user_id))
    .where(Event.feature_name == Feature.name, Event.type == EventType.FEATURE_CREATED)
    .correlate(Feature)
    .scalar_subquery()
)
_segments = (
    sa.select(Strategy.feature_id, Segment.name)
    .join(StrategySegment, StrategySegment.strategy_id == Strategy.id)
    .join(Segment, Segment.id == StrategySegment.segment_id)
)


def _is_favourite(actor: Actor) -> sa.ColumnElement[bool]:
    marked = sa.select(Favourite.feature_id).where(Favourite.account_id == actor.account_id)
    return Feature.id.in_(marked)


def _has_segment(name: str) -> sa.ColumnElement[bool]:
    used = _segments.with_only_columns(Strategy.feature_id).where(Segment.name == name)
    return Feature.id.in_(used.where(Strategy.feature_id.is_not(None)))


def _with_segments(views: list[FeatureView]) -> list[FeatureView]:
    """The views with the names of the segments that their strategies use."""
    names: dict[int, set[str]] = {view.feature.id: set() for view in views}
    for id, name in db.session.execute(_segments.where(Strategy.feature_id.in_(names)).distinct()):
        names[id or 0].add(name)
    return [
        replace(view, credits=view.credits._replace(segments=sorted(names[view.feature.id])))
        for view in views
        if view.credits
    ]


def _with_steps(views: list[FeatureView]) -> list[FeatureView]:
    """The views with the present steps of their releases under way."""
    ids = [view.feature.id for view in views]
    under_way = sa.select(Release).where(Release.feature_id.in_(ids), Release.state.in_(MOVING))
    steps = {
        (release.feature_id, release.environment): StepNow(
            release.step["name"], release.position or 0, len(release.steps)
        )
        for release in db.session.scalars(under_way)
        if release.step
    }
    return [
        replace(
            view,
            environments=[
                replace(state, step=steps.get((view.feature.id, state.name)))
                for state in view.environments
            ],
        )
        for view in views
    ]
