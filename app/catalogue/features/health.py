"""Health of a project: stages and ages of its features, and those that could be removed."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

import sqlalchemy as sa

from app.accounts.models import Account
from app.catalogue.features import lifecycle, queries, stale
from app.catalogue.features.models import Feature, Stage
from app.catalogue.features.queries import Life
from app.catalogue.features.stale import StaleFilter
from app.catalogue.projects import service as projects
from app.catalogue.projects.queries import on_in_production
from app.catalogue.strategies.models import FeatureState
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import db
from app.core.events.models import Event

STAGES = (Stage.INITIAL, Stage.PRE_LIVE, Stage.LIVE, Stage.COMPLETED)
"""Stages of active features."""
AGES = (timedelta(days=30), timedelta(days=90), timedelta(days=365))
"""Upper limits of the age groups. The last group has none."""
LISTED = 50
LATELY = timedelta(days=90)
MOST_ACTIVE = 5


class ByAge(NamedTuple):
    """Number of features in each age group."""

    up_to_30_days: int = 0
    up_to_90_days: int = 0
    up_to_365_days: int = 0
    older: int = 0


class Changes(NamedTuple):
    """``number``: events of the project that ``who`` caused."""

    who: str
    number: int


class StaleFeature(NamedTuple):
    """A feature marked as stale, or with a reason in ``life.proposal`` proposed as stale."""

    feature: Feature
    life: Life


@dataclass(frozen=True, slots=True)
class Health:
    """Numbers of active features.

    ``stale``: marked by people; ``proposed``: not marked, but unused, on for everyone or too old.
    ``leftover_ages``: both of these, by the time since their creation.
    ``on_ages``: on in production, by the time since their state there last changed.
    """

    stages: dict[Stage, int]
    stale: int
    proposed: int
    leftover_ages: ByAge
    on_ages: ByAge

    @property
    def total(self) -> int:
        return sum(self.stages.values())

    @property
    def on(self) -> int:
        return sum(self.on_ages)

    @property
    def percent(self) -> int:
        """Share neither stale nor proposed, rounded down: 100 only if it is all of them."""
        kept = self.total - self.stale - self.proposed
        return kept * 100 // self.total if self.total else 100


def for_project(actor: Actor, project_id: str, *, stale_after: timedelta) -> Health:
    projects.require(actor, project_id)
    is_proposed = stale.is_proposed(StaleFilter.ANY, stale.before(stale_after))
    age = _age(Feature.created_at)
    groups = (
        sa.select(lifecycle.current_stage, Feature.stale, is_proposed, age)
        .where(Feature.project_id == project_id, Feature.archived_at.is_(None))
        .subquery()
    )
    query = sa.select(*groups.c).add_columns(sa.func.count()).group_by(*groups.c)
    stages = dict.fromkeys(STAGES, 0)
    marked, proposed, ages = 0, 0, [0] * len(ByAge._fields)
    for stage, is_marked, looks_stale, group, number in db.session.execute(query):
        stages[Stage(stage)] += number
        marked += number if is_marked else 0
        proposed += number if looks_stale else 0
        ages[group] += number if is_marked or looks_stale else 0
    return Health(stages, marked, proposed, ByAge(*ages), _on_ages(project_id))


def leftovers(actor: Actor, project_id: str, *, stale_after: timedelta) -> list[StaleFeature]:
    """The oldest features that are stale or proposed, at most LISTED of them."""
    projects.require(actor, project_id)
    is_proposed = stale.is_proposed(StaleFilter.ANY, stale.before(stale_after))
    query = queries.rows(project_id).where(Feature.stale | is_proposed).order_by(None)
    query = query.order_by(Feature.created_at, Feature.id).limit(LISTED)
    found = list(db.session.scalars(query))
    lives = lifecycle.lives(found, stale_after=stale_after)
    return [StaleFeature(feature, lives[feature.id]) for feature in found]


def most_active(actor: Actor, project_id: str) -> list[Changes]:
    """Accounts with the most events LATELY; none if the actor can't read the project's events."""
    projects.require(actor, project_id)
    if not actor.may_read_events(project_id):
        return []
    number = sa.func.count()
    query = (
        sa.select(sa.func.coalesce(Account.name, Event.created_by), number)
        .select_from(Event)
        .outerjoin(Account, Account.id == Event.created_by_user_id)
        .where(Event.project == project_id, Event.created_at > utcnow() - LATELY)
        .group_by(Event.created_by_user_id, Account.name, Event.created_by)
        .order_by(number.desc(), Event.created_by)
        .limit(MOST_ACTIVE)
    )
    return [Changes(*row) for row in db.session.execute(query)]


def _on_ages(project_id: str) -> ByAge:
    latest = on_in_production(sa.func.max(FeatureState.changed_at).label("at"))
    states = latest.where(Feature.project_id == project_id).group_by(Feature.id).subquery()
    place = _age(states.c.at).label("place")
    counts = dict(db.session.execute(sa.select(place, sa.func.count()).group_by("place")).all())
    return ByAge(*(counts.get(number, 0) for number in range(len(ByAge._fields))))


def _age(at: sa.SQLColumnExpression[datetime]) -> sa.ColumnElement[int]:
    """Index of the age group that a time falls in."""
    now = utcnow()
    return sa.case(
        *((at > now - age, sa.literal(place)) for place, age in enumerate(AGES)),
        else_=sa.literal(len(AGES)),
    )
