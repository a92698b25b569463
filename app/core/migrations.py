"""Migrating a database to the schema this version needs."""

import time

import sqlalchemy as sa

from app.core.connections import Begin, beginning
from app.core.db import LOCK_SECONDS
from app.core.files import MIGRATIONS, revisions

_LOCK = 0x666C6167  # "flag": the advisory lock on PostgreSQL while the schema changes


class WrongSchema(Exception):
    """A newer version or another application created the database."""


def current(engine: sa.Engine) -> str | None:
    """The database's revision, None before the first migration."""
    with engine.connect() as connection:
        return _current(connection)


def is_current(engine: sa.Engine) -> bool:
    return current(engine) == revisions()[-1]


def upgrade(engine: sa.Engine) -> None:
    """Migrate to the newest revision; if several processes start at once, one does it.

    Raises:
        WrongSchema: when a newer version or another application created the database.

    """
    if is_current(engine):
        return
    prepare(engine)
    with beginning(Begin.AS_WRITER), engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        found = _current(connection)
        if found is not None and found not in revisions():
            raise WrongSchema(
                f"The database is at revision {found}, but this version of Flagstaff knows "
                f"revisions up to {revisions()[-1]}. Install the version that created it, or a "
                "newer one."
            )
        if found is None and (foreign := foreign_tables(connection)):
            raise WrongSchema(
                f"The database has tables of another application, such as {min(foreign)}. "
                "Choose an empty database: FLAGSTAFF_DATABASE_URL."
            )
        if found != revisions()[-1]:
            build(connection)


def build(connection: sa.Connection, *, to: str = "head") -> None:
    """Migrate within this connection's transaction, up to the given revision."""
    from alembic import command, config  # noqa: PLC0415 - a tenth of a second that most starts save

    settings = config.Config()
    settings.set_main_option("script_location", str(MIGRATIONS))
    settings.attributes["connection"] = connection
    command.upgrade(settings, to)


def foreign_tables(connection: sa.Connection) -> set[str]:
    """The tables in a database without a revision, which then belong to another application."""
    return {*sa.inspect(connection).get_table_names()} - {"alembic_version"}


def _current(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    return revision


def prepare(engine: sa.Engine) -> None:
    """Turn on SQLite's write-ahead log, which must happen outside of any transaction.

    SQLite does not wait for other processes here, so this does.
    """
    if engine.dialect.name != "sqlite":
        return
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        connection = engine.raw_connection()
        try:
            connection.cursor().execute("PRAGMA journal_mode = WAL")
        except Exception as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return
        finally:
            connection.close()
