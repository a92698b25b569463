"""The real command ``flagstaff``, run as an operator runs it: a process with an environment."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

EXECUTABLE = Path(sys.executable).with_name("flagstaff")
SECONDS = 60
"""No command takes nearly as long; a test that hangs says so."""


class Machine:
    """A folder to be FLAGSTAFF_HOME, and the command run with it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.settings = {"HOME": str(home)}

    def environ(self, **settings: str) -> dict[str, str]:
        """The environment of this process with none but the machine's own settings."""
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("FLAGSTAFF_")}
        chosen = self.settings | settings
        return inherited | {f"FLAGSTAFF_{name}": value for name, value in chosen.items()}

    def run(self, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [EXECUTABLE, *words],
            env=self.environ(**settings),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def ok(self, *words: str, **settings: str) -> str:
        """What a command that must succeed prints, without the last line break."""
        done = self.run(*words, **settings)
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout.removesuffix("\n")

    def refused(self, *words: str, **settings: str) -> str:
        """The one line with which a command that must fail says why."""
        done = self.run(*words, **settings)
        assert done.returncode in {1, 2}, done
        assert done.stdout == ""
        [line] = done.stderr.splitlines()
        return line.removeprefix("flagstaff: ")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "home")


@pytest.fixture
def empty_postgresql(postgresql_url: str) -> Iterator[str]:
    """The address of an empty database."""
    server = sa.create_engine(
        postgresql_url.replace("postgresql://", "postgresql+psycopg://"),
        isolation_level="AUTOCOMMIT",
    )
    with server.connect() as connection:
        connection.execute(sa.text("CREATE DATABASE empty"))
    yield sa.make_url(postgresql_url).set(database="empty").render_as_string(hide_password=False)
    with server.connect() as connection:
        connection.execute(sa.text("DROP DATABASE empty WITH (FORCE)"))
    server.dispose()
