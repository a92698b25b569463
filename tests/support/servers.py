"""``flagstaff serve`` as a process of its own."""

import http.client
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from tests.support import clients, preloaded
from tests.support.machines import EXECUTABLE, SECONDS, Machine
from tests.support.processes import ALWAYS, free_port

TOKEN = "bootstrap-token-of-the-tests-0123456789"
SERVE = (EXECUTABLE, "serve")
SECRET_KEY = "the-same-for-all-of-them-0123456789"


def serving_with(module: str, **limits: float) -> list[str]:
    """A command that serves with other limits in a module, so that a test reaches them soon."""
    lines = ["import importlib", f"module = importlib.import_module({module!r})"]
    lines += [f"module.{name} = {value}" for name, value in limits.items()]
    lines += ["from app.operations.cli import main", "main()"]
    return [sys.executable, "-c", "\n".join(lines), "serve"]


def until(condition: Callable[[], bool], seconds: float = SECONDS) -> None:
    """Wait until it holds; fail if it never does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


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
        command: Sequence[str | Path] = SERVE,
        **settings: str,
    ) -> None:
        self.port = int(settings.get("PORT", 0)) or free_port()
        self.log = machine.home.with_name("server.log")
        chosen = {"PORT": str(self.port), "BOOTSTRAP_TOKEN": TOKEN} | ALWAYS | settings
        environ = machine.environ(**chosen)
        self.process: subprocess.Popen[bytes] | preloaded.Forked
        with self.log.open("ab") as log:
            if command == SERVE and preloaded.IS_USED:
                self.process = preloaded.start(["serve"], environ, log.fileno(), log.fileno())
            else:
                self.process = subprocess.Popen(
                    command, env=environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log
                )

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

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
        extended: bool = True,
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> Answer:
        """One request; ``body`` is an object for JSON, or bytes that are sent as they are.

        ``extended``: answers of ``/api/admin`` have the fields that only Flagstaff has too.
        ``more``: headers.
        """
        if extended and path.startswith("/api/admin"):
            path = clients.extended(path)
        headers = {"Authorization": token, **more} if token else {**more}
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

    def workers(self) -> set[int]:
        """The ids of the processes that serve."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return set(map(int, children.read_text().split()))

    def wait_until_all_is_read(self) -> None:
        """Wait until it has read everything that clients have sent."""

        def unread() -> int:
            table = Path("/proc/net/tcp").read_text().splitlines()[1:]
            rows = [row.split() for row in table]
            here = f":{self.port:04X}"
            return sum(int(row[4].partition(":")[2], 16) for row in rows if row[1].endswith(here))

        until(lambda: unread() == 0)

    def wait_until_it_stops_listening(self) -> None:
        """Wait until no one can connect any more."""

        def is_refused() -> bool:
            with socket.socket() as client:
                return client.connect_ex(("127.0.0.1", self.port)) != 0

        until(is_refused)

    def has_logged(self, text: str) -> bool:
        """Whether the log has the text, which comes some time after the answer."""
        deadline = time.monotonic() + SECONDS
        while text not in self.log.read_text() and time.monotonic() < deadline:
            time.sleep(0.05)
        return text in self.log.read_text()

    def end(self) -> int:
        """Ask the process to end, as a service manager does; its status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(SECONDS)


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
        print(server.log.read_text())  # noqa: T201 - pytest shows it where the test failed


@pytest.fixture
def servers(machine: Machine, empty_postgresql: str) -> Iterator[Callable[[int], list[Server]]]:
    """Starts so many servers at the same moment on one database, and waits until all are ready."""
    started: list[Server] = []
    machine.settings |= {"DATABASE_URL": empty_postgresql, "SECRET_KEY": SECRET_KEY}

    def start(number: int) -> list[Server]:
        started.extend(Server(machine) for _ in range(number))
        for server in started:
            server.wait_until_ready()
        return started

    yield start
    for server in started:
        server.process.kill()
        server.process.wait(30)
