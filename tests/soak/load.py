"""Clients that continue whatever happens to the server, and remember its answers."""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPException
from itertools import count
from pathlib import Path
from typing import Self

from tests.support.servers import Server

PROJECT = "/api/admin/projects/default"
WRITERS = 6


class Load:
    """Clients that create features, spread over the servers, until told to stop.

    ``made``: what was acknowledged; ``statuses``: of all answers; ``refused``: connections that no
    server took; ``broken``: requests that a server took and gave no whole answer to.
    """

    def __init__(self, *servers: Server, first: int = 0, clients: int = WRITERS) -> None:
        self.servers = servers
        self.made: set[str] = set()
        self.statuses: Counter[int] = Counter()
        self.refused = 0
        self.broken: list[str] = []
        self.times: list[float] = []
        self._numbers = count(first)
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work) for _ in range(clients)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while not self._stop.is_set():
            number = next(self._numbers)
            server, name = self.servers[number % len(self.servers)], f"f{number}"
            began = time.monotonic()
            try:
                status = server.call("POST", f"{PROJECT}/features", {"name": name}).status
            except ConnectionRefusedError:
                self.refused += 1
                time.sleep(0.01)
            except (OSError, HTTPException) as error:
                self.broken.append(repr(error))
            else:
                self.times.append(time.monotonic() - began)
                self.statuses[status] += 1
                if status == 201:
                    self.made.add(name)


def features(server: Server) -> set[str]:
    found: set[str] = set()
    for offset in count(0, 1_000):
        page = server.call("GET", f"{PROJECT}/features?limit=1000&offset={offset}").json
        found |= {feature["name"] for feature in page["features"]}
        if len(found) >= page["total"]:
            return found
    raise AssertionError


def percentile(times: list[float], percent: int) -> float:
    return sorted(times)[math.ceil(len(times) * percent / 100) - 1]


def wait_until(holds: Callable[[], bool], seconds: float) -> float:
    """How long it took; a failure if it takes longer."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < seconds, "it did not recover in time"
        time.sleep(0.05)
    return time.monotonic() - began


def can_write(server: Server, name: str) -> bool:
    with suppress(OSError, HTTPException):
        return server.call("POST", f"{PROJECT}/features", {"name": name}).status in {201, 409}
    return False


def resident(server: Server) -> float:
    """The memory of its process, in MB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024 / 1e6
