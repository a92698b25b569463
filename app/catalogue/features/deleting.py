"""Deleting features for good, with everything that belongs to them."""

from collections.abc import Collection
from functools import cache, partial
from typing import Any

import sqlalchemy as sa

from app.catalogue.favourites.models import Favourite
from app.catalogue.features.models import Feature
from app.catalogue.strategies.models import Strategy, StrategySegment
from app.catalogue.visits.models import Visit
from app.core.db import Model, db, has_one_writer
from app.core.statements import Condition, OnList

_lock = OnList(
    lambda is_among: (
        sa.select(Feature.id).where(is_among(Feature.id)).order_by(Feature.id).with_for_update()
    )
)


def lock(ids: Collection[int]) -> None:
    """Keep other transactions also from adding rows that refer to these features."""
    if not has_one_writer():
        _lock.run(ids)


def delete(ids: Collection[int]) -> None:
    """Delete features in a fixed number of statements. What only mentions one forgets its id."""
    db.session.flush()
    for statement in _statements():
        statement.run(ids)
    db.session.expire_all()


@cache
def _statements() -> list[OnList]:
    """In the order that foreign keys require: a row of any room that needs its feature goes."""
    parts = OnList(
        lambda is_among: sa.delete(StrategySegment).where(
            StrategySegment.strategy_id.in_(
                sa.select(Strategy.id).where(is_among(Strategy.feature_id))
            )
        )
    )
    owned = [
        OnList(partial(_delete, model.__table__.c.feature_id))
        for model in (Strategy, Favourite, Visit)  # the last two without a foreign key
    ]
    others = [
        OnList(partial(_forget if key.parent.nullable else _delete, key.parent))
        for table in Model.metadata.sorted_tables
        for key in table.foreign_keys
        if key.column is Feature.__table__.c.id and table is not Strategy.__table__
    ]
    return [parts, *owned, *others, OnList(partial(_delete, Feature.__table__.c.id))]


def _delete(column: Any, is_among: Condition) -> sa.Executable:
    return sa.delete(column.table).where(is_among(column))


def _forget(column: Any, is_among: Condition) -> sa.Executable:
    return sa.update(column.table).where(is_among(column)).values({column: sa.null()})
