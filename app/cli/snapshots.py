"""Copying a whole database into a file while others write to it, and back into an empty one."""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol

import click
import sqlalchemy as sa

from app.cli.tallies import Tally, tallies
from app.core.db import take_time


class Snapshots(Protocol):
    """What is done in one way on SQLite and in another on PostgreSQL."""

    file_name: str

    def save(self, engine: sa.Engine, file: Path, *, quiet: bool) -> dict[str, Tally]:
        """Write the database as it is at one moment to ``file``; what is in it."""

    def check(self, file: Path, *, quiet: bool) -> dict[str, Tally] | None:
        """Read the file; what is in it, if that can be told without restoring it."""

    def load(self, url: sa.URL, file: Path, *, quiet: bool) -> dict[str, Tally]:
        """Make an empty database what ``file`` says; what it has then."""


class _Sqlite:
    file_name = "flagstaff.db"

    def save(self, engine: sa.Engine, file: Path, *, quiet: bool) -> dict[str, Tally]:
        with closing(engine.raw_connection()) as connection:  # no transaction may be open
            connection.cursor().execute("VACUUM INTO ?", (str(file),))
        return self.check(file, quiet=quiet)

    def check(self, file: Path, *, quiet: bool) -> dict[str, Tally]:
        with _connected(sa.make_url(f"sqlite:///{file.absolute()}")) as connection:
            for check, good in (("integrity_check", "ok"), ("foreign_key_check", None)):
                found = connection.exec_driver_sql(f"PRAGMA {check}").scalar()
                if found != good:
                    raise click.ClickException(f"The copy of the database is damaged: {found}.")
            return tallies(connection, quiet=quiet)

    def load(self, url: sa.URL, file: Path, *, quiet: bool) -> dict[str, Tally]:
        target = Path(str(url.database))
        partial = target.with_name(f"{target.name}.restoring")
        try:
            shutil.copyfile(file, partial)
            found = self.check(partial, quiet=quiet)
            with closing(sqlite3.connect(partial)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")  # as migrations.prepare has it
            with partial.open("rb") as copied:
                os.fsync(copied.fileno())
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
        return found


class _Postgresql:
    """By PostgreSQL's own tools, which must be as new as the server."""

    file_name = "flagstaff.pgdump"

    def save(self, engine: sa.Engine, file: Path, *, quiet: bool) -> dict[str, Tally]:
        with engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection:
            take_time(connection)
            moment = connection.exec_driver_sql("SELECT pg_export_snapshot()").scalar_one()
            options = ("--format=custom", "--no-owner", "--no-privileges")
            _run(engine.url, "pg_dump", *options, f"--snapshot={moment}", f"--file={file}")
            return tallies(connection, quiet=quiet)

    def check(self, file: Path, *, quiet: bool) -> None:  # noqa: ARG002 - of the protocol
        _run(None, "pg_restore", "--list", str(file))

    def load(self, url: sa.URL, file: Path, *, quiet: bool) -> dict[str, Tally]:
        options = ("--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges")
        _run(url, "pg_restore", *options, str(file))
        with _connected(url) as connection:
            return tallies(connection, quiet=quiet)


SNAPSHOTS: dict[str, Snapshots] = {"sqlite": _Sqlite(), "postgresql": _Postgresql()}
"""By the name of the dialect."""


def tables_in(url: sa.URL) -> list[str]:
    """Which tables there are; a SQLite file that is not there is not made by asking."""
    if url.get_backend_name() == "sqlite" and not Path(str(url.database)).exists():
        return []
    with _connected(url) as connection:
        return sorted(sa.inspect(connection).get_table_names())


@contextmanager
def _connected(url: sa.URL) -> Iterator[sa.Connection]:
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    with engine.connect() as connection:
        yield connection


def _run(url: sa.URL | None, tool: str, *options: str) -> None:
    """Run a tool of PostgreSQL; its password is in no list of processes."""
    environ = dict(os.environ)
    words = [tool, *options]
    if url is not None:
        plain = url.set(drivername="postgresql", password=None)
        words.append(f"--dbname={plain.render_as_string()}")
        environ |= {"PGPASSWORD": str(url.password)} if url.password else {}
    try:
        done = subprocess.run(words, env=environ, capture_output=True, text=True, check=False)  # noqa: S603 - its words are ours
    except FileNotFoundError:
        raise click.ClickException(
            f"{tool} is not installed, or not in PATH; on Debian: apt-get install "
            "postgresql-client, in the version of the server or a newer one."
        ) from None
    if done.returncode:
        raise click.ClickException(f"{tool} failed: {done.stderr.strip()}")
