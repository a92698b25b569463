"""Types of features, and how long features of each are expected to live."""

from collections.abc import Mapping
from typing import NamedTuple

import sqlalchemy as sa

from app.catalogue.features.models import FEATURE_TYPES, FeatureType, FeatureTypeLifetime
from app.core.actor import Actor
from app.core.db import RetryTransaction, by_id, db, save
from app.core.events import service as events
from app.core.events.event_types import EventType


class TypeOfFeature(NamedTuple):
    """``lifetime_days``: None if its features may stay for good."""

    id: FeatureType
    name: str
    description: str
    lifetime_days: int | None


def lifetimes() -> dict[FeatureType, int]:
    """The lifetimes in days, of the types that have one."""
    query = sa.select(FeatureTypeLifetime).where(FeatureTypeLifetime.lifetime_days.is_not(None))
    return {row.type: row.lifetime_days or 0 for row in db.session.scalars(query)}


def list_all() -> list[TypeOfFeature]:
    known = lifetimes()
    return [
        TypeOfFeature(type, name, f"{about[:1].upper()}{about[1:]}", known.get(type))
        for type, words in FEATURE_TYPES.items()
        for name, _, about in [words.partition(": ")]
    ]


def set_lifetimes(actor: Actor, days: Mapping[FeatureType, int | None]) -> bool:
    """Set how long features of these types are expected to live; 0 and None: for good.

    Return whether anything changed.
    """
    changed = False
    for type, number in days.items():
        row = by_id(FeatureTypeLifetime, type, for_change=True)
        before, after = row and row.lifetime_days, number or None
        if before == after:
            continue
        if row is None:
            save(FeatureTypeLifetime(type=type, lifetime_days=after), if_taken=RetryTransaction())
        else:
            row.lifetime_days = after
        events.record(
            actor,
            EventType.FEATURE_TYPE_UPDATED,
            pre_data={"id": type, "lifetimeDays": before},
            data={"id": type, "lifetimeDays": after},
        )
        changed = True
    return changed
