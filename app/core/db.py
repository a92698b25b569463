"""The database handle, the model base, and the one place that commits."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from functools import cache
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

import sqlalchemy as sa
from flask import Flask, current_app, has_app_context
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.orm import DeclarativeBase, Session, SessionTransaction

from app.core import faults, storage
from app.core.columns import RoleColumn, UtcDateTime, enum_of
from app.core.config import COMMITTED
from app.core.connections import Begin, beginning, can_write, prepare_engine
from app.core.errors import DomainError, Unavailable
from app.core.locks import WriterQueue
from app.core.permissions import Role
from app.core.words import camel_case

T = TypeVar("T")
Q = TypeVar("Q", bound=sa.Select[*tuple[Any, ...]])

CHUNK = 1_000
"""Values in one IN (…): far below what any supported database refuses."""

MAX_ID = 2**31 - 1
"""Largest id in a column. PostgreSQL fails even when it compares an id with a larger number."""

_CHECK = "flagstaff.check"
_WRITE_LOG = "flagstaff.write_log"
_ONCE = "once"

TRIES = 3
LOCK_SECONDS = 5.0


class RetryTransaction(Exception):
    """Another transaction was first. A retry sees its changes."""


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
        """Values of the ``recorded`` columns, by their names in the API, for the event log."""
        return {camel_case(name): getattr(self, name) for name in self.recorded}


NEVER_REUSE_IDS = {"sqlite_autoincrement": True}
"""For ``__table_args__``: SQLite would give the id of the last deleted row to the next one."""

db = SQLAlchemy(
    metadata=Model.metadata,
    session_options={"expire_on_commit": False},
    disable_autonaming=True,
)


class _Written:
    """How many transactions this process has committed that may have changed something."""

    times = 0


_queues: dict[str, WriterQueue] = {}
"""By database file: applications in one process that share a database share its queue."""


def init_app(app: Flask, *, check: Callable[[], None], write_log: Callable[[], None]) -> None:
    """Bind the handle to the application and configure its connections.

    ``check``: called before each commit; refuses it with a ``DomainError``. ``write_log``: writes
    the events of the transaction; called before each commit and each statement about events.
    """

    def on_statement(_connection: sa.Connection, _cursor: object, text: str, *_: object) -> None:
        if not has_app_context():
            return
        if "event" in text:
            write_log()
        if not text.startswith("SELECT") or " FOR " in text:
            db.session.info.pop(_ONCE, None)

    db.init_app(app)
    app.extensions[_CHECK], app.extensions[_WRITE_LOG] = check, write_log
    with app.app_context():
        for engine in db.engines.values():
            prepare_engine(engine)
        event.listen(db.engine, "before_cursor_execute", on_statement)


def check_changes() -> None:
    """Check what this transaction has changed so far.

    ``unit_of_work`` does so before it commits. Call it where a refusal must come earlier.
    """
    current_app.extensions[_CHECK]()


def _complete() -> None:
    """Do what belongs before the commit. A second time it finds nothing to do."""
    check_changes()
    current_app.extensions[_WRITE_LOG]()


@contextmanager
def committed() -> Iterator[sa.Connection]:
    """A second connection, which reads the state before this transaction's changes."""
    with beginning(Begin.AS_READER), db.engines[COMMITTED].connect() as connection:
        yield connection


@event.listens_for(db.session, "after_transaction_end")
def _forget_notes(session: Session, transaction: SessionTransaction) -> None:
    """Forget what was noted about a transaction in ``db.session.info``."""
    if transaction.parent is None:
        session.info.clear()


def at_most(column: str, length: int) -> sa.CheckConstraint:
    """CHECK of a text's length, since SQLite doesn't enforce VARCHAR(n)."""
    return sa.CheckConstraint(f"length({column}) <= {length}", name=f"{column}_length")


def contains(text: str, *columns: sa.SQLColumnExpression[str | None]) -> sa.ColumnElement[bool]:
    """Whether one of the columns contains the text, ignoring case.

    SQLite's LIKE ignores the case by itself, but of ASCII letters only.
    """
    if db.engine.dialect.name == "sqlite":
        return sa.or_(*(column.contains(text, autoescape=True) for column in columns))
    return sa.or_(*(column.icontains(text, autoescape=True) for column in columns))


def chunks(values: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    iterator = iter(values)
    while chunk := list(islice(iterator, size)):
        yield chunk


def locked(query: Q, **how: Any) -> Q:
    """The query with FOR UPDATE, unless the transaction only reads: then it can't lock rows.

    Objects that the session knows already get their present values. ``how``: arguments of
    ``with_for_update``.
    """
    if not can_write():
        return query
    return query.with_for_update(**how).execution_options(populate_existing=True)


@contextmanager
def unit_of_work(*, writes: bool, snapshot: bool = True) -> Iterator[None]:
    """Commit the block's changes, or roll them back on an error, except ``DomainError.commits``.

    ``snapshot``: all reads of the block see one state of the database. Without it, each statement
    sees the latest state, which saves BEGIN and COMMIT.

    On return, the changes survive a power failure. While the disk confirms them, the next writer
    of SQLite has its turn.
    """
    refusal: DomainError | None = None
    begin = Begin.AS_WRITER if writes else Begin.AS_READER if snapshot else Begin.NOT_AT_ALL
    with _writer_turn(writes=writes), beginning(begin):
        try:
            try:
                if writes:
                    db.session.expire_all()  # what an earlier transaction has read
                    if storage.must_check_schema(db.engine):
                        storage.check_schema(db.session.connection())
                yield
            except DomainError as error:
                if not error.commits:
                    raise
                refusal = error
            if writes:
                _complete()
            db.session.commit()
            _Written.times += writes
        except BaseException:
            db.session.rollback()
            raise
    if writes:
        storage.sync(db.engine)
    if refusal is not None:
        raise refusal


def once(key: Hashable, read: Callable[[], T], *, locks: bool = False) -> T:
    """Result of ``read``, asked for once until this transaction writes or locks rows.

    Use it where several services ask the same, each of them by itself. ``locks``: ``read`` locks
    rows, so it is left out only where rows need no lock.
    """
    session = db.session
    if can_write() and (session.new or session.dirty or session.deleted):
        return read()  # which writes what is pending first
    known: dict[Hashable, T] = session.info.get(_ONCE, {})
    if key in known and not (locks and can_write() and not has_one_writer()):
        return known[key]
    found = read()
    session.info.setdefault(_ONCE, {})[key] = found
    return found


def one_or_none(
    query: sa.Select[T], *key: Hashable, for_change: bool = False, **how: Any
) -> T | None:
    """The object of a query, read ``once`` by this key.

    ``for_change``: ``locked``, so that it is as it is now. ``how``: arguments of ``locked``.
    """
    return once(
        key,
        lambda: db.session.scalar(locked(query, **how) if for_change else query),
        locks=for_change,
    )


def by_id(model: type[T], id: Hashable, *, for_change: bool = False) -> T | None:
    """The object with this primary key, unless the session has it already; see ``one_or_none``."""
    return once(
        (model, id),
        lambda: db.session.get(
            model, id, populate_existing=for_change, with_for_update=for_change and can_write()
        ),
        locks=for_change,
    )


def times_written() -> int:
    """How many transactions this process has committed that may have changed something."""
    return _Written.times


def must_wait_to_write() -> bool:
    """Whether a writer would have to wait: for another one, or for space on the disk."""
    is_busy = has_one_writer() and _writer_queue().is_busy()
    return is_busy or not storage.is_writable(db.engine)


@contextmanager
def _writer_turn(*, writes: bool) -> Iterator[None]:
    """Wait in the queue of SQLite's writers, over all processes; then run the block."""
    if not writes or not has_one_writer():
        yield
        return
    queue = _writer_queue()
    try:
        lock = queue.acquire(LOCK_SECONDS)
    except OSError as error:  # the folder is missing, full or read-only
        storage.note_failed_write(db.engine)
        raise Unavailable from error
    if lock is None:
        raise Unavailable
    try:
        yield
    finally:
        queue.release(lock)


def _writer_queue() -> WriterQueue:
    file = str(db.engine.url.database)
    queue = _queues.get(file)
    return queue or _queues.setdefault(file, WriterQueue(Path(file)))


def transact(work: Callable[[], T], *, writes: bool, snapshot: bool = True) -> T:
    """Run ``work`` as one unit of work; retry if another transaction interfered."""

    def whole() -> T:
        result = work()
        if writes:
            _complete()
        return result

    for attempt in range(1, TRIES + 1):
        try:
            with unit_of_work(writes=writes, snapshot=snapshot):
                return _retry_if_disconnected(whole)
        except RetryTransaction as error:
            if attempt == TRIES:
                raise (error.__cause__ or error) from None
        except DBAPIError as error:
            if attempt == TRIES or not faults.is_deadlock(error):
                raise
    raise AssertionError  # the loop returns or raises


def _retry_if_disconnected(work: Callable[[], T]) -> T:
    """Ask for a retry if the connection was lost: nothing was committed yet."""
    try:
        return work()
    except DBAPIError as error:
        if error.connection_invalidated:
            raise RetryTransaction from error
        raise


def rows(statement: sa.Executable, **parameters: Any) -> Sequence[Any]:
    """All rows of a statement that selects columns, read past the ORM in a third of the time.

    For one that is built once, ``Prepared`` takes less.
    """
    return db.session.connection().execute(statement, parameters).all()


def save(instance: Model, *, if_taken: DomainError | RetryTransaction | None = None) -> None:
    """Add and flush: on return, defaults are set and constraints are checked.

    The database checks uniqueness, so no other transaction can slip in between check and INSERT.
    """
    db.session.add(instance)
    flush(if_taken=if_taken)


def flush(*, if_taken: DomainError | RetryTransaction | None = None) -> None:
    """Send pending changes to the database. ``if_taken``: error if a unique value is taken."""
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
    """Parameter for ``column.in_(…)`` in a prebuilt statement; takes a list of values."""
    return sa.bindparam(name, expanding=True)


def has_one_writer() -> bool:
    """Whether only one transaction can write at a time (SQLite), so that rows need no lock."""
    return db.engine.dialect.name == "sqlite"


def insert_if_absent(model: type[Model]) -> sqlite.Insert | postgresql.Insert:
    """INSERT … ON CONFLICT DO NOTHING."""
    return _insert_or(model).on_conflict_do_nothing()


def upsert(
    model: type[Model],
    *,
    add: tuple[str, ...] = (),
    latest: Iterable[tuple[str, ...]] = (),
    first: tuple[str, ...] = (),
    since: Mapping[str, str] = MappingProxyType({}),
) -> sqlite.Insert | postgresql.Insert:
    """Upsert. On conflict add the ``add`` columns, overwrite ``latest`` if newer, keep ``first``.

    The first column of each group in ``latest`` is a time; all of the group are overwritten unless
    it is older, or NULL. A column of ``first`` is set only while it is NULL. ``since``: columns of
    times in a group, each with the column since when it has its value.
    """
    table, insert = Model.metadata.tables[model.__tablename__], _insert_or(model)
    new = insert.excluded
    values: dict[str, Any] = {name: table.c[name] + new[name] for name in add}
    for group in latest:
        time = group[0]
        is_newer = sa.func.coalesce(new[time] >= table.c[time], table.c[time].is_(None))
        for name in group:
            has_begun: sa.ColumnElement[bool] = is_newer
            if (what := since.get(name)) is not None:
                has_begun = sa.and_(is_newer, new[what].is_distinct_from(table.c[what]))
            values[name] = sa.case((has_begun, new[name]), else_=table.c[name])
    for name in first:
        values[name] = sa.func.coalesce(table.c[name], new[name])
    key = [column.name for column in table.primary_key]
    return insert.on_conflict_do_update(index_elements=key, set_=values)


def _insert_or(model: type[Model]) -> sqlite.Insert | postgresql.Insert:
    """INSERT of the dialect: SQLAlchemy's generic one has no ON CONFLICT."""
    return postgresql.insert(model) if not has_one_writer() else sqlite.insert(model)
