"""How much an instance holds, as Unleash's clients read it."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from app.access.groups.models import Group
from app.accounts.models import Account, AccountKind
from app.catalogue.context.models import ContextField
from app.catalogue.environments.models import Environment, EnvironmentType
from app.catalogue.features.models import Feature
from app.catalogue.projects.models import Project
from app.catalogue.sdk_tokens.models import SdkToken, SdkTokenType
from app.catalogue.segments.models import Segment
from app.catalogue.strategies.models import Strategy, StrategyType
from app.catalogue.usage.models import Instance
from app.core.clock import utcnow
from app.core.db import db
from app.core.events.event_types import Subject, types_about
from app.core.events.models import Event
from app.core.permissions import Role

DAYS = (7, 30, 60, 90)
"""Unleash counts changes from the second on."""


def read() -> dict[str, Any]:
    now = utcnow()
    person = Account.kind == AccountKind.PERSON, Account.deleted_at.is_(None)
    since = {days: now - timedelta(days=days) for days in DAYS}
    return {
        "timestamp": now,
        "users": _count(Account.id, *person),
        "feature_toggles": _count(Feature.id, Feature.archived_at.is_(None)),
        "projects": _count(Project.id, Project.archived_at.is_(None)),
        "context_fields": _count(ContextField.name),
        "roles": len(Role),
        "groups": _count(Group.id),
        "environments": _count(Environment.name),
        "segments": _count(Segment.id),
        "strategies": _count(StrategyType.name),
        "active_users": {
            f"last{days}": _count(Account.id, *person, Account.last_sign_in_at >= at)
            for days, at in since.items()
        },
        "production_changes": {f"last{days}": _changes(since[days]) for days in DAYS[1:]},
        "client_apps": [
            {"range": name, "count": _count(Instance.application_id.distinct(), *conditions)}
            for name, conditions in _ranges(since).items()
        ],
        "api_tokens": {
            type.value: _count(SdkToken.id, SdkToken.type == type, SdkToken.revoked_at.is_(None))
            for type in SdkTokenType
        },
        "max_environment_strategies": _most_strategies(),
    }


def _ranges(since: dict[int, datetime]) -> dict[str, list[sa.ColumnElement[bool]]]:
    seen = Instance.last_seen_at
    return {"allTime": [], "30d": [seen >= since[30]], "7d": [seen >= since[7]]}


def _changes(since: datetime) -> int:
    """Events about states and strategies in environments of type production."""
    names = sa.select(Environment.name).where(Environment.type == EnvironmentType.PRODUCTION)
    environment = sa.func.coalesce(Event.data, Event.pre_data)["environment"].as_string()
    types = types_about(Subject.SWITCHING)
    return _count(
        Event.id, Event.created_at >= since, Event.type.in_(types), environment.in_(names)
    )


def _most_strategies() -> int:
    """Of a feature in an environment."""
    number = sa.func.count().label("number")
    each = (
        sa.select(number)
        .select_from(Strategy)
        .group_by(Strategy.feature_id, Strategy.environment)
        .subquery()
    )
    return db.session.scalar(sa.select(sa.func.max(each.c.number))) or 0


def _count(column: Any, *conditions: sa.ColumnElement[bool]) -> int:
    return db.session.scalar(sa.select(sa.func.count(column)).where(*conditions)) or 0


def flat(numbers: dict[str, Any]) -> dict[str, Any]:
    """The same in one level: ``activeUsers_last7`` for the inner ones."""
    found: dict[str, Any] = {}
    for name, value in numbers.items():
        inner: Iterable[tuple[str, Any]] = ()
        if isinstance(value, dict):
            inner = value.items()
        elif isinstance(value, list):
            inner = ((each["range"], each["count"]) for each in value)
        else:
            found[name] = value
        found |= {f"{name}_{key}": number for key, number in inner}
    return found
