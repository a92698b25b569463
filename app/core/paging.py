"""Lists by limit and offset, with the total."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import sqlalchemy as sa

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
