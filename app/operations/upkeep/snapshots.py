"""Copy a database into a file while others write to it, and load it into an empty one."""

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol

import sqlalchemy as sa

from app.core.connections import lift_time_limits
from app.operations.upkeep.progress import OperationFailed, Progress
from app.operations.upkeep.table_digests import TableDigest, digest_tables


class Snapshots(Protocol):
    """Copying a database, which SQLite and PostgreSQL do differently."""

    file_name: str

    def save(self, engine: sa.Engine, file: Path, progress: Progress) -> dict[str, TableDigest]:
        """Write a consistent copy to ``file``. Returns the digests of its tables."""

    def check(self, file: Path, progress: Progress) -> dict[str, TableDigest] | None:
        """Check the file. Returns its digests; None if they need a restored database."""

    def load(self, url: sa.URL, file: Path, progress: Progress) -> dict[str, TableDigest]:
        """Load ``file`` into an empty database. Returns the digests of its tables."""


class _Sqlite:
    file_name = "flagstaff.db"

    def save(self, engine: sa.Engine, file: Path, progress: Progress) -> dict[str, TableDigest]:
        with closing(engine.raw_connection()) as connection:  # no transaction may be open
            connection.cursor().execute("VACUUM INTO ?", (str(file),))
        return self.check(file, progress)

    def check(self, file: Path, progress: Progress) -> dict[str, TableDigest]:
        with _connected(sa.make_url(f"sqlite:///{file.absolute()}")) as connection:
            for check, good in (("integrity_check", "ok"), ("foreign_key_check", None)):
                found = connection.exec_driver_sql(f"PRAGMA {check}").scalar()
                if found != good:
                    raise OperationFailed(f"The copy of the database is damaged: {found}.")
            return digest_tables(connection, progress)

    def load(self, url: sa.URL, file: Path, progress: Progress) -> dict[str, TableDigest]:
        target = Path(str(url.database))
        partial = target.with_name(f"{target.name}.restoring")
        try:
            shutil.copyfile(file, partial)
            found = self.check(partial, progress)
            with closing(sqlite3.connect(partial)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")  # as migrations.prepare does
            with partial.open("rb") as copied:
                os.fsync(copied.fileno())
            partial.replace(target)  # atomic: a crash leaves no half of a database
        finally:
            partial.unlink(missing_ok=True)
        return found


class _Postgresql:
    """Uses PostgreSQL's own tools, which must not be older than the server."""

    file_name = "flagstaff.pgdump"

    def save(self, engine: sa.Engine, file: Path, progress: Progress) -> dict[str, TableDigest]:
        with engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection:
            lift_time_limits(connection)
            snapshot = connection.exec_driver_sql("SELECT pg_export_snapshot()").scalar_one()
            options = ("--format=custom", "--no-owner", "--no-privileges")
            _run(engine.url, "pg_dump", *options, f"--snapshot={snapshot}", f"--file={file}")
            return digest_tables(connection, progress)

    def check(self, file: Path, progress: Progress) -> None:  # noqa: ARG002 - the protocol has it
        _run(None, "pg_restore", "--list", str(file))

    def load(self, url: sa.URL, file: Path, progress: Progress) -> dict[str, TableDigest]:
        options = ("--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges")
        _run(url, "pg_restore", *options, str(file))
        with _connected(url) as connection:
            return digest_tables(connection, progress)


SNAPSHOTS: dict[str, Snapshots] = {"sqlite": _Sqlite(), "postgresql": _Postgresql()}
"""By the dialect's name."""


def tables_in(url: sa.URL) -> list[str]:
    """The names of the tables; a missing SQLite file has none and is not created."""
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
    """Run a tool of PostgreSQL without showing the password in the list of processes."""
    environ = dict(os.environ)
    command = [tool, *options]
    if url is not None:
        plain = url.set(drivername="postgresql", password=None)
        command.append(f"--dbname={plain.render_as_string()}")
        environ |= {"PGPASSWORD": str(url.password)} if url.password else {}
    try:
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)  # noqa: S603 - all arguments are ours
    except FileNotFoundError:
        raise OperationFailed(
            f"{tool} is not installed or not in PATH. On Debian: apt-get install "
            "postgresql-client, in the server's version or a newer one."
        ) from None
    if done.returncode:
        raise OperationFailed(f"{tool} failed: {done.stderr.strip()}")
