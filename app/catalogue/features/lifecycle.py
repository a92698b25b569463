"""Stages of a feature from creation to archiving, derived from its usage and its own columns."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from app.catalogue.environments.models import Environment, EnvironmentType
from app.catalogue.features import queries, stale
from app.catalogue.features.models import CompletedStatus, Feature, Stage, StaleReason
from app.catalogue.features.queries import LAST_SEEN, FeatureView, Life, LifecycleStep
from app.catalogue.features.stale import StaleFilter, UsageFilter
from app.catalogue.projects.models import ProjectEnvironment
from app.catalogue.usage.models import FeatureSeen
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.columns import UtcDateTime
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.paging import Page, page_of
from app.core.statements import OnList

_own = FeatureSeen.feature_id == Feature.id
_first_seen = (
    sa.select(sa.func.min(FeatureSeen.first_seen_at))
    .where(_own)
    .correlate(Feature)
    .scalar_subquery()
)
_live_since = (
    sa.select(sa.func.min(FeatureSeen.first_on_at))
    .join(Environment, Environment.name == FeatureSeen.environment)
    .join(ProjectEnvironment, ProjectEnvironment.environment == FeatureSeen.environment)
    .where(
        _own,
        ProjectEnvironment.project_id == Feature.project_id,
        Environment.type == EnvironmentType.PRODUCTION,
    )
    .correlate(Feature)
    .scalar_subquery()
)
current_stage: sa.ColumnElement[str] = sa.case(
    (Feature.archived_at.is_not(None), Stage.ARCHIVED.value),
    (Feature.completed_at.is_not(None), Stage.COMPLETED.value),
    (_live_since.is_not(None), Stage.LIVE.value),
    (_first_seen.is_not(None), Stage.PRE_LIVE.value),
    else_=Stage.INITIAL.value,
)
"""The stage that a feature is in."""
_columns = OnList(
    lambda is_among: sa.select(
        Feature.id,
        _first_seen,
        _live_since,
        LAST_SEEN,
        stale.proposal(
            sa.bindparam("before", type_=UtcDateTime), sa.bindparam("now", type_=sa.Float)
        ),
    ).where(is_among(Feature.id))
)


def matching(
    project_id: str | sa.Select[str],
    *,
    stale_after: timedelta,
    stage: Stage | None = None,
    stale_proposal: StaleFilter | None = None,
    usage: UsageFilter | None = None,
    **filters: Any,
) -> sa.Select[Feature]:
    """Select the features that match every filter. ``filters``: see ``queries.rows``."""
    query = queries.rows(project_id, **filters)
    if stage is not None:
        query = query.where(current_stage == stage.value)
    if stale_proposal is not None:
        query = query.where(stale.is_proposed(stale_proposal, stale.before(stale_after)))
    if usage is not None:
        query = query.where(stale.is_used(usage, stale_after))
    return query


def page(
    query: sa.Select[Feature], *, limit: int, offset: int, stale_after: timedelta
) -> Page[FeatureView]:
    """A page of feature views with their lives."""
    found = page_of(query, limit=limit, offset=offset)
    if not found.items:
        return found
    return found.of(with_life(queries.views(found.items), stale_after=stale_after))


def with_life(views: Sequence[FeatureView], *, stale_after: timedelta) -> list[FeatureView]:
    found = lives([view.feature for view in views], stale_after=stale_after)
    return [replace(view, life=found[view.feature.id]) for view in views]


def lives(features: Sequence[Feature], *, stale_after: timedelta) -> dict[int, Life]:
    """The lives of features by their ids, in one statement for any number."""
    rows = _columns.run(
        [feature.id for feature in features],
        before=stale.before(stale_after),
        now=utcnow().timestamp(),
    )
    values = {id: rest for id, *rest in rows}
    return {feature.id: _life(feature, *values[feature.id]) for feature in features}


def new_life(feature: Feature) -> Life:
    """The life of a feature that was just created."""
    return Life([_step(feature, Stage.INITIAL, feature.created_at)])


def complete(
    actor: Actor,
    feature: Feature,
    *,
    status: CompletedStatus,
    status_value: str | None = None,
) -> bool:
    """Mark a feature from ``lock_for_change`` as completed. Return whether anything changed.

    This doesn't change what applications get.
    """
    before, after = feature.completion(), {"status": status, "statusValue": status_value or None}
    if after == before:
        return False
    feature.completed_at = feature.completed_at or utcnow()
    feature.completed_status, feature.completed_value = status, after["statusValue"]
    events.record_of(actor, EventType.FEATURE_COMPLETED, feature, pre_data=before, data=after)
    return True


def uncomplete(actor: Actor, feature: Feature) -> bool:
    """Remove the mark that ``complete`` sets. Return whether there was one."""
    before = feature.completion()
    if before is None:
        return False
    feature.completed_at = feature.completed_status = feature.completed_value = None
    events.record_of(actor, EventType.FEATURE_UNCOMPLETED, feature, pre_data=before)
    return True


def _life(
    feature: Feature,
    first_seen: datetime | None,
    live_since: datetime | None,
    last_seen: datetime | None,
    proposal: str | None,
) -> Life:
    entered = {
        Stage.PRE_LIVE: first_seen,
        Stage.LIVE: live_since,
        Stage.COMPLETED: feature.completed_at,
        Stage.ARCHIVED: feature.archived_at,
    }
    steps: list[LifecycleStep] = []
    for stage, at in reversed(entered.items()):
        # First asked for after it was completed or archived: that is no step back.
        if at is not None and (not steps or at <= steps[-1].entered_at):
            steps.append(_step(feature, stage, max(at, feature.created_at)))
    steps.append(_step(feature, Stage.INITIAL, feature.created_at))
    return Life(steps[::-1], last_seen, StaleReason(proposal) if proposal else None)


def _step(feature: Feature, stage: Stage, at: datetime) -> LifecycleStep:
    if stage is not Stage.COMPLETED:
        return LifecycleStep(stage, at)
    return LifecycleStep(stage, at, feature.completed_status, feature.completed_value)
