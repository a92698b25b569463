"""Numbers about projects and their features, as Unleash's clients read them."""

from collections import Counter, defaultdict
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.catalogue.environments.models import Environment, EnvironmentType
from app.catalogue.features import health, lifecycle, queries
from app.catalogue.features.credits import is_favourite
from app.catalogue.features.models import Feature, Stage
from app.catalogue.features.queries import FeatureView
from app.catalogue.projects import service as projects
from app.catalogue.projects.models import Member
from app.catalogue.projects.queries import visible_projects
from app.catalogue.sdk_tokens.models import SdkTokenProject
from app.catalogue.segments.models import Segment
from app.catalogue.usage.models import FeatureSeen
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db
from app.core.events.event_types import EventType
from app.core.events.models import Event

WINDOW = timedelta(days=30)
"""The current window ends now; the past one ends where that begins."""
FULL = 100


class Produced(NamedTuple):
    """A feature that was on in production: the days it took, and when that was."""

    name: str
    days: int
    at: datetime


def overview(actor: Actor, project_id: str, *, stale_after: timedelta) -> dict[str, Any]:
    """A project and its numbers. ``health`` and ``technical_debt`` are percentages."""
    project = projects.get(actor, project_id)
    counts = health.for_project(actor, project_id, stale_after=stale_after)
    types = sa.select(Feature.type).where(_is_active(project_id))
    changed = sa.select(sa.func.max(Event.created_at)).where(Event.project == project_id)
    produced = _produced(project_id)
    return {
        "project": project,
        "counts": counts,
        "health": counts.percent,
        "technical_debt": FULL - counts.percent,
        "stats": _stats(project_id, produced),
        "lead_time": _lead_time(produced),
        "types": sorted(Counter(db.session.scalars(types)).items()),
        "members": _count(Member, Member.project_id == project_id),
        "updated_at": db.session.scalar(changed),
        "is_favourite": is_favourite(actor, project_id),
        "onboarding": _onboarding(project_id),
    }


def features_of(actor: Actor, project_id: str, *, stale_after: timedelta) -> list[FeatureView]:
    """All active features of the project."""
    projects.require(actor, project_id)
    found = list(db.session.scalars(queries.rows(project_id)))
    return lifecycle.with_life(queries.views(found), stale_after=stale_after)


def lead_times(actor: Actor, project_id: str) -> dict[str, Any]:
    """Days from the creation of each feature until it was first on in production."""
    projects.require(actor, project_id)
    return _lead_time(_produced(project_id))


def status(actor: Actor, project_id: str, *, stale_after: timedelta) -> dict[str, Any]:
    """What happens in a project, and how far its features are."""
    counts = health.for_project(actor, project_id, stale_after=stale_after)
    day = sa.func.substr(sa.cast(Event.created_at, sa.Text), 1, len("2026-11-28"))
    lately = Event.created_at >= utcnow() - timedelta(days=365)
    activity = sa.select(day, sa.func.count()).where(Event.project == project_id, lately)
    return {
        "activity": db.session.execute(activity.group_by(day).order_by(day)).all(),
        "health": counts.percent,
        "technical_debt": FULL - counts.percent,
        "tokens": _count(SdkTokenProject, SdkTokenProject.project_id == project_id),
        "members": _count(Member, Member.project_id == project_id),
        "segments": _count(Segment, Segment.project_id == project_id),
        "stale": counts.stale + counts.proposed,
        "stages": counts.stages | {Stage.ARCHIVED: _archived(project_id)},
        "archived_lately": _archived(project_id, utcnow() - WINDOW),
        "days": _days_in_stages(features_of(actor, project_id, stale_after=stale_after)),
    }


def stages(actor: Actor) -> dict[str, int]:
    """How many features of visible projects are in each stage."""
    query = sa.select(lifecycle.current_stage.label("stage"), sa.func.count())
    query = query.where(Feature.project_id.in_(visible_projects(actor))).group_by("stage")
    found: dict[str, int] = dict(db.session.execute(query).all())
    return {stage.name.lower(): found.get(stage.value, 0) for stage in Stage}


def _lead_time(produced: list[Produced]) -> dict[str, Any]:
    features = [{"name": feature.name, "days": feature.days} for feature in produced]
    return {"average": _mean([feature.days for feature in produced]), "features": features}


def _stats(project_id: str, produced: list[Produced]) -> dict[str, float]:
    now = utcnow()
    start, before = now - WINDOW, now - 2 * WINDOW
    of_project = Event.project == project_id

    def created(since: datetime, until: datetime) -> int:
        at = Feature.created_at
        return _count(Feature, Feature.project_id == project_id, at >= since, at < until)

    def events(since: datetime, until: datetime, *conditions: sa.ColumnElement[bool]) -> int:
        at = Event.created_at
        return _count(Event, of_project, at >= since, at < until, *conditions)

    archived = _archived(project_id, start)
    joined = Event.type == EventType.PROJECT_ACCESS_UPDATED
    return {
        "avg_time_to_prod_current_window": _mean(
            [feature.days for feature in produced if feature.at >= start]
        ),
        "created_current_window": created(start, now),
        "created_past_window": created(before, start),
        "archived_current_window": archived,
        "archived_past_window": _archived(project_id, before) - archived,
        "project_activity_current_window": events(start, now),
        "project_activity_past_window": events(before, start),
        "project_members_added_current_window": events(start, now, joined),
    }


def _produced(project_id: str) -> list[Produced]:
    production = sa.select(Environment.name).where(Environment.type == EnvironmentType.PRODUCTION)
    at = sa.func.min(FeatureSeen.first_on_at)
    query = (
        sa.select(Feature.name, Feature.created_at, at)
        .join(FeatureSeen, FeatureSeen.feature_id == Feature.id)
        .where(Feature.project_id == project_id, FeatureSeen.environment.in_(production))
        .group_by(Feature.id, Feature.name, Feature.created_at)
        .having(at.is_not(None))
        .order_by(Feature.name)
    )
    found: list[Any] = [*db.session.execute(query)]
    return [Produced(name, max((on - created).days, 0), on) for name, created, on in found]


def _onboarding(project_id: str) -> dict[str, str]:
    """How far a project is on its way to the first use of a feature."""
    first = sa.select(Feature.name, Feature.id).where(Feature.project_id == project_id)
    feature = db.session.execute(first.order_by(Feature.id).limit(1)).first()
    if feature is None:
        return {"status": "onboarding-started"}
    seen = sa.select(FeatureSeen.feature_id).join(Feature, Feature.id == FeatureSeen.feature_id)
    is_used = db.session.scalar(seen.where(Feature.project_id == project_id).limit(1)) is not None
    used = {"status": "onboarded"}
    return used if is_used else {"status": "first-flag-created", "feature": feature.name}


def _days_in_stages(views: list[FeatureView]) -> dict[Stage, float]:
    """The mean of days that features spent in stages, by stage; of those that left it."""
    days: defaultdict[Stage, list[int]] = defaultdict(list)
    for view in views:
        steps = view.life.steps if view.life else []
        for step, following in pairwise(steps):
            days[step.stage].append((following.entered_at - step.entered_at).days)
    return {stage: _mean(numbers) for stage, numbers in days.items()}


def _archived(project_id: str, since: datetime | None = None) -> int:
    lately = Feature.archived_at >= since if since else Feature.archived_at.is_not(None)
    return _count(Feature, Feature.project_id == project_id, lately)


def _is_active(project_id: str) -> sa.ColumnElement[bool]:
    return sa.and_(Feature.project_id == project_id, Feature.archived_at.is_(None))


def _count(model: type[Any], *conditions: sa.ColumnElement[bool]) -> int:
    query = sa.select(sa.func.count()).select_from(model).where(*conditions)
    return db.session.scalar(query) or 0


def _mean(numbers: list[int]) -> float:
    return round(sum(numbers) / len(numbers), 1) if numbers else 0
