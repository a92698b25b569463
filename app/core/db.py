"""The database handle, the model base, and the one place that commits."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import datetime
from enum import Enum, StrEnum
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import sqlalchemy as sa
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.pool import ConnectionPoolEntry

from app.core import faults, storage
from app.core.columns import RoleColumn, UtcDateTime, enum_of
from app.core.errors import DomainError, Unavailable
from app.core.locks import WriterQueue
from app.core.permissions import Role
from app.core.words import camel_case

T = TypeVar("T")

CHUNK = 1_000
"""Values in one IN (…): far below what any supported database refuses."""

MAX_ID = 2**31 - 1
"""The greatest id a database can hold; PostgreSQL refuses to even compare one with a greater."""

TRIES = 3
LOCK_SECONDS = 5.0


class RetryTransaction(Exception):
    """Another transaction came first. Started again, this one will see its changes."""


class Model(DeclarativeBase):
    metadata = sa.MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it from the class
        datetime: UtcDateTime,
        dict[str, Any]: sa.JSON(none_as_null=True),
        Role: RoleColumn,
        StrEnum: enum_of(StrEnum),
    }

    recorded: ClassVar[tuple[str, ...]]

    def snapshot(self) -> dict[str, Any]:
        """What is ``recorded`` of it in the event log, by the names that the API uses."""
        return {camel_case(name): getattr(self, name) for name in self.recorded}


NEVER_REUSE_IDS = {"sqlite_autoincrement": True}
"""For ``__table_args__``: SQLite would give the id of the last deleted row to the next one."""

db = SQLAlchemy(
    metadata=Model.metadata,
    session_options={"expire_on_commit": False},
    disable_autonaming=True,
)


class Begin(Enum):
    """How a transaction begins, and with which words on SQLite."""

    AS_WRITER = "BEGIN IMMEDIATE"
    """One that begins as a reader and then writes would lose against any other writer."""
    AS_READER = "BEGIN"
    NOT_AT_ALL = ""
    """Each statement is a transaction of its own."""


class _Written:
    times = 0


_begin: ContextVar[Begin] = ContextVar("begin", default=Begin.AS_READER)
_queues: dict[str, WriterQueue] = {}
"""By the database's file: applications in one process that share a database share its queue."""


def init_app(app: Flask) -> None:
    """Bind the handle to the application, whose connections get the settings relied on here."""
    db.init_app(app)
    with app.app_context():
        prepare_engine(db.engine)


def at_most(column: str, length: int) -> sa.CheckConstraint:
    """Let the database hold a text's length too: SQLite takes VARCHAR(n) for a hint."""
    return sa.CheckConstraint(f"length({column}) <= {length}", name=f"{column}_length")


def contains(text: str, *columns: sa.SQLColumnExpression[str | None]) -> sa.ColumnElement[bool]:
    """Whether one of the columns has the text in it, whatever its case.

    SQLite folds the case of ASCII letters only; its LIKE does so without any help.
    """
    if db.engine.dialect.name == "sqlite":
        return sa.or_(*(column.contains(text, autoescape=True) for column in columns))
    return sa.or_(*(column.icontains(text, autoescape=True) for column in columns))


def chunks(values: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    iterator = iter(values)
    while chunk := list(islice(iterator, size)):
        yield chunk


def prepare_engine(engine: sa.Engine) -> None:
    """Give every connection the transactions and time limits that this application relies on."""
    storage.watch(engine, writes=lambda: _begin.get() is Begin.AS_WRITER)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _on_sqlite_connect)
        event.listen(engine, "begin", _on_sqlite_begin)
    else:
        event.listen(engine, "engine_connect", _on_connection)


def lift_time_limits(connection: sa.Connection) -> None:
    """Let the transaction of this connection outlast the limits that are set for requests."""
    if connection.dialect.name == "postgresql":
        for limit in ("statement_timeout", "idle_in_transaction_session_timeout"):
            connection.exec_driver_sql(f"SET LOCAL {limit} = 0")


def refresh_statistics(engine: sa.Engine) -> None:
    """Let SQLite know how its tables have grown, by which it chooses indexes; others do it alone.

    Takes milliseconds, and is no reason not to go on where it can't be done.
    """
    if engine.dialect.name != "sqlite":
        return
    with suppress(DBAPIError), beginning(Begin.AS_WRITER), engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA analysis_limit = 1000")
        connection.exec_driver_sql("ANALYZE")


def _on_sqlite_connect(connection: sqlite3.Connection, _record: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # or sqlite3 would begin, late and on its own terms
    for pragma in (
        "synchronous = FULL",
        "foreign_keys = ON",
        "busy_timeout = 5000",
        "recursive_triggers = ON",
        "trusted_schema = OFF",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _on_connection(connection: sa.Connection) -> None:
    if _begin.get() is Begin.NOT_AT_ALL:
        connection.execution_options(isolation_level="AUTOCOMMIT")


def _on_sqlite_begin(connection: sa.Connection) -> None:
    begin = _begin.get()
    if begin is Begin.AS_WRITER:
        connection.exec_driver_sql(begin.value)  # which may find the database locked
    elif begin is Begin.AS_READER:
        connection.connection.cursor().execute(begin.value)  # which does not look at it yet


@contextmanager
def unit_of_work(*, writes: bool, snapshot: bool = True) -> Iterator[None]:
    """Commit what the block did, or nothing of it; but see ``DomainError.commits``.

    ``snapshot``: what the block reads is of one moment. Without it each statement reads for
    itself, which saves beginning and ending a transaction.
    """
    refusal: DomainError | None = None
    begin = Begin.AS_WRITER if writes else Begin.AS_READER if snapshot else Begin.NOT_AT_ALL
    with _writer_turn(writes=writes), beginning(begin):
        try:
            try:
                if writes and storage.must_check_schema(db.engine):
                    storage.check_schema(db.session.connection())
                yield
            except DomainError as error:
                if not error.commits:
                    raise
                refusal = error
            db.session.commit()
            _Written.times += writes
        except BaseException:
            db.session.rollback()
            raise
    if refusal is not None:
        raise refusal


@contextmanager
def beginning(begin: Begin) -> Iterator[None]:
    """Let transactions of the block begin in this way."""
    token = _begin.set(begin)
    try:
        yield
    finally:
        _begin.reset(token)


def times_written() -> int:
    """How often this process has committed a transaction that may have changed something."""
    return _Written.times


def must_wait_to_write() -> bool:
    """Whether a writer would have to wait: for another one, or for space on the disk."""
    is_busy = has_one_writer() and _writer_queue().is_busy()
    return is_busy or not storage.is_writable(db.engine)


@contextmanager
def _writer_turn(*, writes: bool) -> Iterator[None]:
    """Queue SQLite's writers fairly, over all processes."""
    if not writes or not has_one_writer():
        yield
        return
    queue = _writer_queue()
    try:
        turn = queue.acquire(LOCK_SECONDS)
    except OSError as error:  # the folder is missing, full or read-only
        storage.note_failed_write(db.engine)
        raise Unavailable from error
    if turn is None:
        raise Unavailable
    try:
        yield
    finally:
        queue.release(turn)


def _writer_queue() -> WriterQueue:
    file = str(db.engine.url.database)
    queue = _queues.get(file)
    return queue or _queues.setdefault(file, WriterQueue(Path(file)))


def transact(work: Callable[[], T], *, writes: bool, snapshot: bool = True) -> T:
    """Run ``work`` as one unit of work, and again if another transaction got in its way."""
    for attempt in range(1, TRIES + 1):
        try:
            with unit_of_work(writes=writes, snapshot=snapshot):
                return _unless_cut_off(work)
        except RetryTransaction as error:
            if attempt == TRIES:
                raise (error.__cause__ or error) from None
        except DBAPIError as error:
            if attempt == TRIES or not faults.is_deadlock(error):
                raise
    raise AssertionError  # the loop returns or raises


def _unless_cut_off(work: Callable[[], T]) -> T:
    """Start work again whose connection was lost: nothing of it was committed yet."""
    try:
        return work()
    except DBAPIError as error:
        if error.connection_invalidated:
            raise RetryTransaction from error
        raise


def rows(statement: sa.Executable, **parameters: Any) -> Sequence[Any]:
    """All rows of a statement that was built once, read past the ORM: a third of the time.

    For what is asked very often; columns only, since no objects are made.
    """
    return db.session.connection().execute(statement, parameters).all()


def save(instance: Model, *, if_taken: DomainError | RetryTransaction | None = None) -> None:
    """Add and flush: when this returns, defaults are set and constraints have spoken.

    Uniqueness is the database's to judge, so no check before can be raced past.
    """
    db.session.add(instance)
    flush(if_taken=if_taken)


def flush(*, if_taken: DomainError | RetryTransaction | None = None) -> None:
    """Send pending changes to the database; ``if_taken`` is what a unique constraint's no means."""
    try:
        db.session.flush()
    except IntegrityError as error:
        if if_taken is None or not faults.is_taken(error):
            raise
        raise if_taken from error


def insert_all(rows: list[dict[str, Any]], model: type[Model]) -> None:
    """Insert plain rows in bulk, past the ORM; every row must name the same columns."""
    if rows:
        db.session.connection().execute(_insert_into(model), rows)


@cache
def _insert_into(model: type[Model]) -> sa.Insert:
    return sa.insert(Model.metadata.tables[model.__tablename__])


def any_of(name: str) -> sa.BindParameter[Any]:
    """For ``column.in_(…)`` in a statement that is built once: a list of values to come."""
    return sa.bindparam(name, expanding=True)


def has_one_writer() -> bool:
    """Whether a transaction that writes is alone in doing so, and need not lock any row."""
    return db.engine.dialect.name == "sqlite"


def insert_if_absent(model: type[Model]) -> sqlite.Insert | postgresql.Insert:
    """INSERT … ON CONFLICT DO NOTHING."""
    return _insert_or(model).on_conflict_do_nothing()


def upsert(
    model: type[Model],
    *,
    add: tuple[str, ...] = (),
    latest: tuple[str, ...] = (),
    first: tuple[str, ...] = (),
) -> sqlite.Insert | postgresql.Insert:
    """INSERT, or where there is such a row: ``add`` to its numbers, replace what is ``latest``.

    What is latest is replaced only if its first column, a time, is not older. Of ``first``, the
    first value that is not NULL stays.
    """
    table, insert = Model.metadata.tables[model.__tablename__], _insert_or(model)
    new = insert.excluded
    values: dict[str, Any] = {name: table.c[name] + new[name] for name in add}
    for name in latest:
        is_newer = new[latest[0]] >= table.c[latest[0]]
        values[name] = sa.case((is_newer, new[name]), else_=table.c[name])
    for name in first:
        values[name] = sa.func.coalesce(table.c[name], new[name])
    key = [column.name for column in table.primary_key]
    return insert.on_conflict_do_update(index_elements=key, set_=values)


def _insert_or(model: type[Model]) -> sqlite.Insert | postgresql.Insert:
    """An INSERT that can say what to do on a conflict; SQLAlchemy has two for the same words."""
    return postgresql.insert(model) if not has_one_writer() else sqlite.insert(model)
