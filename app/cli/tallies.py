"""Counting and digesting all rows of a database, by which two of them are known to be the same."""

import json
import sys
from hashlib import sha256
from typing import Any, NamedTuple

import click
import sqlalchemy as sa

from app.core.db import CHUNK

REVISION = "alembic_version"


class Tally(NamedTuple):
    """How many rows a table has, and a digest of them (64 hex digits) that no order changes."""

    rows: int
    digest: str


def tallies(connection: sa.Connection, *, quiet: bool = False) -> dict[str, Tally]:
    """Every table as the database itself describes it, so of any revision; by name.

    The revision is not among them: it is said beside.
    What is the same on SQLite and on PostgreSQL has the same digest. Progress is told to a
    terminal alone, and not if ``quiet``.
    """
    found = sa.MetaData()
    found.reflect(connection)
    tables = (table for table in found.sorted_tables if table.name != REVISION)
    return {table.name: _tally(connection, table, quiet=quiet) for table in tables}


def digest_of(found: dict[str, Tally]) -> str:
    """One digest for all tables together."""
    return sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def differing(some: dict[str, Tally], others: dict[str, Tally]) -> list[str]:
    """The tables that are not the same in both, or are in one alone."""
    return sorted(name for name in {*some, *others} if some.get(name) != others.get(name))


def _tally(connection: sa.Connection, table: sa.Table, *, quiet: bool) -> Tally:
    count = connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0
    query = sa.select(table).execution_options(yield_per=CHUNK)
    total = 0
    with click.progressbar(
        length=count,
        label=f"{table.name} {count:,}",
        show_pos=True,
        hidden=quiet or not sys.stdout.isatty(),
    ) as progress:
        for rows in connection.execute(query).partitions():
            total = _add_up(total, rows)
            progress.update(len(rows))
    return Tally(count, f"{total:064x}")


def _add_up(total: int, rows: Any) -> int:
    """Adding keeps it independent of the order, which databases do not promise."""
    for row in rows:
        text = json.dumps(tuple(row), sort_keys=True, default=repr)
        total += int.from_bytes(sha256(text.encode()).digest())
    return total % 2**256
