"""How often applications asked for a feature: over time, by application, and by variant."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import groupby
from typing import NamedTuple

from app.catalogue.usage import queries as usage
from app.catalogue.usage.models import Span
from app.catalogue.usage.moments import HOURS_KEPT, Moment, starts, summed
from app.catalogue.usage.queries import RECENT, Count
from app.catalogue.usage.service import RETENTION
from app.core.actor import Actor
from app.core.clock import utcnow
from app.delivery.applications import queries
from app.delivery.applications.queries import AskedFor

MOST_HOURS = int(RETENTION[Span.DAY] / timedelta(hours=1))


class Period(StrEnum):
    """How far back the counts of a page go."""

    DAY = "24h"
    TWO_DAYS = "48h"
    QUARTER = "90d"

    @property
    def hours(self) -> int:
        return {Period.DAY: 24, Period.TWO_DAYS: HOURS_KEPT, Period.QUARTER: MOST_HOURS}[self]


class HourUse(NamedTuple):
    """What applications got in an environment in the last hour."""

    environment: str
    timestamp: datetime
    yes: int
    no: int


class Row(NamedTuple):
    """What one application got in an hour or on a day, with its variants."""

    feature_name: str
    app_name: str
    environment: str
    timestamp: datetime
    yes: int
    no: int
    variants: dict[str, int]


class Sum(NamedTuple):
    """What one application got in a whole period; ``last``: when the last count ended."""

    application: str
    yes: int
    no: int
    last: datetime


@dataclass(frozen=True, slots=True)
class FeatureUse:
    """A feature's last hour by environment, and who asked for it in the last 24."""

    name: str
    last_hour_usage: list[HourUse]
    applications: list[str]


@dataclass(frozen=True, slots=True)
class Usage:
    """A feature in one environment, over a period, for one application or all."""

    moments: list[Moment]
    applications: list[Sum]
    variants: dict[str, int]

    @property
    def yes(self) -> int:
        return sum(one.yes for one in self.moments)

    @property
    def checks(self) -> int:
        return self.yes + sum(one.no for one in self.moments)


def last_hour(actor: Actor, name: str) -> FeatureUse:
    """Return the use of a feature; empty if the actor can't see a feature with this name."""
    feature = queries.feature_named(actor, name)
    if feature is None:
        return FeatureUse(name, [], [])
    counts = usage.counts(feature.id, Span.HOUR, utcnow() - RECENT)
    latest = [count for count in counts if count.start >= usage.last_hour()]
    hours = [_together(list(uses)) for _, uses in groupby(latest, lambda count: count.environment)]
    return FeatureUse(name, hours, sorted({count.application for count in counts}))


def raw(actor: Actor, name: str, hours: int) -> list[Row]:
    """Return a row at each time (see ``starts``) for each application in each environment."""
    feature = queries.feature_named(actor, name)
    if feature is None:
        return []
    span, times = starts(hours)
    counts = {
        (count.environment, count.application, count.start): count
        for count in usage.counts(feature.id, span, times[0])
    }
    variants: defaultdict[tuple[str, str, datetime], dict[str, int]] = defaultdict(dict)
    for use in usage.variants(feature.id, span, times[0]):
        variants[use.environment, use.application, use.start][use.variant] = use.times
    places = dict.fromkeys((environment, application) for environment, application, _ in counts)
    return [
        Row(
            name,
            application,
            environment,
            start,
            *_yes_and_no(counts.get((environment, application, start))),
            variants.get((environment, application, start), {}),
        )
        for environment, application in places
        for start in times
    ]


def of_feature(
    feature_id: int, environment: str, period: Period, application: str | None = None
) -> Usage:
    """Return the usage in an environment, for ``application`` or all.

    The result always lists all applications.
    """
    span, times = starts(period.hours)
    in_environment = [
        count
        for count in usage.counts(feature_id, span, times[0])
        if count.environment == environment
    ]
    variants: Counter[str] = Counter()
    for use in usage.variants(feature_id, span, times[0]):
        if use.environment == environment and application in {None, use.application}:
            variants[use.variant] += use.times
    return Usage(
        summed(
            times,
            (
                (count.start, count.yes, count.no)
                for count in in_environment
                if application in {None, count.application}
            ),
        ),
        _by_application(in_environment, timedelta(hours=1 if span is Span.HOUR else 24)),
        dict(variants.most_common()),
    )


def busiest(asked: Collection[AskedFor]) -> tuple[str, list[Moment]]:
    """Return the environment in which an application asked most, with counts of 24 hours."""
    checks: Counter[str] = Counter()
    for hour in asked:
        checks[hour.environment] += hour.yes + hour.no
    environment = checks.most_common(1)[0][0] if checks else ""
    _, times = starts(Period.DAY.hours)
    here = ((hour.start, hour.yes, hour.no) for hour in asked if hour.environment == environment)
    return environment, summed(times, here)


def _by_application(counts: Iterable[Count], length: timedelta) -> list[Sum]:
    """Return the sums of each application, those that asked most first."""
    sums: dict[str, Sum] = {}
    for count in counts:
        end = min(count.start + length, utcnow())
        before = sums.get(count.application, Sum(count.application, 0, 0, end))
        sums[count.application] = Sum(
            count.application, before.yes + count.yes, before.no + count.no, max(before.last, end)
        )
    return sorted(sums.values(), key=lambda total: (-total.yes - total.no, total.application))


def _together(counts: Sequence[Count]) -> HourUse:
    """Add up the counts of one environment."""
    return HourUse(
        counts[0].environment,
        max(count.start for count in counts),
        sum(count.yes for count in counts),
        sum(count.no for count in counts),
    )


def _yes_and_no(count: Count | None) -> tuple[int, int]:
    return (count.yes, count.no) if count else (0, 0)
