"""Reading applications with the features they ask for, in projects that an actor can see."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import sqlalchemy as sa

from app.catalogue.features.models import Feature
from app.catalogue.projects.queries import visible_projects
from app.catalogue.sdk_tokens.models import SdkToken
from app.catalogue.strategies.models import Strategy
from app.catalogue.usage.models import (
    Application,
    FeatureSeen,
    Instance,
    Span,
    TokenUse,
    UnknownFeature,
    Usage,
)
from app.catalogue.usage.queries import ASKED_FOR, RECENT
from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.db import contains, db, one_or_none
from app.core.paging import sorted_by


class ProjectUse(NamedTuple):
    """An environment in which an application asks for features of a project."""

    application_id: int
    project_id: str
    environment: str


class AskedFor(NamedTuple):
    """A feature that an application asked for in an environment, and what it got in an hour."""

    feature_id: int
    feature: str
    project_id: str
    is_archived: bool
    environment: str
    start: datetime
    yes: int
    no: int


class Unknown(NamedTuple):
    """A name that an application asks for in an environment, and that no feature has."""

    name: str
    environment: str
    application: str
    last_seen_at: datetime


class Unreadable(NamedTuple):
    """A feature that an application asks for in an environment, and that its token doesn't read."""

    feature: str
    project_id: str
    environment: str
    last_seen_at: datetime


class UsedToken(NamedTuple):
    """An SDK token that an application uses."""

    token: SdkToken
    last_seen_at: datetime


class ArchivedUse(NamedTuple):
    """An archived feature that is still asked for."""

    name: str
    project_id: str
    last_seen_at: datetime


JUST_CREATED = timedelta(minutes=2)
"""A report this soon after a feature was created can be about the time before."""

_last_seen = (
    sa.select(sa.func.max(Instance.last_seen_at))
    .where(Instance.application_id == Application.id)
    .correlate(Application)
    .scalar_subquery()
)


def rows(
    *,
    text: str | None = None,
    environment: str | None = None,
    sdks: Collection[str] | None = None,
    sort: str | None = None,
) -> sa.Select[Application]:
    """Select applications, by name unless ``sort`` says otherwise. ``sdks``: with any of these."""
    query = sa.select(Application)
    if text is not None:
        query = query.where(contains(text, Application.name))
    running = sa.select(Instance.application_id)
    if environment is not None:
        query = query.where(Application.id.in_(running.where(Instance.environment == environment)))
    if sdks is not None:
        query = query.where(Application.id.in_(running.where(Instance.sdk.in_(sdks))))
    columns = {
        "appName": sa.func.lower(Application.name),
        "createdAt": Application.created_at,
        "lastSeen": _last_seen,
    }
    order = (*sorted_by(sort, columns), sa.func.lower(Application.name), Application.id)
    return query.order_by(*order)


def named(name: str, *, for_change: bool = False) -> Application | None:
    """Return the application with this name.

    ``for_change``: lock it until the transaction ends, so that no counts are added.
    """
    query = sa.select(Application).where(Application.name == name)
    return one_or_none(query, "application", name, for_change=for_change)


def sdks() -> Sequence[tuple[str, str]]:
    """Return pairs of an SDK that was reported lately and an application that uses it."""
    query = (
        sa.select(Instance.sdk, Application.name)
        .join(Application, Application.id == Instance.application_id)
        .where(Instance.sdk.is_not(None))
        .distinct()
        .order_by(Instance.sdk, Application.name)
    )
    return [(sdk or "", name) for sdk, name in db.session.execute(query)]


def projects_of(actor: Actor, application_ids: Collection[int]) -> list[ProjectUse]:
    """Return where applications asked for features lately, in projects that the actor can see."""
    query = (
        sa.select(Usage.application_id, Feature.project_id, Usage.environment)
        .join(Feature, Feature.id == Usage.feature_id)
        .where(
            Usage.application_id.in_(application_ids),
            Usage.span == Span.DAY,
            Usage.start >= utcnow() - ASKED_FOR,
            Feature.project_id.in_(visible_projects(actor)),
        )
        .distinct()
        .order_by(Usage.application_id, Feature.project_id, Usage.environment)
    )
    return [ProjectUse(*row) for row in db.session.execute(query)]


def asks(project_id: str) -> sa.ColumnElement[bool]:
    """Whether an application asked for features of the project lately."""
    return Application.id.in_(
        sa.select(Usage.application_id)
        .join(Feature, Feature.id == Usage.feature_id)
        .where(
            Feature.project_id == project_id,
            Usage.span == Span.DAY,
            Usage.start >= utcnow() - ASKED_FOR,
        )
    )


def asked_for(actor: Actor, application_id: int, since: datetime) -> list[AskedFor]:
    """The features that an application asked for, by hour, in projects that the actor can see."""
    query = (
        sa.select(
            Feature.id,
            Feature.name,
            Feature.project_id,
            Feature.archived_at.is_not(None),
            Usage.environment,
            Usage.start,
            Usage.yes,
            Usage.no,
        )
        .join(Usage, Usage.feature_id == Feature.id)
        .where(
            Usage.application_id == application_id,
            Usage.span == Span.HOUR,
            Usage.start >= since,
            Feature.project_id.in_(visible_projects(actor)),
        )
        .order_by(Feature.name, Usage.environment, Usage.start)
    )
    return [AskedFor(*row) for row in db.session.execute(query)]


def unknown(application_id: int | None = None) -> list[Unknown]:
    """Return names that no feature has, latest first. ``application_id``: asked for by this one."""
    query = (
        sa.select(
            UnknownFeature.name,
            UnknownFeature.environment,
            Application.name,
            UnknownFeature.last_seen_at,
        )
        .join(Application, Application.id == UnknownFeature.application_id)
        .where(UnknownFeature.name.not_in(sa.select(Feature.name)))
        .order_by(UnknownFeature.last_seen_at.desc(), UnknownFeature.name, Application.name)
    )
    if application_id is not None:
        query = query.where(UnknownFeature.application_id == application_id)
    return [Unknown(*row) for row in db.session.execute(query)]


def unreadable(actor: Actor, application_id: int) -> list[Unreadable]:
    """Return features that an application asks for with tokens that can't read their project.

    Only features in projects that the actor can see, latest first.
    """
    query = (
        sa.select(
            Feature.name,
            Feature.project_id,
            UnknownFeature.environment,
            UnknownFeature.last_seen_at,
            Feature.created_at,
        )
        .join(UnknownFeature, UnknownFeature.name == Feature.name)
        .where(
            UnknownFeature.application_id == application_id,
            UnknownFeature.last_seen_at > Feature.created_at,
            Feature.project_id.in_(visible_projects(actor)),
        )
        .order_by(UnknownFeature.last_seen_at.desc(), Feature.name, UnknownFeature.environment)
    )
    return [
        Unreadable(name, project_id, environment, last_seen_at)
        for name, project_id, environment, last_seen_at, created_at in db.session.execute(query)
        if last_seen_at > created_at + JUST_CREATED
    ]


def tokens(application_id: int) -> list[UsedToken]:
    """The tokens that an application used in the last 7 days and that aren't revoked."""
    query = (
        sa.select(SdkToken, TokenUse.last_seen_at)
        .join(TokenUse, TokenUse.token_id == SdkToken.id)
        .where(TokenUse.application_id == application_id, SdkToken.revoked_at.is_(None))
        .order_by(TokenUse.last_seen_at.desc(), SdkToken.name)
    )
    return [UsedToken(*row) for row in db.session.execute(query)]


def archived(actor: Actor, limit: int) -> list[ArchivedUse]:
    """Archived features that were asked for lately, and since they were archived."""
    last = sa.func.max(FeatureSeen.last_seen_at).label("last")
    query = (
        sa.select(Feature.name, Feature.project_id, last)
        .join(FeatureSeen, FeatureSeen.feature_id == Feature.id)
        .where(
            FeatureSeen.last_seen_at >= utcnow() - RECENT,
            FeatureSeen.last_seen_at > Feature.archived_at,
            Feature.project_id.in_(visible_projects(actor)),
        )
        .group_by(Feature.id, Feature.name, Feature.project_id)
        .order_by(last.desc(), Feature.name)
        .limit(limit)
    )
    return [ArchivedUse(*row) for row in db.session.execute(query)]


def strategy_types(feature_ids: Collection[int]) -> list[str]:
    """The types of strategy that decide about features, by name."""
    query = (
        sa.select(Strategy.name)
        .where(Strategy.feature_id.in_(feature_ids), ~Strategy.disabled)
        .distinct()
    )
    return sorted(db.session.scalars(query))


def feature_named(actor: Actor, name: str) -> Feature | None:
    """A feature in any project that the actor can see, archived or not."""
    query = sa.select(Feature).where(
        Feature.name == name, Feature.project_id.in_(visible_projects(actor))
    )
    return db.session.scalar(query)


def names_like(actor: Actor, names: Collection[str], limit: int) -> dict[str, str]:
    """Return projects by feature, for active features that start like one of the names."""
    starts = (Feature.name.startswith(name[:2], autoescape=True) for name in names)
    query = (
        sa.select(Feature.name, Feature.project_id)
        .where(
            sa.or_(*starts),
            Feature.archived_at.is_(None),
            Feature.project_id.in_(visible_projects(actor)),
        )
        .order_by(Feature.name)
        .limit(limit)
    )
    return {row.name: row.project_id for row in db.session.execute(query)}
