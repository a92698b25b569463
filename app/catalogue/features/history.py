"""Who created a feature, who archived it, and who last changed it in each environment."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.accounts.models import Account
from app.catalogue.features.models import Feature
from app.core.actor import Actor
from app.core.db import db
from app.core.events.event_types import EventType
from app.core.events.models import Event

RECENT = 50
"""Latest events of a feature that are searched for the changes in each environment."""
VERBS = {
    EventType.FEATURE_ARCHIVED: "Archived",
    EventType.FEATURE_REVIVED: "Revived",
    EventType.FEATURE_ENVIRONMENT_ENABLED: "Switched on",
    EventType.FEATURE_ENVIRONMENT_DISABLED: "Switched off",
    EventType.FEATURE_ENVIRONMENT_VARIANTS_UPDATED: "Variants changed",
    EventType.FEATURE_STRATEGIES_SORTED: "Strategies sorted",
    EventType.FEATURE_STRATEGY_ADDED: "Strategy added",
    EventType.FEATURE_STRATEGY_REMOVED: "Strategy deleted",
    EventType.FEATURE_STRATEGY_UPDATED: "Strategy changed",
}
"""Events that change who gets a feature."""


class HistoryEntry(NamedTuple):
    """A change of a feature; ``by``: a name, or “you”.

    ``share_before``, ``share``: the percentages of the strategy that it is about.
    """

    type: EventType
    at: datetime
    by: str
    reason: str | None
    environment: str | None
    share_before: str | None
    share: str | None

    @property
    def verb(self) -> str:
        """``Switched on``, ``10% → 40%``."""
        if self.share_before and self.share and self.share_before != self.share:
            return f"{self.share_before}% → {self.share}%"
        return VERBS.get(self.type, "Changed")

    @property
    def says(self) -> str:
        return f"{self.verb} by {self.by}"


@dataclass(frozen=True, slots=True)
class ChangeHistory:
    """Known changes. Others are too old, pruned, or hidden from this reader.

    ``latest``: newest first. ``environments``: the last one in each.
    """

    created: HistoryEntry | None = None
    archived: HistoryEntry | None = None
    environments: dict[str, HistoryEntry] = field(default_factory=dict)
    latest: list[HistoryEntry] = field(default_factory=list)

    @property
    def known_since(self) -> datetime | None:
        """Since when all changes are known; None: since ever."""
        return self.latest[-1].at if len(self.latest) == RECENT else None

    def in_environment(self, name: str, since: datetime) -> list[HistoryEntry]:
        """What changed who gets the feature there since then, oldest first."""
        return [
            entry
            for entry in reversed(self.latest)
            if entry.at >= since and entry.type in VERBS and entry.environment in {name, None}
        ]


def of(actor: Actor, feature: Feature) -> ChangeHistory:
    """The history of a feature; empty if the actor can't read its events."""
    if not actor.may_read_events(feature.project_id):
        return ChangeHistory()
    query = (
        sa.select(
            Event.type,
            Event.created_at,
            Event.created_by,
            Event.reason,
            sa.func.coalesce(  # events of removals have no ``data``
                Event.data["environment"].as_string(), Event.pre_data["environment"].as_string()
            ),
            _share(Event.pre_data),
            _share(Event.data),
            Account,
        )
        .outerjoin(Account, Account.id == Event.created_by_user_id)
        .where(
            Event.feature_name == feature.name,
            Event.project == feature.project_id,
            Event.created_at >= feature.created_at,  # none of a deleted one with this name
        )
    )
    latest = _entries(actor, query.order_by(Event.id.desc()).limit(RECENT))
    first = _entries(actor, query.order_by(Event.id).limit(1))
    return ChangeHistory(
        _first(EventType.FEATURE_CREATED, first),
        _first(EventType.FEATURE_ARCHIVED, latest),
        {entry.environment: entry for entry in reversed(latest) if entry.environment is not None},
        latest,
    )


def _share(data: sa.SQLColumnExpression[Any]) -> sa.ColumnElement[str]:
    """The percentage in the parameters of a strategy."""
    names = ("rollout", "percentage")
    return sa.func.coalesce(*(data["parameters", name].as_string() for name in names))


def _entries(actor: Actor, query: sa.Select[*tuple[Any, ...]]) -> list[HistoryEntry]:
    entries = []
    for type, at, username, *rest, account in db.session.execute(query):
        by = account.called if account else username
        if account is not None and account.id == actor.id:
            by = "you"
        entries.append(HistoryEntry(type, at, by, *rest))
    return entries


def _first(type: EventType, entries: Iterable[HistoryEntry]) -> HistoryEntry | None:
    return next((entry for entry in entries if entry.type is type), None)
