"""Ten thousand simulated instances: nothing is confirmed that one of them doesn't have."""

import asyncio
import random
import re
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count

from app.catalogue.receipts import service
from app.catalogue.receipts.states import State
from app.core.db import unit_of_work
from tests.support.instances import open_instance
from tests.support.servers import Server

PLACE = "/api/admin/projects/default/features/cart/environments/production"
INSTANCES, CONNECTIONS = 10_000, 32
INTERVALS = {15: 70, 10: 20, 30: 8, 60: 2}
"""Seconds between polls, and of how many in a hundred."""
LOST, UNREAD, RESTARTED, FORGETFUL = 0.01, 0.01, 0.005, 0.02
"""Shares: of polls that don't arrive, of answers that don't, of polls after a restart (with the
same id or another one), and of instances that name no ETag.
"""
WARM_SECONDS, CHANGE_SECONDS, CHANGES = 75, 20, 8
PATIENCE = 5
WRITTEN_WITHIN = 6
"""Seconds after which a look certainly knows of what an instance said."""
PAUSE_SECONDS = 0.5

_rollout = re.compile(rb'"rollout":"(\d+)"')


@dataclass(slots=True, eq=False)
class Instance:
    """``had``: the number of the change that it had from each time on."""

    id: str
    interval: int
    is_forgetful: bool
    etag: str = ""
    had: list[tuple[float, int]] = field(default_factory=list)
    disturbed: list[float] = field(default_factory=list)
    """When something was lost."""
    started: float = field(default_factory=time.monotonic)
    ended: float = float("inf")

    def had_since(self, at: float) -> int:
        """The most that it had at this time or later."""
        before = [number for when, number in self.had if when <= at][-1:]
        return max([*before, *(number for when, number in self.had if when > at)], default=0)


class Crowd:
    """Instances that poll servers at random, until they are ended."""

    def __init__(self, ports: list[int], token: str) -> None:
        self.known: dict[str, Instance] = {}
        self.statuses: Counter[int] = Counter()
        self._ports, self._token = ports, token
        self._numbers, self._ended = count(), threading.Event()

    def run(self) -> None:
        asyncio.run(self._run())

    def end(self) -> None:
        self._ended.set()

    async def _run(self) -> None:
        self._free: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
        self._free = asyncio.Queue()
        for port in self._ports * CONNECTIONS:
            self._free.put_nowait(await asyncio.open_connection("127.0.0.1", port))
        intervals = random.choices([*INTERVALS], [*INTERVALS.values()], k=INSTANCES)
        await asyncio.gather(*map(self._live, intervals))
        while not self._free.empty():
            self._free.get_nowait()[1].close()

    def _new(self, interval: int) -> Instance:
        id = f"i{next(self._numbers)}"
        one = self.known[id] = Instance(id, interval, random.random() < FORGETFUL)
        return one

    async def _live(self, interval: int) -> None:
        await asyncio.sleep(random.uniform(0, interval))
        one = self._new(interval)
        while not self._ended.is_set():
            began = time.monotonic()
            if one.had and random.random() < RESTARTED:
                one = self._restarted(one)
            # The server can't know of a process with the id of another one before its first poll.
            if one.etag and random.random() < LOST:
                one.disturbed.append(time.monotonic())
            else:
                await self._poll(one)
            await asyncio.sleep(max(began + interval - time.monotonic(), 0))

    def _restarted(self, one: Instance) -> Instance:
        if random.random() < 0.7:
            one.ended = time.monotonic()
            return self._new(one.interval)
        one.etag = ""
        one.had.append((time.monotonic(), 0))
        one.disturbed.append(time.monotonic())
        return one

    async def _poll(self, one: Instance) -> None:
        match = f"If-None-Match: {one.etag}\r\n" if one.etag and not one.is_forgetful else ""
        streams = reader, writer = await self._free.get()
        writer.write(
            f"GET /api/client/features HTTP/1.1\r\nHost: x\r\nAuthorization: {self._token}\r\n"
            f"Unleash-AppName: shop-{hash(one.id) % 50}\r\nUnleash-Connection-Id: {one.id}\r\n"
            f"Unleash-Interval: {one.interval}000\r\nUnleash-Client-Spec: 5.2.0\r\n"
            f"{match}\r\n".encode()
        )
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        status = int(head[9:12])
        body = await reader.readexactly(int(length[1])) if length and status == 200 else b""
        self._free.put_nowait(streams)
        self.statuses[status] += 1
        if random.random() < UNREAD:
            one.disturbed.append(time.monotonic())
        elif status == 200:
            [tag], [number] = re.findall(rb'(?i)etag: ("[^"]*")', head), _rollout.findall(body)
            one.had.append((time.monotonic(), int(number)))
            one.etag = tag.decode()


@dataclass
class Seen:
    """What looks at the receipts found. ``made``: the numbers of changes and when, by event.

    ``confirmed``: when a change and an instance were first found confirmed. ``longest``: seconds
    between two looks.
    """

    made: dict[int, tuple[int, float]] = field(default_factory=dict)
    confirmed: dict[tuple[int, str], float] = field(default_factory=dict)
    false: list[tuple[int, Instance]] = field(default_factory=list)
    looks: int = 0
    longest: float = 0

    def look(self, crowd: Crowd) -> None:
        for event, (number, _) in list(self.made.items()):
            asked = time.monotonic()
            with unit_of_work(writes=False):
                change = service.change_of("default", ["cart"], "production", event=event)
                receipts = service.of(change, "production").receipts
            for receipt in receipts:
                if receipt.state is not State.CONFIRMED:
                    continue
                one = crowd.known[receipt.process.id]
                self.confirmed.setdefault((number, one.id), asked)
                if one.had_since(asked - WRITTEN_WITHIN) < number or one.is_forgetful:
                    self.false.append((number, one))

    def look_until(self, ended: threading.Event, crowd: Crowd) -> None:
        while not ended.is_set():
            began = time.monotonic()
            self.look(crowd)
            ended.wait(PAUSE_SECONDS)
            self.looks, self.longest = self.looks + 1, max(self.longest, time.monotonic() - began)

    def in_time(self, crowd: Crowd) -> tuple[int, int]:
        """How many confirmed in time, of how many that polled in that time without a loss."""
        due = [
            self.confirmed.get((number, one.id), float("inf")) <= until + self.longest
            for number, at in self.made.values()
            for one in crowd.known.values()
            if not one.is_forgetful
            and one.started < at - WRITTEN_WITHIN
            and one.ended > (until := at + 2 * one.interval + PATIENCE)
            and not any(at - one.interval < when < until for when in one.disturbed)
        ]
        return sum(due), len(due)


def change(server: Server, strategy: str, made: dict[int, tuple[int, float]]) -> None:
    """Change the feature again and again, and wait until all could have asked."""
    for number in range(1, CHANGES + 1):
        body = {"name": "flexibleRollout", "parameters": {"rollout": str(number)}}
        assert server.call("PUT", f"{PLACE}/strategies/{strategy}", body).status == 200
        now = time.monotonic()
        made[server.call("GET", f"{PLACE}/receipts").json["event"]] = number, now
        time.sleep(CHANGE_SECONDS)
    time.sleep(2 * max(INTERVALS) + PATIENCE)


def test_no_instance_confirms_what_it_does_not_have(machine, servers):
    machine.settings["PROCESSES"] = "2"
    here, there = servers(2)
    here.call("POST", "/api/admin/projects/default/features", {"name": "cart"})
    strategy = {"name": "flexibleRollout", "parameters": {"rollout": "0"}}
    id = here.call("POST", f"{PLACE}/strategies", strategy).json["id"]
    body = {"tokenName": "crowd", "type": "client", "environment": "production"}
    token = here.call("POST", "/api/admin/api-tokens", body).json["secret"]
    crowd, seen, ended = Crowd([here.port, there.port], token), Seen(), threading.Event()
    with open_instance(machine.environ()) as app, app.app_context(), ThreadPoolExecutor() as pool:
        running = pool.submit(crowd.run)
        time.sleep(WARM_SECONDS)
        changing = pool.submit(change, here, id, seen.made)
        changing.add_done_callback(lambda _: ended.set())
        try:
            seen.look_until(ended, crowd)
        finally:
            crowd.end()
        for each in (changing, running):
            each.result()
    in_time, due = seen.in_time(crowd)
    print(f"\n{dict(crowd.statuses)}; {seen.looks} looks in at most {seen.longest:.1f} s")
    print(f"{len(seen.false)} false of {len(seen.confirmed):,} confirmations")
    print(f"{in_time:,} of {due:,} that polled in time confirmed in time: {in_time / due:.3%}")
    assert len(seen.confirmed) >= INSTANCES
    assert len(seen.false) == 0
    assert in_time >= due * 0.99
