"""The database handle, the model base, and the one place that commits."""

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from itertools import islice
from typing import Any, TypeVar

import sqlalchemy as sa
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.pool import ConnectionPoolEntry

from app.core import faults
from app.core.columns import RoleColumn, UtcDateTime, enum_of
from app.core.errors import DomainError, Unavailable
from app.core.permissions import Role

T = TypeVar("T")

CHUNK = 1_000
"""Values in one IN (…): far below what any supported database refuses."""

MAX_ID = 2**31 - 1
"""The greatest id a database can hold; PostgreSQL refuses to even compare one with a greater."""

TRIES = 3
LOCK_SECONDS = 5.0


class Again(Exception):
    """Another transaction came first; begun anew, this one will see what it did."""


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
    type_annotation_map = {  # noqa: RUF012 - read by SQLAlchemy as it stands
        datetime: UtcDateTime,
        dict[str, Any]: sa.JSON(none_as_null=True),
        Role: RoleColumn,
        StrEnum: enum_of(StrEnum),
    }


NEVER_REUSE_IDS = {"sqlite_autoincrement": True}
"""For ``__table_args__``: SQLite would give the id of the last deleted row to the next one."""

db = SQLAlchemy(
    metadata=Model.metadata,
    session_options={"expire_on_commit": False},
    disable_autonaming=True,
)

_writing: ContextVar[bool] = ContextVar("writing", default=False)
_one_writer = threading.Lock()


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


def utcnow() -> datetime:
    """Now, in the precision that the API shows: what is compared is what was read."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def chunks(values: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    iterator = iter(values)
    while chunk := list(islice(iterator, size)):
        yield chunk


def prepare_engine(engine: sa.Engine) -> None:
    """Give every connection the transactions and time limits that this application relies on."""
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _on_sqlite_connect)
        event.listen(engine, "begin", _on_sqlite_begin)


def take_time(connection: sa.Connection) -> None:
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
    with suppress(DBAPIError), writing(), engine.begin() as connection:
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


def _on_sqlite_begin(connection: sa.Connection) -> None:
    # A transaction that begins as a reader and then writes would lose against any other writer.
    if _writing.get():
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # which may find the database locked
    else:
        connection.connection.cursor().execute("BEGIN")  # which does not look at it yet


@contextmanager
def unit_of_work(*, writes: bool) -> Iterator[None]:
    """Commit what the block did, or nothing of it; but see ``DomainError.keeps_changes``."""
    refusal: DomainError | None = None
    with _writer_turn(writes=writes), writing(on=writes):
        try:
            try:
                yield
            except DomainError as error:
                if not error.keeps_changes:
                    raise
                refusal = error
            db.session.commit()
        except BaseException:
            db.session.rollback()
            raise
    if refusal is not None:
        raise refusal


@contextmanager
def writing(*, on: bool = True) -> Iterator[None]:
    """Let transactions that begin in the block be writers from their first moment (SQLite)."""
    token = _writing.set(on)
    try:
        yield
    finally:
        _writing.reset(token)


def must_wait_to_write() -> bool:
    """Whether somebody else is writing just now, and a writer would have to wait for him."""
    return has_one_writer() and _one_writer.locked()


@contextmanager
def _writer_turn(*, writes: bool) -> Iterator[None]:
    """Queue SQLite's writers fairly here: its own waiting is by sleeping, and starves some."""
    if not writes or not has_one_writer():
        yield
        return
    if not _one_writer.acquire(timeout=LOCK_SECONDS):
        raise Unavailable
    try:
        yield
    finally:
        _one_writer.release()


def transact(work: Callable[[], T], *, writes: bool) -> T:
    """Run ``work`` as one unit of work, anew if another transaction got in its way."""
    for attempt in range(1, TRIES + 1):
        try:
            with unit_of_work(writes=writes):
                return _unless_cut_off(work)
        except Again as error:
            if attempt == TRIES:
                raise (error.__cause__ or error) from None
        except DBAPIError as error:
            if attempt == TRIES or not faults.is_deadlock(error):
                raise
    raise AssertionError  # the loop returns or raises


def _unless_cut_off(work: Callable[[], T]) -> T:
    """Have work begun anew whose connection was lost: nothing of it was committed yet."""
    try:
        return work()
    except DBAPIError as error:
        if error.connection_invalidated:
            raise Again from error
        raise


def rows(statement: sa.Executable, **parameters: Any) -> Sequence[Any]:
    """All rows of a statement that was built once, read past the ORM: a third of the time.

    For what is asked very often; columns only, since no objects are made.
    """
    return db.session.connection().execute(statement, parameters).all()


def save(instance: Model, *, if_taken: DomainError | Again | None = None) -> None:
    """Add and flush: when this returns, defaults are set and constraints have spoken.

    Uniqueness is the database's to judge, so no check before can be raced past.
    """
    db.session.add(instance)
    flush(if_taken=if_taken)


def flush(*, if_taken: DomainError | Again | None = None) -> None:
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
    """INSERT … ON CONFLICT DO NOTHING; the databases agree on the words, SQLAlchemy has two."""
    if db.engine.dialect.name == "postgresql":
        return postgresql.insert(model).on_conflict_do_nothing()
    return sqlite.insert(model).on_conflict_do_nothing()
