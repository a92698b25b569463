"""Connections to the database: how their transactions begin, and their settings."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from enum import Enum
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry

from app.core import storage

_ONLY_READS = "flagstaff.only_reads"


class Begin(Enum):
    """How a transaction begins. The value is the statement on SQLite."""

    AS_WRITER = "BEGIN IMMEDIATE"
    """Lock at once: a reader that starts to write fails if anyone has written since it began."""
    AS_READER = "BEGIN"
    """The database refuses to write."""
    NOT_AT_ALL = ""
    """Each statement is a transaction of its own, and only reads."""
    AS_EITHER = "BEGIN DEFERRED"
    """For migrations and tests, which use an engine themselves."""


_begin: ContextVar[Begin] = ContextVar("begin", default=Begin.AS_EITHER)


@contextmanager
def beginning(begin: Begin) -> Iterator[None]:
    """Begin the block's transactions in this way."""
    token = _begin.set(begin)
    try:
        yield
    finally:
        _begin.reset(token)


def can_write() -> bool:
    """Whether the present transaction can write."""
    return _begin.get() not in {Begin.AS_READER, Begin.NOT_AT_ALL}


def prepare_engine(engine: sa.Engine) -> None:
    """Give every connection the transactions and time limits that this application relies on."""
    storage.watch(engine, writes=lambda: _begin.get() is Begin.AS_WRITER)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _on_sqlite_connect)
        event.listen(engine, "begin", _on_sqlite_begin)
    else:
        event.listen(engine, "engine_connect", _on_connection)
        event.listen(engine, "checkin", _on_checkin)


def lift_time_limits(connection: sa.Connection) -> None:
    """Disable the time limits of requests for this connection's transaction."""
    if connection.dialect.name == "postgresql":
        for limit in ("statement_timeout", "idle_in_transaction_session_timeout"):
            connection.exec_driver_sql(f"SET LOCAL {limit} = 0")


def refresh_statistics(engine: sa.Engine) -> None:
    """Update the statistics by which SQLite chooses indexes. PostgreSQL does so by itself.

    Takes milliseconds. If it fails, the old statistics stay in use.
    """
    if engine.dialect.name != "sqlite":
        return
    with suppress(DBAPIError), beginning(Begin.AS_WRITER), engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA analysis_limit = 1000")  # rows of each index
        connection.exec_driver_sql("ANALYZE")


def _on_sqlite_connect(connection: sqlite3.Connection, _record: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # or sqlite3 would begin transactions itself, too late
    [mode] = connection.execute("PRAGMA journal_mode").fetchone()
    for pragma in (
        # With a write-ahead log, unit_of_work confirms a commit after the writer's turn.
        f"synchronous = {'NORMAL' if mode == 'wal' else 'FULL'}",
        "foreign_keys = ON",
        "busy_timeout = 5000",
        "recursive_triggers = ON",  # or REPLACE would not fire the trigger that keeps events
        "trusted_schema = OFF",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _on_connection(connection: sa.Connection) -> None:
    if _begin.get() is Begin.NOT_AT_ALL:
        connection.execution_options(isolation_level="AUTOCOMMIT")
    elif _begin.get() is Begin.AS_READER:
        connection.execution_options(postgresql_readonly=True)


def _on_checkin(connection: Any, _record: ConnectionPoolEntry) -> None:
    """Leave it to the database whether the next transaction can write: it may allow only reading.

    After a transaction that only read, SQLAlchemy begins the others with READ WRITE.
    """
    if connection is not None and not connection.closed and connection.read_only is False:
        connection.read_only = None


def _on_sqlite_begin(connection: sa.Connection) -> None:
    begin, only_reads = _begin.get(), not can_write()
    if connection.info.get(_ONLY_READS, False) is not only_reads:
        connection.info[_ONLY_READS] = only_reads
        connection.connection.cursor().execute(f"PRAGMA query_only = {only_reads}")
    if begin is Begin.AS_WRITER:
        connection.exec_driver_sql(begin.value)  # reports a locked database as SQLAlchemy's error
    elif begin is not Begin.NOT_AT_ALL:
        connection.connection.cursor().execute(begin.value)  # takes no lock yet
