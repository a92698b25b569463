"""Starting and ending servers: processes of their own on free loopback ports."""

import os
import socket
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import IO

FLAGSTAFF = ("-c", "from app.operations.cli import main; main()", "serve")
BARE_FLASK = ("-m", "tests.bench.bare")
PATIENCE = 60.0
MOST_KEPT = 20
"""Ports that are kept for servers; more than one test starts."""

_kept: deque[socket.socket] = deque()

ALWAYS: dict[str, str] = {}
"""Settings that every server is started with, as ``pytest --processes`` says."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that answers; ``started_in``: seconds from the start of its process until then."""

    port: int
    process: Popen[bytes]
    started_in: float

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def resident(self) -> float:
        """Its memory in MB of 10^6 bytes; NaN where the system has no ``/proc``."""
        with suppress(OSError):
            status = Path(f"/proc/{self.process.pid}/status").read_text()
            return int(status.partition("VmRSS:")[2].split()[0]) * 1024 / 1e6
        return float("nan")


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """The environment of this process with these settings of Flagstaff and no others."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("FLAGSTAFF_")}
    return inherited | {f"FLAGSTAFF_{name}": value for name, value in settings.items()}


@contextmanager
def running(
    program: tuple[str, ...],
    path: str,
    *,
    out: int | IO[bytes] = DEVNULL,
    err: IO[bytes] | None = None,
    port: int | None = None,
    **settings: str,
) -> Iterator[Server]:
    """The program, once ``path`` answers.

    ``out`` and ``err``: where its standard output and its log go.
    """
    port = port or free_port()
    environ = environment({"PORT": str(port), "THREADS": "4"} | ALWAYS | settings)
    start = time.perf_counter()
    process = Popen([sys.executable, *program], env=environ, stdout=out, stderr=err)
    try:
        while not _answers(port, path):
            if process.poll() is not None or time.perf_counter() - start > PATIENCE:
                raise RuntimeError(f"the server did not start: {' '.join(program)}")
            time.sleep(0.005)
        yield Server(port, process, time.perf_counter() - start)
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _answers(port: int, path: str) -> bool:
    with closing(HTTPConnection("127.0.0.1", port, timeout=5)) as connection, suppress(OSError):
        connection.request("GET", path)
        return connection.getresponse().status == HTTPStatus.OK
    return False


def free_port() -> int:
    """A port for a server; no other process is given it before the server has taken it.

    Linux gives a port that is bound here to none of those that want any free one, but a server can
    bind it too, since both sides set SO_REUSEADDR and this one never listens.
    """
    kept = socket.socket()
    if sys.platform == "linux":
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    kept.bind(("127.0.0.1", 0))
    port: int = kept.getsockname()[1]
    _kept.append(kept)
    while len(_kept) > (MOST_KEPT if sys.platform == "linux" else 0):
        _kept.popleft().close()
    return port
