"""Bringing a database to the schema that this code needs."""

import time

import sqlalchemy as sa

from app.core.db import LOCK_SECONDS, writing
from app.core.files import MIGRATIONS

_LOCK = 0x666C6167  # "flag": the advisory lock on PostgreSQL while the schema changes


class WrongSchema(Exception):
    """The database was made by a newer version, or by something else."""


def known() -> list[str]:
    """The revisions of this code, oldest first; a file is named for its own: 0001_….py."""
    return sorted(path.name.split("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))


def current(engine: sa.Engine) -> str | None:
    """The database's revision, None where no migration ever ran."""
    with engine.connect() as connection:
        return _current(connection)


def is_current(engine: sa.Engine) -> bool:
    return current(engine) == known()[-1]


def upgrade(engine: sa.Engine) -> None:
    """Migrate to the newest revision; of several processes at once, one does and the others wait.

    Raises:
        WrongSchema: when the database is ahead of this code.

    """
    if is_current(engine):
        return
    prepare(engine)
    with writing(), engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        found = _current(connection)
        if found is not None and found not in known():
            raise WrongSchema(
                f"The database is at revision {found}, this version of Flagstaff knows up to "
                f"{known()[-1]}. Install the version that made it, or a newer one."
            )
        if found != known()[-1]:
            build(connection)


def build(connection: sa.Connection, *, to: str = "head") -> None:
    """Migrate in the transaction of this connection, up to one revision."""
    from alembic import command, config  # noqa: PLC0415 - a tenth of a second that most starts save

    settings = config.Config()
    settings.set_main_option("script_location", str(MIGRATIONS))
    settings.attributes["connection"] = connection
    command.upgrade(settings, to)


def _current(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    return revision


def prepare(engine: sa.Engine) -> None:
    """Let a SQLite file have a write-ahead log: once, and outside of any transaction.

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
