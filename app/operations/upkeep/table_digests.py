"""Counts and digests of all tables, to tell whether two databases have the same content."""

import json
from hashlib import sha256
from typing import NamedTuple

import sqlalchemy as sa

from app.core.db import CHUNK
from app.operations.upkeep.progress import Progress, silent

REVISION = "alembic_version"


class TableDigest(NamedTuple):
    """Number of a table's rows and a digest (64 hex digits) that ignores their order."""

    rows: int
    digest: str


def digest_tables(connection: sa.Connection, progress: Progress = silent) -> dict[str, TableDigest]:
    """The digest of every table by name, except the one with the schema revision.

    Reflects the tables from the database, so it works for any revision. Equal content has equal
    digests on SQLite and PostgreSQL.
    """
    schema = sa.MetaData()
    schema.reflect(connection)
    tables = (table for table in schema.sorted_tables if table.name != REVISION)
    return {table.name: _digest_table(connection, table, progress) for table in tables}


def combined_digest(found: dict[str, TableDigest]) -> str:
    """One digest for all tables."""
    return sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()


def differing_tables(some: dict[str, TableDigest], others: dict[str, TableDigest]) -> list[str]:
    """The names of tables that differ or are in only one of the two."""
    return sorted(name for name in {*some, *others} if some.get(name) != others.get(name))


def _digest_table(connection: sa.Connection, table: sa.Table, progress: Progress) -> TableDigest:
    count = connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0
    query = sa.select(table).execution_options(yield_per=CHUNK)
    total = 0
    with progress(f"{table.name} {count:,}", count) as advance:
        for rows in connection.execute(query).partitions():
            for row in rows:
                text = json.dumps(tuple(row), sort_keys=True, default=repr)
                # Unlike a hash of all rows, the sum of their digests ignores the order.
                total += int.from_bytes(sha256(text.encode()).digest())
            advance(len(rows))
    return TableDigest(count, f"{total % 2**256:064x}")
