"""Move an instance into another database: copy, compare, and only then commit."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import REGCLASS

from app.core import migrations
from app.core.actor import COMMAND_LINE
from app.core.connections import Begin, beginning, lift_time_limits
from app.core.db import CHUNK, Model
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.core.events.service import EventPayload
from app.operations.upkeep.progress import OperationFailed, Progress
from app.operations.upkeep.table_digests import TableDigest, differing_tables, digest_tables


def move(source: sa.Engine, target: sa.Engine, progress: Progress) -> dict[str, TableDigest]:
    """Copy everything into an empty database, and commit the copy if the digests match.

    Until then ``source`` is locked against changes; nothing in it is deleted.

    Raises:
        OperationFailed: if the copy was not committed.

    """
    if not migrations.is_current(source):
        raise OperationFailed("Migrate this database first: flagstaff db upgrade")
    migrations.prepare(target)
    with (
        beginning(Begin.AS_WRITER),
        _long_transaction(source) as old,
        _long_transaction(target) as new,
    ):
        _refuse_unless_empty(new)
        _lock_against_writes(old)
        migrations.build(new)
        _copy(old, new, progress)
        moved = digest_tables(old)
        _refuse_unless_same(moved, digest_tables(new))
        _record(source, new, moved)
    return moved


@contextmanager
def _long_transaction(engine: sa.Engine) -> Iterator[sa.Connection]:
    """One transaction without time limits, rolled back after any error."""
    with engine.begin() as connection:
        lift_time_limits(connection)
        yield connection


def _refuse_unless_empty(new: sa.Connection) -> None:
    found = sorted(sa.inspect(new).get_table_names())
    if found:
        raise OperationFailed(
            f"The target is not empty: it has {len(found)} tables, such as {found[0]}. "
            "Nothing was changed. Choose an empty database."
        )


def _lock_against_writes(old: sa.Connection) -> None:
    """Lock PostgreSQL's tables; SQLite is locked since BEGIN IMMEDIATE."""
    if old.dialect.name == "postgresql":
        names = ", ".join(table.name for table in _tables())
        old.exec_driver_sql(f"LOCK TABLE {names} IN SHARE MODE")


def _copy(old: sa.Connection, new: sa.Connection, progress: Progress) -> None:
    """Copy every table and report the progress."""
    for table in reversed(_tables()):
        new.execute(sa.delete(table))  # rows that migrations create
    counts = ((table, sa.select(sa.func.count()).select_from(table)) for table in _tables())
    numbers: dict[sa.Table, int] = {table: old.scalar(count) or 0 for table, count in counts}
    for table, number in numbers.items():
        with progress(f"{table.name} {number:,}", number) as advance:
            query = sa.select(table).execution_options(yield_per=CHUNK)
            # References within a table may point to rows that come later, so they are copied last.
            later = {
                column.name: None
                for column in table.c
                if any(key.column.table is table for key in column.foreign_keys)
            }
            for rows in old.execute(query).partitions():
                new.execute(sa.insert(table), [row._asdict() | later for row in rows])
                advance(len(rows))
        for name in later:
            _copy_references(old, new, table, table.c[name])
        _continue_ids(old, new, table)


def _copy_references(
    old: sa.Connection, new: sa.Connection, table: sa.Table, column: sa.Column[Any]
) -> None:
    query = sa.select(table.c.id.label("row"), column.label("other")).where(column.is_not(None))
    update = sa.update(table).where(table.c.id == sa.bindparam("row"))
    for rows in old.execute(query.execution_options(yield_per=CHUNK)).partitions():
        new.execute(update.values({column: sa.bindparam("other")}), [row._asdict() for row in rows])


def _refuse_unless_same(moved: dict[str, TableDigest], found: dict[str, TableDigest]) -> None:
    """Refuse a copy that differs, so that it is rolled back."""
    if changed := differing_tables(moved, found):
        raise OperationFailed(
            f"The copy differs from this database, so it was discarded: {', '.join(changed)}."
        )


def _record(source: sa.Engine, new: sa.Connection, moved: dict[str, TableDigest]) -> None:
    """Record the move as an event in the new database."""
    url = source.url.set(drivername=source.url.get_backend_name())
    data = {
        "from": url.render_as_string(),
        "rows": sum(table.rows for table in moved.values()),
    }
    payload = EventPayload(data=data)
    events.record_all(COMMAND_LINE, EventType.DATABASE_MOVED, [payload], connection=new)


def _continue_ids(old: sa.Connection, new: sa.Connection, table: sa.Table) -> None:
    """Set the sequence to the last id of the old database, so that no id is used again."""
    if not table.dialect_options["sqlite"]["autoincrement"]:
        return
    last = _last_id(old, table)
    if not last:
        return
    if new.dialect.name == "postgresql":
        new.execute(sa.select(sa.func.setval(_sequence(table), last)))
    else:
        new.exec_driver_sql("DELETE FROM sqlite_sequence WHERE name = ?", (table.name,))
        new.exec_driver_sql("INSERT INTO sqlite_sequence VALUES (?, ?)", (table.name, last))


def _last_id(old: sa.Connection, table: sa.Table) -> int | None:
    """The last id that was ever used, None if none was."""
    last: int | None
    if old.dialect.name == "postgresql":
        last = old.scalar(sa.select(sa.func.pg_sequence_last_value(_sequence(table))))
    else:
        query = sa.text("SELECT seq FROM sqlite_sequence WHERE name = :name")
        last = old.scalar(query, {"name": table.name})
    return last


def _sequence(table: sa.Table) -> sa.ColumnElement[Any]:
    return sa.cast(sa.func.pg_get_serial_sequence(table.name, "id"), REGCLASS)


def _tables() -> list[sa.Table]:
    """All tables, each after those it references. Not a constant: models are imported later."""
    return Model.metadata.sorted_tables
