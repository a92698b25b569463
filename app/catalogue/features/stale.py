"""The rule for features that look ready to be removed from code, as SQL conditions.

``before``: anything that happened later is too recent to count. ``now``: seconds since 1970. The
lifetimes of types are a rule of their own, with which ``before`` has nothing to do.
"""

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from app.catalogue.features.models import (
    Dependency,
    Feature,
    FeatureType,
    FeatureTypeLifetime,
    StaleReason,
)
from app.catalogue.projects.models import ProjectEnvironment
from app.catalogue.strategies import types
from app.catalogue.strategies.models import FeatureState, Strategy, StrategySegment
from app.catalogue.usage.models import FeatureSeen
from app.core.clock import utcnow

USUAL = timedelta(days=30)
TEMPORARY = (FeatureType.RELEASE, FeatureType.EXPERIMENT)
"""Types that are meant to be removed. Others may stay on for everyone for good reasons."""

SECONDS_A_DAY = sa.literal(86_400.0, sa.Float)

Moment = datetime | sa.BindParameter[datetime]
Condition = sa.ColumnElement[bool]


class StaleFilter(StrEnum):
    """Features that are proposed as stale, for any reason or one."""

    ANY = "any"
    UNUSED = StaleReason.UNUSED.value
    EVERYWHERE = StaleReason.EVERYWHERE.value
    LIFETIME = StaleReason.LIFETIME.value


class UsageFilter(StrEnum):
    """Features that were asked for lately, only longer ago, or never."""

    USED = "used"
    UNUSED = "unused"
    NEVER = "never"


def before(after: timedelta) -> datetime:
    """The time that counts as long ago. With zero it is never reached: nothing is long ago."""
    return utcnow() - after if after else datetime.min.replace(tzinfo=UTC)


def proposal(before: Moment, now: sa.BindParameter[float]) -> sa.ColumnElement[str | None]:
    """The reason for which a feature is proposed; NULL if it is not."""
    return sa.case(
        (_is_old(before) & _is_unused(before), StaleReason.UNUSED.value),
        (_is_old(before) & _is_everywhere(before), StaleReason.EVERYWHERE.value),
        (_outlived(now), StaleReason.LIFETIME.value),
    )


def is_proposed(asked: StaleFilter, before: Moment) -> Condition:
    unused = _is_old(before) & _is_unused(before)
    everywhere = _is_old(before) & _is_everywhere(before)
    outlived = _outlived(sa.literal(utcnow().timestamp(), sa.Float))
    reasons = {
        StaleFilter.ANY: unused | everywhere | outlived,
        StaleFilter.UNUSED: unused,
        StaleFilter.EVERYWHERE: everywhere & ~unused,
        StaleFilter.LIFETIME: outlived & ~unused & ~everywhere,
    }
    return reasons[asked]


def is_used(asked: UsageFilter, after: timedelta) -> Condition:
    if asked is UsageFilter.NEVER:
        return ~_seen()
    lately = _seen(FeatureSeen.last_seen_at > utcnow() - (after or USUAL))
    return lately if asked is UsageFilter.USED else _seen() & ~lately


def _is_old(before: Moment) -> Condition:
    return _is_open() & (Feature.created_at <= before)


def _is_open() -> Condition:
    return sa.and_(Feature.archived_at.is_(None), ~Feature.stale)


def _outlived(now: sa.BindParameter[float]) -> Condition:
    """It is older than features of its type are expected to become."""
    age = now - sa.extract("epoch", Feature.created_at)
    return _is_open() & _exists(
        FeatureTypeLifetime,
        FeatureTypeLifetime.type == Feature.type,
        FeatureTypeLifetime.lifetime_days * SECONDS_A_DAY <= age,
    )


def _is_unused(before: Moment) -> Condition:
    """No one asked for it after ``before``, but applications did for others, then and before."""
    lately = FeatureSeen.last_seen_at > before
    is_asking = _exists(FeatureSeen, FeatureSeen.first_seen_at <= before)
    return is_asking & _exists(FeatureSeen, lately) & ~_seen(lately)


def _is_everywhere(before: Moment) -> Condition:
    """It is on for everyone in every environment of its project, unchanged for long."""
    uses = ProjectEnvironment.project_id == Feature.project_id
    settled = _exists(
        FeatureState,
        FeatureState.feature_id == Feature.id,
        FeatureState.environment == ProjectEnvironment.environment,
        FeatureState.enabled,
        FeatureState.changed_at <= before,
        _is_empty(FeatureState.variants),
        _strategy(_reaches_everyone()),
        ~_strategy(~_is_empty(Strategy.variants)),
    )
    return sa.and_(
        sa.or_(*(Feature.type == type for type in TEMPORARY)),  # prepared statements have no in_
        ~_exists(Dependency, Dependency.child_id == Feature.id),
        _exists(ProjectEnvironment, uses),
        ~_exists(ProjectEnvironment, uses, ~settled),
    )


def _strategy(condition: Condition) -> Condition:
    """Whether the feature has an active strategy in the environment that meets the condition."""
    return _exists(
        Strategy,
        Strategy.feature_id == FeatureState.feature_id,
        Strategy.environment == FeatureState.environment,
        ~Strategy.disabled,
        condition,
    )


def _reaches_everyone() -> Condition:
    everyone = sa.and_(
        Strategy.name == types.ROLLOUT,
        Strategy.parameters["rollout"].as_string() == str(types.ALL),
    )
    return sa.and_(
        everyone | (Strategy.name == types.EVERYONE),
        _is_empty(Strategy.constraints),
        ~_exists(StrategySegment, StrategySegment.strategy_id == Strategy.id),
    )


def _seen(*conditions: Condition) -> Condition:
    return _exists(FeatureSeen, FeatureSeen.feature_id == Feature.id, *conditions)


def _exists(model: type[Any], *conditions: sa.ColumnExpressionArgument[bool]) -> Condition:
    # Only ``model`` is read here. All other tables are those of the enclosing query.
    return sa.exists().where(*conditions).select_from(model).correlate_except(model)


def _is_empty(column: sa.SQLColumnExpression[Any]) -> Condition:
    return sa.func.json_array_length(column) == 0
