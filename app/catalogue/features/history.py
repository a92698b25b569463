"""Who created a feature, who archived it, and who last changed it in each environment."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa

from app.accounts.models import Account
from app.catalogue.features.models import Feature
from app.core.actor import Actor
from app.core.db import db
from app.core.events.event_types import EventType
from app.core.events.models import Event

RECENT = 50
"""Latest events of a feature that are searched for the last one of each environment."""
SWITCHED = {
    EventType.FEATURE_ENVIRONMENT_ENABLED: "Switched on",
    EventType.FEATURE_ENVIRONMENT_DISABLED: "Switched off",
}


class HistoryEntry(NamedTuple):
    """A change of a feature; ``by``: a name, or “you”."""

    type: EventType
    at: datetime
    by: str
    reason: str | None
    environment: str | None

    @property
    def verb(self) -> str:
        return SWITCHED.get(self.type, "Changed")


@dataclass(frozen=True, slots=True)
class ChangeHistory:
    """Known changes. Others are too old, pruned, or hidden from this reader."""

    created: HistoryEntry | None = None
    archived: HistoryEntry | None = None
    environments: dict[str, HistoryEntry] = field(default_factory=dict)


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
            Account,
        )
        .outerjoin(Account, Account.id == Event.created_by_user_id)
        .where(Event.feature_name == feature.name, Event.project == feature.project_id)
    )
    latest = _entries(actor, query.order_by(Event.id.desc()).limit(RECENT))
    first = _entries(actor, query.order_by(Event.id).limit(1))
    return ChangeHistory(
        _first(EventType.FEATURE_CREATED, first),
        _first(EventType.FEATURE_ARCHIVED, latest),
        {entry.environment: entry for entry in reversed(latest) if entry.environment is not None},
    )


def _entries(
    actor: Actor,
    query: sa.Select[*tuple[EventType, datetime, str, str | None, str | None, Account | None]],
) -> list[HistoryEntry]:
    entries = []
    for type, at, username, reason, environment, account in db.session.execute(query):
        by = account.called if account else username
        if account is not None and account.id == actor.id:
            by = "you"
        entries.append(HistoryEntry(type, at, by, reason, environment))
    return entries


def _first(type: EventType, entries: Iterable[HistoryEntry]) -> HistoryEntry | None:
    return next((entry for entry in entries if entry.type is type), None)
