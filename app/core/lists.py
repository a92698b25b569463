"""Statements with a list of values, which may have 3 entries or 50,000.

With many values, a parameter for each takes longer than the query, so they are sent as one. The
query planner can't see how many values are in it, so a short list keeps a parameter for each.
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
"""Name of the parameter. No statement uses it for anything else."""

Condition = Callable[[Any], sa.ColumnElement[bool]]
"""Whether a column has one of the values."""


class OnList:
    """A prebuilt statement for a list of any length."""

    def __init__(self, build: Callable[[Condition], sa.Executable]) -> None:
        self._few = build(lambda column: column.in_(any_of(VALUES)))
        self._many = build(_IsAmong)

    def rows(self, values: Collection[Any], **parameters: Any) -> Sequence[Any]:
        """All rows for these values, and for the statement's own parameters; see ``db.rows``."""
        statement, given = self.given(values, **parameters)
        return rows(statement, **given)

    def execute(self, values: Collection[Any], **parameters: Any) -> None:
        """Run a statement that has no rows."""
        db.session.connection().execute(*self.given(values, **parameters))

    def given(
        self, values: Collection[Any], **parameters: Any
    ) -> tuple[sa.Executable, dict[str, Any]]:
        """The statement and its parameters, for ``execute`` of another connection."""
        statement = self._few if len(values) <= FEW else self._many
        return statement, {VALUES: list(values), **parameters}


class _Values(sa.TypeDecorator[Collection[Any]]):
    """A list in the text that the database reads: JSON for SQLite, an array for PostgreSQL."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Collection[Any] | None, dialect: sa.Dialect) -> str:
        values = list(value or ())
        if dialect.name == "postgresql":
            return "{" + ",".join(map(_quoted, values)) + "}"
        # SQLite ends a text at NUL, so such a value would match another one.
        return json.dumps([value for value in values if "\0" not in str(value)])


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
