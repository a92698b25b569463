"""Usage by the applications of the demo: the last 48 hours by hour, and 90 days by day."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from random import Random

import sqlalchemy as sa

from app.catalogue.features.models import Feature
from app.catalogue.sdk_tokens import service as sdk_tokens
from app.catalogue.sdk_tokens.models import SdkTokenType
from app.catalogue.strategies import queries as strategies
from app.catalogue.strategies import types
from app.catalogue.strategies.queries import EnvironmentState
from app.catalogue.usage import service as usage
from app.catalogue.usage.models import Span, Usage, VariantUsage
from app.catalogue.usage.service import RETENTION, Counted, Proof, Report, Running, Seen
from app.core.clock import utcnow
from app.core.db import db
from app.core.events.models import EventHead
from app.core.permissions import Permission
from app.operations.demo import data
from app.operations.demo.applications import (
    APPS,
    PRODUCTION,
    SDK_KEYS,
    STILL_IN_CODE,
    STRATEGIES,
    App,
    Fleet,
    SdkKey,
)
from app.operations.demo.diary import Diary

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
BY_HOUR = (
    0.2, 0.1, 0.1, 0.1, 0.2, 0.4, 0.7, 0.9, 1.1, 1.2, 1.2, 1.3,
    1.4, 1.3, 1.2, 1.2, 1.3, 1.5, 1.8, 2.0, 1.9, 1.5, 0.9, 0.5,
)  # fmt: skip
"""Factor for each hour of the day: 1 is average."""
WORKED_ON = 0.2
"""Share of a project's features that an application asks for outside production."""
IN_SEGMENT, IN_CONSTRAINTS = 0.04, 0.4
"""Share of checks for people in a segment, and for people who meet constraints."""


class Applications:
    """Creates the SDK tokens and reports usage. Has its own random generator."""

    def __init__(self, diary: Diary) -> None:
        self.diary = diary
        self.chance = Random(data.DOMAIN)  # noqa: S311 - for a demonstration, not a secret
        self.tokens: dict[str, int] = {}

    def schedule(self) -> None:
        """Schedule the creation of tokens, and the first contact of each application."""
        for key in SDK_KEYS:
            self.diary.add(key.created, partial(self._create, key), self.chance)
        for app in APPS:
            self.diary.add(app.since, partial(self._start, app), self.chance)

    def report(self) -> None:
        """Write the usage of all applications up to now."""
        report = Report()
        used: dict[int, datetime] = {}
        for app in APPS:
            seen = self.diary.now - app.seen * DAY
            self._run(report, app, seen)
            for token in self._tokens_of(app):
                report.tokens[token, app.name] = seen
                used[token] = max(seen, used.get(token, seen))
        for feature, states in _features():
            self._ask(report, feature, states)
        self._ask_for_archived(report)
        usage.write(report)
        sdk_tokens.note_uses(used)
        for model in (Usage, VariantUsage):  # each day was written as one hour
            is_old = model.start < utcnow() - RETENTION[Span.HOUR]
            db.session.execute(sa.delete(model).where(model.span == Span.HOUR, is_old))

    def _create(self, key: SdkKey) -> None:
        self.tokens[key.name] = sdk_tokens.create(
            self.diary.someone(Permission.CREATE_CLIENT_API_TOKEN, chance=self.chance),
            token_name=key.name,
            type=SdkTokenType.CLIENT,
            environment=key.environment,
            projects=key.projects or ["*"],
            expires_at=self.diary.now + key.expires * DAY if key.expires else None,
        ).token.id

    def _start(self, app: App) -> None:
        used = {(token, app.name): utcnow() for token in self._tokens_of(app)}
        usage.write(Report(strategies={app.name: STRATEGIES}, tokens=used))

    def _tokens_of(self, app: App, environment: str | None = None) -> list[int]:
        """Ids of the application's tokens that exist at this time, for an environment or all."""
        keys = (key for key in SDK_KEYS if app.name in key.apps)
        here = (key.name for key in keys if environment in {None, key.environment})
        return [self.tokens[name] for name in here if name in self.tokens]

    def _run(self, report: Report, app: App, seen: datetime) -> None:
        """Report the instances of an application, and checks of unknown features."""
        last = db.session.scalar(sa.select(EventHead.last_id))
        for fleet in app.fleets:
            tokens = self._tokens_of(app, fleet.environment)
            for sdk, number in fleet.instances.items():
                for _ in range(number):
                    id = f"{app.name}-{self.chance.randrange(16**6):06x}"
                    heard = seen - timedelta(seconds=self.chance.randrange(60))
                    proof = Proof(heard, keeps_etags=True, held_event=last, held_at=heard)
                    key = Running(fleet.environment, app.name, id)
                    report.instances[key] = Seen(seen - DAY, heard, sdk, tokens[0], proof)
            for name in app.unknown:
                report.counts[_at(seen, fleet, name, app)] = (0, fleet.checks)

    def _ask(self, report: Report, feature: Feature, states: list[EnvironmentState]) -> None:
        """Report checks of a feature by the applications of its project, where it is on.

        Outside production, they ask for a random share of the features: those in development.
        """
        on = {state.name: state for state in states if state.enabled}
        for app in APPS:
            if feature.project_id not in app.projects:
                continue
            for fleet in app.fleets:
                is_used = fleet.environment == PRODUCTION or self.chance.random() < WORKED_ON
                if is_used and (state := on.get(fleet.environment)):
                    self._count(report, feature, app, fleet, state)

    def _count(
        self, report: Report, feature: Feature, app: App, fleet: Fleet, state: EnvironmentState
    ) -> None:
        often = fleet.checks * self.chance.uniform(0.3, 1.0)
        share = _share(state)
        for start, length in self._times(max(feature.created_at, self._begin(app))):
            if start + length > self.diary.now - app.seen * DAY:
                continue
            busy = BY_HOUR[start.hour] if length == HOUR else sum(BY_HOUR)
            weekend = 0.7 if start.weekday() >= 5 else 1.0  # noqa: PLR2004 - Saturday
            checks = int(often * busy * weekend * self.chance.uniform(0.85, 1.15))
            yes = round(checks * min(share * self.chance.uniform(0.97, 1.03), 1))
            if checks:
                key = _at(start, fleet, feature.name, app)
                report.counts[key] = (yes, checks - yes)
                self._split(report, key, yes, state)

    def _split(self, report: Report, key: Counted, yes: int, state: EnvironmentState) -> None:
        """Distribute the positive checks over the variants, about by their weights."""
        for variant in state.strategies[0].variants:
            times = round(yes * variant["weight"] / 1_000 * self.chance.uniform(0.97, 1.03))
            if times:
                report.variants[key, variant["name"]] = times

    def _ask_for_archived(self, report: Report) -> None:
        """Report checks of an archived feature that is still in an application's code."""
        project_id, environment, application, checks = STILL_IN_CODE
        query = sa.select(Feature.name).where(
            Feature.archived_at.is_not(None), Feature.project_id == project_id
        )
        if names := sorted(db.session.scalars(query)):
            key = Counted(_hour(self.diary.now), environment, names[0], application)
            report.counts[key] = (0, checks)

    def _times(self, since: datetime) -> Iterator[tuple[datetime, timedelta]]:
        """(Start, length) of the periods since then: days, and for recent times hours."""
        this_hour = _hour(self.diary.now)
        today = this_hour.replace(hour=0)
        first = today - RETENTION[Span.HOUR]
        day = max(today - RETENTION[Span.DAY] + DAY, _hour(since).replace(hour=0) + DAY)
        while day < first:
            yield day, DAY
            day += DAY
        hour = max(day, first)
        while hour < this_hour:
            yield hour, HOUR
            hour += HOUR

    def _begin(self, app: App) -> datetime:
        return self.diary.now - app.since * DAY


def _features() -> list[tuple[Feature, list[EnvironmentState]]]:
    """The active features by name, with their states."""
    query = sa.select(Feature).where(Feature.archived_at.is_(None))
    found = sorted(db.session.scalars(query), key=lambda feature: feature.name)
    states = strategies.states([(feature.id, feature.project_id) for feature in found])
    return [(feature, states[feature.id]) for feature in found]


def _at(at: datetime, fleet: Fleet, feature: str, app: App) -> Counted:
    return Counted(_hour(at), fleet.environment, feature, app.name)


def _hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def _share(state: EnvironmentState) -> float:
    """Share of checks for which the feature is on."""
    shares = [
        (types.percent(strategy.name, strategy.parameters) or 0)
        / types.ALL
        * (IN_CONSTRAINTS if strategy.constraints else 1)
        * (IN_SEGMENT if strategy.segments else 1)
        for strategy in state.strategies
        if not strategy.disabled
    ]
    return max(shares, default=0)
