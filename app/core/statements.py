"""Statements that are compiled once for each database, for frequent queries.

SQLAlchemy looks up the compiled form and describes the result each time it runs a statement. That
takes longer than a short query does.
"""

import json
from collections import namedtuple
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any, Protocol, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import aliased
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from app.core import storage
from app.core.db import db

M = TypeVar("M")
Row = tuple[Any, ...]

FEW = 16
"""More values than that are one parameter on PostgreSQL too."""
VALUES = "values_of_list"
"""Name of the parameter. No statement uses it for anything else."""


class Condition(Protocol):
    """Whether a column has one of the values of a list."""

    def __call__(self, column: Any, name: str = VALUES) -> sa.ColumnElement[bool]:
        """``name``: of the list, if the statement has several."""


def shared_alias(model: type[M], name: str) -> type[M]:
    """An alias for statements of several threads.

    SQLAlchemy makes the columns of an alias when they're first asked for. If two threads ask, it
    makes two sets, and statements mix them until the process ends. So they are made here.
    """
    alias = aliased(model, name=name)
    for attribute in sa.inspect(model).column_attrs:
        getattr(alias, attribute.key).expression  # noqa: B018 - a property that remembers
    return alias


_prepared: list["Prepared"] = []


def compile_all(dialect: sa.Dialect) -> None:
    """Compile the statements that are known by now, so that forked processes share the result."""
    for each in _prepared:
        each.compiled(dialect)


class Prepared:
    """A statement that selects columns, or that changes rows and may return columns.

    Its parameters have names: ``sa.bindparam("id")``. ``in_`` isn't possible: see ``OnList``.
    """

    def __init__(self, statement: sa.Executable, row: type[Row] | None = None) -> None:
        """``row``: a named tuple with a field for each column, or ``tuple`` for plain ones."""
        self._statement = statement
        self._row = row
        self._compiled: dict[str, _Compiled] = {}
        _prepared.append(self)

    def compiled(self, dialect: sa.Dialect) -> "_Compiled":
        """The statement for this database, compiled when it is first asked for."""
        found = self._compiled.get(dialect.name)
        if found is None:
            found = self._compiled[dialect.name] = _Compiled(self._statement, dialect, self._row)
        return found

    def run(self, *, connection: sa.Connection | None = None, **parameters: Any) -> Sequence[Any]:
        """Return its rows, as named tuples. ``connection``: if it isn't the session's.

        Raises:
            DBAPIError: as SQLAlchemy does; a lost connection is invalidated.

        """
        connection = connection or db.session.connection()
        return self.compiled(connection.dialect).run(connection, parameters)


class OnList:
    """A prepared statement for lists of any length: 3 values or 50,000.

    ``build``: gets the conditions of its lists. ``others``: names of further parameters that are
    lists.

    SQLite gets a list as one parameter. PostgreSQL plans such a statement each time, so there
    each value of a short list is a parameter. Their number is a power of two, for which the first
    value is repeated: so five statements serve all short lists.
    """

    def __init__(
        self,
        build: Callable[[Condition], sa.Executable],
        *others: str,
        row: type[Row] | None = None,
    ) -> None:
        self._build = build
        self._row = row
        self._lists = (VALUES, *others)
        self._prepared: dict[tuple[Any, ...], Prepared] = {}

    def run(
        self,
        values: Collection[Any],
        *,
        connection: sa.Connection | None = None,
        **parameters: Any,
    ) -> Sequence[Any]:
        """Return the rows for these values and the statement's own parameters; see ``Prepared``."""
        connection = connection or db.session.connection()
        parameters[VALUES] = values
        numbers = dict.fromkeys(self._lists, 0)
        if connection.dialect.name == "postgresql":
            for name in self._lists:
                spread = _spread(name, parameters[name])
                if spread:
                    del parameters[name]
                    parameters |= spread
                    numbers[name] = len(spread)
        key = (connection.dialect.name, *numbers.values())
        prepared = self._prepared.get(key)
        if prepared is None:
            prepared = self._prepared[key] = Prepared(self._build(_condition(numbers)), self._row)
        return prepared.run(connection=connection, **parameters)


def _spread(name: str, values: Collection[Any]) -> dict[str, Any]:
    """A parameter for each value of a short list; empty for another."""
    if not 0 < len(values) <= FEW:
        return {}
    spread = [*values]
    spread += spread[:1] * ((1 << (len(values) - 1).bit_length()) - len(values))
    return {f"{name}_{number}": value for number, value in enumerate(spread)}


def _condition(numbers: Mapping[str, int]) -> Condition:
    """``numbers``: how many parameters each list has; 0: one for all values."""

    def is_among(column: Any, name: str = VALUES) -> sa.ColumnElement[bool]:
        if not numbers[name]:
            return _IsAmong(column, name)
        names = (f"{name}_{number}" for number in range(numbers[name]))
        among: sa.ColumnElement[bool] = column.in_(
            [sa.bindparam(each, type_=column.type) for each in names]
        )
        return among

    return is_among


class _Compiled:
    """A statement for one database: its text, the order of its values, all conversions."""

    def __init__(
        self, statement: sa.Executable, dialect: sa.Dialect, row: type[Row] | None
    ) -> None:
        compiled: Any = statement.compile(dialect=dialect)  # type: ignore[attr-defined] # it is a ClauseElement
        self._text = compiled.string
        self._order = compiled.positiontup
        self._convert = {
            name: convert
            for name, bind in compiled.binds.items()
            if (convert := bind.type.dialect_impl(dialect).bind_processor(dialect))
        }
        constants = {n: b.value for n, b in compiled.binds.items() if not b.required}
        self._constants = self._converted(constants)
        columns = getattr(statement, "exported_columns", ())
        names = [column.key for column in columns]
        made: Any = row or namedtuple("Row", names, rename=True)  # noqa: PYI024 - names of any statement
        self._row = None if row is tuple else made._make
        self._has_rows = bool(columns)
        self._read = [
            (index, read)
            for index, column in enumerate(columns)
            if (read := column.type.dialect_impl(dialect).result_processor(dialect, None))
        ]

    def run(self, connection: sa.Connection, parameters: Mapping[str, Any]) -> Sequence[Any]:
        values: Any = self._constants | self._converted(parameters)
        if self._order is not None:
            values = tuple([values[name] for name in self._order])
        found = send(connection, self._text, values, returns=self._has_rows)
        read = self._processed(found) if self._read else found
        return [*(map(self._row, read) if self._row else read)]

    def _converted(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values as the driver takes them."""
        convert = self._convert
        return {
            name: convert[name](value) if name in convert else value
            for name, value in values.items()
        }

    def _processed(self, rows: Iterable[Sequence[Any]]) -> Iterable[Sequence[Any]]:
        """Rows with their values as SQLAlchemy's types give them."""
        columns: list[Iterable[Any]] = [*zip(*rows, strict=True)]
        if columns:  # no rows have none
            for index, read in self._read:
                columns[index] = map(read, columns[index])
        return zip(*columns, strict=True)


def send(
    connection: sa.Connection, text: str, values: Any, *, returns: bool = False, many: bool = False
) -> Sequence[Any]:
    """Send a text by the driver's own cursor, and return its rows if it ``returns`` any.

    ``many``: ``values`` are those of several executions. Errors as ``Prepared.run``.
    """
    try:
        with closing(connection.connection.cursor()) as cursor:
            if listeners := connection.dispatch.before_cursor_execute:
                listeners(connection, cursor, text, values, None, many)
            (cursor.executemany if many else cursor.execute)(text, values)
            return cursor.fetchall() if returns else []
    except connection.dialect.loaded_dbapi.Error as error:
        raise _translated(connection, error, text) from error


def _translated(connection: sa.Connection, error: Exception, text: str) -> BaseException:
    """The error that SQLAlchemy would raise. A lost connection is not used again."""
    dbapi = connection.dialect.loaded_dbapi
    is_lost = connection.dialect.is_disconnect(error, connection.connection, None)  # type: ignore[arg-type] # the driver's own types
    if is_lost:
        connection.invalidate(error)
    translated = DBAPIError.instance(
        text,
        None,
        error,
        dbapi.Error,
        hide_parameters=True,
        connection_invalidated=is_lost,
        dialect=connection.dialect,
    )
    storage.note_error(translated, connection.engine)
    return translated


class _Values(sa.TypeDecorator[Collection[Any]]):
    """A list in the text that the database reads: JSON for SQLite, an array for PostgreSQL."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Collection[Any] | None, dialect: sa.Dialect) -> str:
        values = list(value or ())
        if dialect.name == "postgresql":
            return "{" + ",".join(map(_quoted, values)) + "}"
        text = json.dumps(values)
        if "\\u0000" in text:  # SQLite ends a text at NUL, so such a value would match another one
            text = json.dumps([value for value in values if "\0" not in str(value)])
        return text


class _IsAmong(FunctionElement[bool]):
    """Whether a column has one of the values, which are one parameter."""

    type = sa.Boolean()
    inherit_cache = True

    def __init__(self, column: sa.ColumnElement[Any] | Any, name: str) -> None:
        super().__init__(column, sa.bindparam(name, type_=_Values()))

    def self_group(self, against: Any = None) -> Any:  # noqa: ARG002 - as SQLAlchemy calls it
        """Stay a condition: with ``= 1`` after it, SQLite would scan the whole table."""
        return self


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
