"""Pages of a list, by limit and offset, with the total."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import sqlalchemy as sa

from app.core.db import db

T = TypeVar("T")
U = TypeVar("U")


def sorted_by(
    sort: str | None, columns: Mapping[str, sa.SQLColumnExpression[Any]]
) -> list[sa.ColumnElement[Any]]:
    """ORDER BY for ``sort`` (``-`` for descending), ahead of the list's own order; NULLs last."""
    if sort is None:
        return []
    column = columns[sort.removeprefix("-")]
    return [(column.desc() if sort.startswith("-") else column.asc()).nulls_last()]


class Comparison(NamedTuple):
    """A filter as Unleash's searches have it, such as ``IS_ANY_OF:a,b``."""

    operator: str
    values: list[Any]

    def with_column(self, column: sa.SQLColumnExpression[Any]) -> sa.ColumnElement[bool]:
        is_one = column.in_(self.values)
        return ~is_one if self.operator in {"IS_NOT", "IS_NONE_OF"} else is_one


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Items ``offset + 1`` to ``offset + limit`` of ``total``."""

    items: list[T]
    total: int
    limit: int
    offset: int

    @property
    def first(self) -> int:
        return self.offset + 1

    @property
    def last(self) -> int:
        return self.offset + len(self.items)

    @property
    def previous(self) -> int | None:
        """The offset of the page before; None on the first page."""
        return max(self.offset - self.limit, 0) if self.offset else None

    @property
    def next(self) -> int | None:
        """The offset of the page after; None on the last page."""
        following = self.offset + self.limit
        return following if following < self.total else None

    @property
    def next_count(self) -> int:
        """How many items the page after has."""
        return max(min(self.limit, self.total - self.offset - self.limit), 0)

    def of(self, items: list[U]) -> "Page[U]":
        """Copy of the page with other items, made from its own."""
        return Page(items, self.total, self.limit, self.offset)


def page_of(query: sa.Select[*tuple[Any, ...]], *, limit: int, offset: int) -> Page[Any]:
    """A page of ``query``'s rows (objects, if it selects one entity) and the total.

    ``query`` must have a total order (no ties), or pages would overlap.
    """
    rows: list[Any] = []
    if limit:
        found = db.session.execute(query.limit(limit).offset(offset))
        rows = list(found.scalars() if len(query.column_descriptions) == 1 else found)
    is_last = len(rows) < limit and (rows or not offset)
    total = offset + len(rows) if is_last else count(query)
    return Page(rows, total, limit, offset)


def count(query: sa.Select[*tuple[Any, ...]]) -> int:
    """How many rows the query has."""
    inner = query.order_by(None).subquery()
    return db.session.scalar(sa.select(sa.func.count()).select_from(inner)) or 0
