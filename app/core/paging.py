"""Lists by limit and offset, with the total."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import sqlalchemy as sa
from marshmallow import fields, validate

from app.core.db import db
from app.core.schemas import QueryNumber, Schema

T = TypeVar("T")

DEFAULT_LIMIT = 50
MAX_LIMIT = 1_000


class PageQuery(Schema):
    """The part of a list's address that says which stretch of it is wanted."""

    limit = QueryNumber(
        load_default=DEFAULT_LIMIT,
        low=1,
        high=MAX_LIMIT,
        metadata={"description": "How many at most."},
    )
    offset = QueryNumber(
        load_default=0,
        metadata={"description": "How many to leave out from the start."},
    )


class Sort(fields.String):
    """One of ``names`` to sort by; with a minus before it, in descending order."""

    def __init__(self, *names: str) -> None:
        allowed = [sign + name for name in names for sign in ("", "-")]
        super().__init__(
            validate=validate.OneOf(allowed, error=f"Must be one of: {', '.join(allowed)}."),
            metadata={"description": "What to sort by; a minus before it turns the order round."},
        )


def sorted_by(
    sort: str | None, columns: Mapping[str, sa.SQLColumnExpression[Any]]
) -> list[sa.ColumnElement[Any]]:
    """What ``sort`` means for ORDER BY, before the list's own order; rows without a value last."""
    if sort is None:
        return []
    column = columns[sort.removeprefix("-")]
    return [(column.desc() if sort.startswith("-") else column.asc()).nulls_last()]


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    items: list[T]
    total: int


def page_of(query: sa.Select[*tuple[Any, ...]], *, limit: int, offset: int) -> Page[Any]:
    """One stretch of ``query``'s rows (objects, where it selects one entity) and their number.

    ``query`` must order its rows to the last, or pages would overlap.
    """
    total = db.session.scalar(
        sa.select(sa.func.count()).select_from(query.order_by(None).subquery())
    )
    rows = db.session.execute(query.limit(limit).offset(offset))
    single = len(query.column_descriptions) == 1
    return Page(list(rows.scalars() if single else rows), total or 0)
