"""Storing what applications reported, and pruning it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.catalogue.environments.models import Environment
from app.catalogue.features.models import Feature
from app.catalogue.usage import tokens
from app.catalogue.usage.models import (
    APPLICATIONS,
    INSTANCES,
    UNKNOWN_FEATURES,
    VARIANTS,
    Application,
    FeatureSeen,
    Instance,
    Span,
    TokenUse,
    UnknownFeature,
    Usage,
    VariantUsage,
)
from app.core.clock import utcnow
from app.core.db import Model, db, insert_if_absent, upsert
from app.core.logs import LOGGER
from app.core.statements import OnList

RETENTION = {Span.HOUR: timedelta(hours=48), Span.DAY: timedelta(days=90)}
INSTANCES_KEPT = timedelta(days=7)
UNKNOWN_KEPT = timedelta(days=7)


class Counted(NamedTuple):
    """Key of a counter: an hour, an environment, the names of a feature and an application.

    ``projects``: of the token that it was reported with. Only their features are counted; None for
    all.
    """

    hour: datetime
    environment: str
    feature: str
    application: str
    projects: tuple[str, ...] | None = None


class _Seen(NamedTuple):
    """When a feature was asked for; ``first_on``: when an application first got “on”."""

    first: datetime
    last: datetime
    first_on: datetime | None = None

    def and_at(self, at: datetime, *, on: bool) -> "_Seen":
        first_on = min(at, self.first_on or at) if on else self.first_on
        return _Seen(min(at, self.first), max(at, self.last), first_on)


class Running(NamedTuple):
    """A process of an application."""

    environment: str
    application: str
    instance: str


class Proof(NamedTuple):
    """What the latest poll of a process says of what it has. See ``Instance``."""

    polled_at: datetime
    keeps_etags: bool
    interval: int | None = None
    etag: str | None = None
    held_event: int | None = None
    held_at: datetime | None = None
    sent_event: int | None = None


NO_PROOF = dict.fromkeys(Proof._fields)


class Seen(NamedTuple):
    """Requests of a process: the first, and what the latest says. ``proof``: of its last poll.

    ``shared_at``: when it turned out that several processes have its id.
    """

    first_at: datetime
    at: datetime
    sdk: str | None
    token_id: int
    proof: Proof | None = None
    shared_at: datetime | None = None

    def after(self, before: "Seen | None") -> "Seen":
        """Return these requests together with those before."""
        if before is None:
            return self
        return self._replace(
            first_at=before.first_at,
            proof=self.proof or before.proof,
            shared_at=self.shared_at or before.shared_at,
        )


@dataclass(slots=True)
class Report:
    """What applications reported in a few seconds.

    ``counts``: numbers of on and off. ``variants``: numbers by counter and variant. ``instances``:
    the latest request of each. ``tokens``: time of the latest use, by the token's id and
    the application. ``strategies``: types that can be evaluated, by application.
    """

    counts: dict[Counted, tuple[int, int]] = field(default_factory=dict)
    variants: dict[tuple[Counted, str], int] = field(default_factory=dict)
    instances: dict[Running, Seen] = field(default_factory=dict)
    tokens: dict[tuple[int, str], datetime] = field(default_factory=dict)
    strategies: dict[str, list[str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.counts or self.instances or self.tokens or self.strategies)


_features = OnList(
    lambda is_among: sa.select(Feature.name, Feature.id, Feature.project_id).where(
        is_among(Feature.name)
    )
)
_ids_of_applications = OnList(
    lambda is_among: sa.select(Application.name, Application.id).where(is_among(Application.name))
)
_instances = OnList(
    lambda is_among: sa.select(Instance.application_id, Instance.environment, Instance.id).where(
        is_among(Instance.application_id)
    )
)
_variants = OnList(
    lambda is_among: (
        sa.select(
            VariantUsage.feature_id,
            VariantUsage.environment,
            VariantUsage.start,
            VariantUsage.variant,
        )
        .where(
            is_among(VariantUsage.feature_id),
            VariantUsage.span == Span.DAY,
            VariantUsage.start >= sa.bindparam("since"),
        )
        .distinct()
    )
)
_set_strategies = (
    sa.update(Application)
    .where(Application.name == sa.bindparam("of_name"))
    .values(strategies=sa.bindparam("strategies"))
)


def write(report: Report) -> None:
    """Store a report, as far as there is room for new names: applications could make up any number.

    Rows are written in the order of their keys, so that several servers never deadlock.
    """
    environments = set(db.session.scalars(sa.select(Environment.name)))
    counts = {key: n for key, n in report.counts.items() if key.environment in environments}
    running = {key: at for key, at in report.instances.items() if key.environment in environments}
    applications = _applications(
        {key.application for key in counts}
        | {key.application for key in running}
        | {application for _, application in report.tokens}
        | report.strategies.keys()
    )
    counts = {key: n for key, n in counts.items() if key.application in applications}
    running = {key: seen for key, seen in running.items() if key.application in applications}
    ids = _readable(counts)
    _write_counts(counts, ids, applications)
    _write_variants(report.variants, ids, applications)
    _write_unknown(counts.keys() - ids.keys(), applications)
    _write_instances(running, applications)
    uses = {key: at for key, at in report.tokens.items() if key[1] in applications}
    _write(TokenUse, tokens.rows(uses, applications), latest=[("last_seen_at",)])
    for name, strategies in sorted(report.strategies.items()):
        given = {"of_name": name, "strategies": strategies}
        db.session.connection().execute(_set_strategies, given)


def prune() -> None:
    """Delete the oldest hour and day of counts if they are too old, and rows unseen for long."""
    now = utcnow()
    for model in (Usage, VariantUsage):
        for span, kept in RETENTION.items():
            oldest = sa.select(sa.func.min(model.start)).where(model.span == span)
            start = db.session.scalar(oldest)
            if start is not None and start < now - kept:
                gone = sa.delete(model).where(model.span == span, model.start == start)
                db.session.execute(gone)
    for stale, kept in (
        (Instance, INSTANCES_KEPT),
        (UnknownFeature, UNKNOWN_KEPT),
        (TokenUse, tokens.RETENTION),
    ):
        db.session.execute(sa.delete(stale).where(stale.last_seen_at < now - kept))


def _applications(names: Collection[str]) -> dict[str, int]:
    """Ids of applications by name. Insert new ones, as far as there is room for them."""
    if not names:
        return {}
    known = dict(_ids_of_applications.run(names))
    new = sorted(set(names) - known.keys())
    if new and (room := APPLICATIONS.room()) < len(new):
        LOGGER.warning("there are too many applications; %r and others are not stored", new[-1])
        new = new[:room]
    if not new:
        return known
    rows = [{"name": name, "strategies": [], "created_at": utcnow()} for name in new]
    db.session.connection().execute(insert_if_absent(Application), rows)
    return known | dict(_ids_of_applications.run(new))


def _readable(keys: Collection[Counted]) -> dict[Counted, int]:
    """Ids of features that exist and that the tokens read, by counter."""
    found = _features.run({key.feature for key in keys}) if keys else ()
    known = {name: (id, project_id) for name, id, project_id in found}
    ids = {}
    for key in keys:
        id, project_id = known.get(key.feature, (None, None))
        if id is not None and (key.projects is None or project_id in key.projects):
            ids[key] = id
    return ids


def _write_counts(
    counts: Mapping[Counted, tuple[int, int]],
    ids: Mapping[Counted, int],
    applications: Mapping[str, int],
) -> None:
    found: dict[tuple[Any, ...], list[int]] = {}
    seen: dict[tuple[int, str], _Seen] = {}
    for key, (yes, no) in counts.items():
        if key not in ids:
            continue
        for place in _places(key, ids, applications):
            sums = found.setdefault(place, [0, 0])
            sums[0] += yes
            sums[1] += no
        at = min(key.hour + timedelta(hours=1), utcnow())
        where = ids[key], key.environment
        seen[where] = seen.get(where, _Seen(at, at)).and_at(at, on=yes > 0)
    rows = (_row(place, yes=yes, no=no) for place, (yes, no) in found.items())
    _write(Usage, rows, add=("yes", "no"))
    _write(
        FeatureSeen,
        (
            {
                "feature_id": id,
                "environment": environment,
                "first_seen_at": times.first,
                "first_on_at": times.first_on,
                "last_seen_at": times.last,
            }
            for (id, environment), times in seen.items()
        ),
        latest=[("last_seen_at",)],
        first=("first_seen_at", "first_on_at"),
    )


def _write_instances(running: Mapping[Running, Seen], applications: Mapping[str, int]) -> None:
    found = {
        (applications[key.application], key.environment, key.instance): seen
        for key, seen in running.items()
    }
    if found and (room := INSTANCES.room()) < len(found):
        known = {tuple(row) for row in _instances.run({id for id, *_ in found})}
        kept = {*sorted(found.keys() - known)[:room], *known}
        found = {key: seen for key, seen in found.items() if key in kept}
    rows = (
        {
            "application_id": id,
            "environment": environment,
            "id": instance,
            "sdk": seen.sdk,
            "first_seen_at": seen.first_at,
            "last_seen_at": seen.at,
            "token_id": seen.token_id,
            "shared_at": seen.shared_at,
            **(seen.proof._asdict() if seen.proof else NO_PROOF),
        }
        for (id, environment, instance), seen in found.items()
    )
    _write(
        Instance,
        rows,
        latest=[("last_seen_at", "sdk", "token_id"), Proof._fields],
        first=("shared_at",),
        since={"held_at": "etag"},
    )


def _write_variants(
    variants: Mapping[tuple[Counted, str], int],
    ids: Mapping[Counted, int],
    applications: Mapping[str, int],
) -> None:
    counted = {place: times for place, times in variants.items() if place[0] in ids}
    if not counted:
        return
    days = {key.hour.replace(hour=0) for key, _ in counted}
    names: defaultdict[tuple[int, str, datetime], set[str]] = defaultdict(set)
    for *place, name in _variants.run({ids[key] for key, _ in counted}, since=min(days)):
        names[tuple(place)].add(name)
    found: dict[tuple[Any, ...], int] = {}
    for (key, variant), times in counted.items():
        known = names[ids[key], key.environment, key.hour.replace(hour=0)]
        if variant in known or len(known) < VARIANTS.rows:
            known.add(variant)
            for place in _places(key, ids, applications):
                found[*place, variant] = found.get((*place, variant), 0) + times
    rows = (_row(place, variant=place[-1], times=times) for place, times in found.items())
    _write(VariantUsage, rows, add=("times",))


def _write_unknown(keys: Iterable[Counted], applications: Mapping[str, int]) -> None:
    found = {(key.feature, key.environment, applications[key.application]) for key in keys}
    if not found:
        return
    rows = [
        {"name": name, "environment": environment, "application_id": id, "last_seen_at": utcnow()}
        for name, environment, id in sorted(found)[: UNKNOWN_FEATURES.room()]
    ]
    _write(UnknownFeature, rows, latest=[("last_seen_at",)])


def _places(
    key: Counted, ids: Mapping[Counted, int], applications: Mapping[str, int]
) -> list[tuple[Any, ...]]:
    """Keys of the two rows that a counter is added to: of the hour and of the day."""
    starts = {Span.HOUR: key.hour, Span.DAY: key.hour.replace(hour=0)}
    id, application = ids[key], applications[key.application]
    return [(id, key.environment, span, start, application) for span, start in starts.items()]


def _row(place: tuple[Any, ...], **values: Any) -> dict[str, Any]:
    feature_id, environment, span, start, application_id = place[:5]
    return {
        "feature_id": feature_id,
        "environment": environment,
        "span": span,
        "start": start,
        "application_id": application_id,
        **values,
    }


def _write(model: type[Model], rows: Iterable[dict[str, Any]], **columns: Any) -> None:
    """Upsert rows in the order of their keys, which is the same for all writers."""
    key = [column.name for column in sa.inspect(model).primary_key]
    ordered = sorted(rows, key=lambda row: [str(row[name]) for name in key])
    if ordered:
        db.session.connection().execute(upsert(model, **columns), ordered)
