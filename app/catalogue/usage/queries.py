"""Reading what applications reported. Features are given by their ids."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import sqlalchemy as sa

from app.catalogue.environments.models import Environment
from app.catalogue.usage.models import Application, FeatureSeen, Instance, Span, Usage, VariantUsage
from app.core.clock import utcnow
from app.core.db import db
from app.core.statements import OnList

RECENT = timedelta(hours=24)
"""Instances seen within this time count as running."""
ASKED_FOR = timedelta(days=7)
"""An application that asked for a feature within this time may still need it."""


class PlaceUse(NamedTuple):
    """How a feature is used in an environment: when last, and how often in the last hour."""

    last_seen_at: datetime | None = None
    yes: int = 0
    no: int = 0


NEVER = PlaceUse()


class Demand(NamedTuple):
    """When a feature was last asked for anywhere, and by how many applications in ASKED_FOR."""

    last_seen_at: datetime
    applications: int


class Count(NamedTuple):
    """How often an application asked for a feature in an hour or on a day."""

    environment: str
    application: str
    start: datetime
    yes: int
    no: int


class Total(NamedTuple):
    """How often a feature was asked for in an environment, in an hour or on a day."""

    environment: str
    start: datetime
    yes: int
    no: int


class VariantCount(NamedTuple):
    """How often an application got a variant of a feature in an hour or on a day."""

    environment: str
    application: str
    start: datetime
    variant: str
    times: int


_seen = OnList(
    lambda is_among: sa.select(
        FeatureSeen.feature_id, FeatureSeen.environment, FeatureSeen.last_seen_at
    ).where(is_among(FeatureSeen.feature_id))
)
_sums = OnList(
    lambda is_among: (
        sa.select(
            Usage.feature_id, Usage.environment, sa.func.sum(Usage.yes), sa.func.sum(Usage.no)
        )
        .where(
            is_among(Usage.feature_id),
            Usage.environment.in_(sa.select(Environment.name)),  # so that the key's index helps
            Usage.span == Span.HOUR,
            Usage.start >= sa.bindparam("since"),
        )
        .group_by(Usage.feature_id, Usage.environment)
    )
)
_applications = OnList(
    lambda is_among: (
        sa.select(Usage.feature_id, sa.func.count(Usage.application_id.distinct()))
        .where(
            is_among(Usage.feature_id),
            Usage.environment.in_(sa.select(Environment.name)),
            Usage.span == Span.DAY,
            Usage.start >= sa.bindparam("since"),
        )
        .group_by(Usage.feature_id)
    )
)


def last_hour() -> datetime:
    """Start of the last hour. Counts are by full hours, so it is this one and the one before."""
    return utcnow().replace(minute=0, second=0, microsecond=0) - timedelta(hours=1)


def by_place(ids: Collection[int]) -> dict[tuple[int, str], PlaceUse]:
    """The use of features by their ids and environments, in at most two statements."""
    since = last_hour()
    seen = {(id, environment): at for id, environment, at in _seen.run(ids)}
    recent = {id for (id, _), at in seen.items() if at >= since}
    found = _sums.run(recent, since=since) if recent else ()
    sums = {(id, environment): (int(yes), int(no)) for id, environment, yes, no in found}
    return {place: PlaceUse(at, *sums.get(place, (0, 0))) for place, at in seen.items()}


def demand(ids: Collection[int]) -> dict[int, Demand]:
    """Demand by feature id, if ever asked for, in at most two statements."""
    latest: dict[int, datetime] = {}
    for id, _, at in _seen.run(ids):
        latest[id] = max(at, latest.get(id, at))
    since = utcnow() - ASKED_FOR
    recent = [id for id, at in latest.items() if at >= since]
    midnight = since.replace(hour=0, minute=0, second=0, microsecond=0)  # where its row begins
    counts = dict(_applications.run(recent, since=midnight) if recent else ())
    return {id: Demand(at, counts.get(id, 0)) for id, at in latest.items()}


def counts(feature_id: int, span: Span, since: datetime) -> list[Count]:
    """How often each application asked for a feature, by environment and time."""
    query = (
        sa.select(Usage.environment, Application.name, Usage.start, Usage.yes, Usage.no)
        .join(Application, Application.id == Usage.application_id)
        .where(
            Usage.feature_id == feature_id,
            Usage.environment.in_(sa.select(Environment.name)),
            Usage.span == span,
            Usage.start >= since,
        )
        .order_by(Usage.environment, Application.name, Usage.start)
    )
    return [Count(*row) for row in db.session.execute(query)]


def totals(feature_id: int, span: Span, since: datetime) -> list[Total]:
    """How often all applications together asked for a feature, by environment and time."""
    yes, no = (sa.cast(sa.func.sum(column), sa.BigInteger) for column in (Usage.yes, Usage.no))
    query = (
        sa.select(Usage.environment, Usage.start, yes, no)
        .where(
            Usage.feature_id == feature_id,
            Usage.environment.in_(sa.select(Environment.name)),
            Usage.span == span,
            Usage.start >= since,
        )
        .group_by(Usage.environment, Usage.start)
    )
    return [Total(*row) for row in db.session.execute(query)]


def variants(feature_id: int, span: Span, since: datetime) -> list[VariantCount]:
    """How often each application got each variant of a feature."""
    query = (
        sa.select(
            VariantUsage.environment,
            Application.name,
            VariantUsage.start,
            VariantUsage.variant,
            VariantUsage.times,
        )
        .join(Application, Application.id == VariantUsage.application_id)
        .where(
            VariantUsage.feature_id == feature_id,
            VariantUsage.environment.in_(sa.select(Environment.name)),
            VariantUsage.span == span,
            VariantUsage.start >= since,
        )
        .order_by(VariantUsage.environment, VariantUsage.start, VariantUsage.variant)
    )
    return [VariantCount(*row) for row in db.session.execute(query)]


def last_seen(feature_id: int) -> dict[str, datetime]:
    """When a feature was last asked for, by environment."""
    return {environment: at for _, environment, at in _seen.run([feature_id])}


def instances(
    application_ids: Collection[int], environment: str | None = None
) -> Sequence[Instance]:
    """The instances of applications, latest first."""
    query = sa.select(Instance).where(Instance.application_id.in_(application_ids))
    if environment is not None:
        query = query.where(Instance.environment == environment)
    return db.session.scalars(query.order_by(Instance.last_seen_at.desc(), Instance.id)).all()
