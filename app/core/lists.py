"""Statements on lists of values, which may be 3 or 50,000.

A parameter for each of many values costs more than the query: each is named, bound and read
apart. So many are one parameter. The databases can't see how few are in it, so few are not.
"""

import json
from collections.abc import Callable, Collection, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from app.core.db import any_of, db, rows

FEW = 100
VALUES = "values_of_list"
"""The name of the parameter, which no statement has for another."""

Condition = Callable[[Any], sa.ColumnElement[bool]]
"""Whether a column has one of the values."""


class OnList:
    """A statement that is built once, for a list of any length."""

    def __init__(self, build: Callable[[Condition], sa.Executable]) -> None:
        self._few = build(lambda column: column.in_(any_of(VALUES)))
        self._many = build(_IsAmong)

    def rows(self, values: Collection[Any], **parameters: Any) -> Sequence[Any]:
        """All rows for these values, and for the statement's own parameters; see ``db.rows``."""
        return rows(self._statement(values), **{VALUES: list(values)}, **parameters)

    def execute(self, values: Collection[Any], **parameters: Any) -> None:
        """Run a statement that has no rows."""
        given = {VALUES: list(values), **parameters}
        db.session.connection().execute(self._statement(values), given)

    def _statement(self, values: Collection[Any]) -> sa.Executable:
        return self._few if len(values) <= FEW else self._many


class _Values(sa.TypeDecorator[Collection[Any]]):
    """A list in the text that the database reads: JSON for SQLite, an array for PostgreSQL."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Collection[Any] | None, dialect: sa.Dialect) -> str:
        values = list(value or ())
        if dialect.name == "postgresql":
            return "{" + ",".join(map(_quoted, values)) + "}"
        return json.dumps([one for one in values if "\0" not in str(one)])  # ends a text there


class _IsAmong(FunctionElement[bool]):
    """Whether a column has one of the values, which are one parameter."""

    type = sa.Boolean()
    inherit_cache = True

    def __init__(self, column: sa.ColumnElement[Any] | Any) -> None:
        super().__init__(column, sa.bindparam(VALUES, type_=_Values()))


@compiles(_IsAmong)
def _on_sqlite(element: _IsAmong, compiler: SQLCompiler, **kwargs: Any) -> str:
    column, values = (compiler.process(clause, **kwargs) for clause in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608 - of parts that SQLAlchemy wrote


@compiles(_IsAmong, "postgresql")
def _on_postgresql(element: _IsAmong, compiler: SQLCompiler, **kwargs: Any) -> str:
    column, values = (compiler.process(clause, **kwargs) for clause in element.clauses)
    type = compiler.dialect.type_compiler_instance.process(next(iter(element.clauses)).type)
    return f"{column} IN (SELECT unnest(CAST({values} AS {type}[])))"


def _quoted(value: Any) -> str:
    if isinstance(value, int):
        return str(value)
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
