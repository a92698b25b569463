"""What open event streams cost: ``python -m tests.bench.streaming``.

Starts a server and opens streams to it. Prints how much memory they take, how long a change takes
until all have it, and how many times as long as before GET user takes (p99), while nothing changes
and while a feature is switched each second.
"""

import argparse
import asyncio
import resource
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import cast

from tests.bench import postgresql
from tests.bench.load import drive
from tests.bench.subject import Subject
from tests.support.processes import FLAGSTAFF, Server, running

FEATURES = 1_000
TOKENS = 10
ADDRESSES = [f"127.0.0.{number}" for number in range(1, 41)]
"""From which clients connect, since one address can have only so many streams."""
AT_ONCE = 100
BEGINNING = b"\ndata: "
PATIENCE = 60.0
CHANGES = 10
SECONDS = 10.0
"""Of one measurement of GET user."""


class Crowd:
    """Clients that read streams, and how many of them have got an event since ``expect``."""

    def __init__(self) -> None:
        self._all_have_it = asyncio.Event()
        self._missing = 0
        self._clients: list[Client] = []

    async def open(self, port: int, tokens: Sequence[str], number: int) -> None:
        """Open so many streams, and wait until each has got its first event."""
        loop, places, held = asyncio.get_running_loop(), cycle(ADDRESSES), cycle(tokens)
        for _ in range(0, number, AT_ONCE):
            self.expect(AT_ONCE)
            several = [
                loop.create_connection(
                    partial(Client, next(held), self._count),
                    "127.0.0.1",
                    port,
                    local_addr=(next(places), 0),
                )
                for _ in range(AT_ONCE)
            ]
            self._clients += [client for _, client in await asyncio.gather(*several)]
            await self.all_have_it()

    def expect(self, number: int | None = None) -> None:
        self._missing = len(self._clients) if number is None else number
        self._all_have_it.clear()

    async def all_have_it(self) -> None:
        await asyncio.wait_for(self._all_have_it.wait(), PATIENCE)

    def close(self) -> None:
        for each in self._clients:
            each.transport.abort()

    def _count(self) -> None:
        self._missing -= 1
        if not self._missing:
            self._all_have_it.set()


class Client(asyncio.Protocol):
    """Reads a stream, and keeps none of it. ``on_event``: called when an event's data begin."""

    transport: asyncio.Transport
    _end = b""

    def __init__(self, token: str, on_event: Callable[[], None]) -> None:
        self._token, self._on_event = token, on_event

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.write(
            f"GET /api/client/streaming HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Authorization: {self._token}\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        for _ in range((self._end + data).count(BEGINNING)):
            self._on_event()
        self._end = data[-len(BEGINNING) + 1 :]


async def measure(server: Server, subject: Subject, streams: int) -> None:
    tokens = [subject.new_token("client") for _ in range(TOKENS)]
    before, p99 = memory(server), await get_user(subject)
    crowd = Crowd()
    began = time.perf_counter()
    await crowd.open(server.port, tokens, streams)
    say(f"{streams:,} streams opened in {time.perf_counter() - began:.1f} s")
    say(f"memory {memory(server) - before:.0f} MB more than {before:.0f} MB: at most 400")
    took = [await change(subject, crowd, number) for number in range(CHANGES)]
    say(f"a change is at all in {median(took):.2f} s, at most {max(took):.2f} s: at most 2")
    say(f"GET user p99 {p99:.1f} ms; with streams {await get_user(subject) / p99:.2f} times")
    switching = asyncio.create_task(keep_changing(subject, crowd))
    say(f"while a feature is switched {await get_user(subject) / p99:.2f} times: at most 2")
    switching.cancel()
    say(f"memory {memory(server) - before:.0f} MB more: at most 400")
    crowd.close()


async def get_user(subject: Subject) -> float:
    """Its p99 in milliseconds."""
    job = replace(subject.kinds()["GET user"], seconds=SECONDS)
    return (await asyncio.to_thread(drive, job)).p99


async def change(subject: Subject, crowd: Crowd, number: int) -> float:
    """Switch a feature. Seconds from the confirmation until all clients have it."""
    crowd.expect()
    await asyncio.to_thread(subject.switch, 0, on=number % 2 == 0)
    began = time.perf_counter()
    await crowd.all_have_it()
    return time.perf_counter() - began


async def keep_changing(subject: Subject, crowd: Crowd) -> None:
    for number in range(10_000):
        await change(subject, crowd, number)
        await asyncio.sleep(1)


def memory(server: Server) -> float:
    """Of the server and its workers, in MB of 10^6 bytes; what they share counts once."""
    pid = server.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    total = 0.0
    for each in (pid, *children):
        text = Path(f"/proc/{each}/smaps_rollup").read_text()
        total += int(text.partition("\nPss:")[2].split()[0]) * 1024 / 1e6
    return total


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.streaming", description=__doc__)
    parser.add_argument("--streams", type=int, default=10_000)
    parser.add_argument("--processes", default="2", help="FLAGSTAFF_PROCESSES (2)")
    parser.add_argument("--postgresql", **postgresql.OPTION)
    given = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    token = secrets.token_urlsafe(40)
    own = {"BOOTSTRAP_TOKEN": token, "PROCESSES": given.processes}
    with (
        postgresql.chosen(given.postgresql) as url,
        TemporaryDirectory(prefix="flagstaff-bench-") as home,
        running(FLAGSTAFF, "/ready", HOME=home, DATABASE_URL=url, **own) as server,
    ):
        subject = Subject((server.address,), token)
        subject.make_project()
        subject.fill(FEATURES)
        asyncio.run(measure(server, subject, given.streams))


if __name__ == "__main__":
    main()
