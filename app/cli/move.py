"""Moving a whole instance into another database: copied, compared, and only then kept."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import REGCLASS

from app.cli.instance import opened
from app.cli.tallies import Tally, differing, tallies
from app.config import WrongSetting, from_environment
from app.core import migrations
from app.core.db import CHUNK, Model, db, take_time, writing

TABLES = Model.metadata.sorted_tables
"""In an order in which each comes after those that it refers to."""


@click.command()
@click.option("--to", "url", required=True, metavar="URL", help="The database to move into.")
def move(url: str) -> None:
    """Copy this instance into an empty database, compare, and keep the copy if all is there.

    Takes sqlite:///FILE and postgresql://USER:PASSWORD@HOST/DATABASE. Meanwhile nobody can change
    anything here. Nothing is deleted here; afterwards set FLAGSTAFF_DATABASE_URL to the new one.
    """
    try:
        settings = from_environment(os.environ | {"FLAGSTAFF_DATABASE_URL": url})
    except WrongSetting as error:
        raise click.BadParameter(str(error), param_hint="--to") from None
    with opened() as here:
        if settings.database_url == here.database_url:
            raise click.BadParameter("That is this very database.", param_hint="--to")
        source = db.engine
        if not migrations.is_current(source):
            raise click.ClickException("Migrate this database first: flagstaff db upgrade")
        with opened(settings):
            moved = _move(source, db.engine)
    total = sum(tally.rows for tally in moved.values())
    click.echo(f"Moved {total:,} rows of {len(moved)} tables; counts and digests agree.")


def _move(source: sa.Engine, target: sa.Engine) -> dict[str, Tally]:
    migrations.prepare(target)
    with writing(), _held(source) as old, _held(target) as new:
        _refuse_unless_empty(new)
        _keep_writers_out(old)
        migrations.build(new)
        _copy(old, new)
        moved = tallies(old)
        _refuse_unless_same(moved, tallies(new))
    return moved


@contextmanager
def _held(engine: sa.Engine) -> Iterator[sa.Connection]:
    """One transaction that may take its time; rolled back if anything at all goes wrong."""
    with engine.begin() as connection:
        take_time(connection)
        yield connection


def _refuse_unless_empty(new: sa.Connection) -> None:
    found = sorted(sa.inspect(new).get_table_names())
    if found:
        raise click.ClickException(
            f"The target is not empty: it has {len(found)} tables, {found[0]} among them. "
            "Nothing was changed; name a new database."
        )


def _keep_writers_out(old: sa.Connection) -> None:
    """SQLite has done so with BEGIN IMMEDIATE."""
    if old.dialect.name == "postgresql":
        names = ", ".join(table.name for table in TABLES)
        old.exec_driver_sql(f"LOCK TABLE {names} IN SHARE MODE")


def _copy(old: sa.Connection, new: sa.Connection) -> None:
    """Copy every table, telling how far it is."""
    for table in reversed(TABLES):
        new.execute(sa.delete(table))  # what the migrations put into a new instance
    counts = ((table, sa.select(sa.func.count()).select_from(table)) for table in TABLES)
    numbers: dict[sa.Table, int] = {table: old.scalar(count) or 0 for table, count in counts}
    for table, number in numbers.items():
        label = f"{table.name} {number:,}"
        with click.progressbar(length=number, label=label, show_pos=True) as progress:
            query = sa.select(table).execution_options(yield_per=CHUNK)
            for rows in old.execute(query).partitions():
                new.execute(sa.insert(table), [row._asdict() for row in rows])
                progress.update(len(rows))
        _go_on_counting(old, new, table)


def _refuse_unless_same(moved: dict[str, Tally], found: dict[str, Tally]) -> None:
    """Nothing is kept of a copy in which anything differs."""
    if wrong := differing(moved, found):
        raise click.ClickException(
            f"The copy differs, so it was not kept. Not as it is here: {', '.join(wrong)}."
        )


def _go_on_counting(old: sa.Connection, new: sa.Connection, table: sa.Table) -> None:
    """Let the new database never give an id that the old one has given, even to a deleted row."""
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
    """The last id that was ever given; None if none was."""
    last: int | None
    if old.dialect.name == "postgresql":
        last = old.scalar(sa.select(sa.func.pg_sequence_last_value(_sequence(table))))
    else:
        query = sa.text("SELECT seq FROM sqlite_sequence WHERE name = :name")
        last = old.scalar(query, {"name": table.name})
    return last


def _sequence(table: sa.Table) -> sa.ColumnElement[Any]:
    return sa.cast(sa.func.pg_get_serial_sequence(table.name, "id"), REGCLASS)
