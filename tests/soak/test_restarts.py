"""Killed, told to end, restarted: nothing that was acknowledged is lost or torn."""

import asyncio
import random
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection
from itertools import count

import psycopg
import pytest

from tests.soak.load import PROJECT, Load, features
from tests.support.machines import Machine
from tests.support.servers import TOKEN, Server

KILLS = 50
KILLS_OF_ONE = 20
ENDS = 20
ROLLING = 5
TOGETHER = 4
STARTS = 10
LONG = 1_000
"""Features with the longest description there may be: a list of them is five megabytes."""
LONG_LIST = f"{PROJECT}/features?text=long&limit=1000"


class Balancer:
    """Takes connections and hands each to the next of its servers that does so too."""

    def __init__(self, *servers: Server) -> None:
        self.servers = list(servers)
        self._turns = count()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]

    call = Server.call

    async def _hand_over(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        turn = next(self._turns)
        for number in range(len(self.servers)):
            server = self.servers[(turn + number) % len(self.servers)]
            with suppress(ConnectionRefusedError):
                there, back = await asyncio.open_connection("127.0.0.1", server.port)
                await asyncio.gather(self._pass_on(reader, back), self._pass_on(there, writer))
                return
        writer.close()

    @staticmethod
    async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while received := await reader.read(65_536):
                writer.write(received)
                await writer.drain()
        writer.close()

    async def _serve(self, stop: threading.Event, ready: threading.Event) -> None:
        async with await asyncio.start_server(self._hand_over, "127.0.0.1", self.port):
            ready.set()
            await asyncio.to_thread(stop.wait)

    @contextmanager
    def running(self) -> Iterator[None]:
        stop, ready = threading.Event(), threading.Event()
        thread = threading.Thread(target=lambda: asyncio.run(self._serve(stop, ready)))
        thread.start()
        ready.wait(10)
        yield
        stop.set()
        thread.join()


def is_whole(machine: Machine, acknowledged: set[str], there: set[str]) -> None:
    """Whether all that was acknowledged is there, and told, and nothing is torn."""
    assert acknowledged - there == set()
    assert "intact" in machine.ok("events", "verify")
    if "DATABASE_URL" in machine.settings:
        with psycopg.connect(machine.settings["DATABASE_URL"]) as connection:
            told = connection.execute(TOLD).fetchall()
    else:
        with closing(sqlite3.connect(machine.home / "flagstaff.db")) as file:
            assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert file.execute("PRAGMA foreign_key_check").fetchall() == []
            told = file.execute(TOLD).fetchall()
    assert sorted(name for (name,) in told) == sorted(there)


TOLD = "SELECT feature_name FROM events WHERE type = 'feature-created'"


def test_a_killed_process_loses_nothing_and_tears_nothing(machine, start):
    chance = random.Random(7)
    acknowledged: set[str] = set()
    slowest = 0.0
    for kill in range(KILLS):
        began = time.monotonic()
        server = start()
        slowest = max(slowest, time.monotonic() - began)
        with Load(server, first=kill * 1_000_000) as load:
            time.sleep(chance.uniform(0.05, 0.4))
            server.process.kill()
            server.process.wait(30)
        acknowledged |= load.made
    server = start()
    print(f"\n{KILLS} kills, {len(acknowledged)} acknowledged, slowest start {slowest:.2f} s")
    assert len(acknowledged) > KILLS
    is_whole(machine, acknowledged, features(server))
    assert slowest < 3


def test_a_killed_process_is_not_felt_by_the_other(machine, start, empty_postgresql):
    machine.settings["DATABASE_URL"] = empty_postgresql
    chance = random.Random(8)
    acknowledged: set[str] = set()
    stays = start()
    with Load(stays, first=1_000_000_000) as steady:
        for kill in range(KILLS_OF_ONE):
            goes = start()
            with Load(goes, first=kill * 1_000_000) as load:
                time.sleep(chance.uniform(0.05, 0.4))
                goes.process.kill()
                goes.process.wait(30)
            acknowledged |= load.made
    acknowledged |= steady.made
    print(f"\n{KILLS_OF_ONE} kills, {len(acknowledged)} acknowledged, {dict(steady.statuses)}")
    assert set(steady.statuses) == {201}
    assert (steady.refused, steady.broken) == (0, [])
    is_whole(machine, acknowledged, features(stays))


@contextmanager
def no_one_can_write(machine: Machine, *, really: bool) -> Iterator[None]:
    with closing(sqlite3.connect(machine.home / "flagstaff.db", timeout=30)) as file:
        if really:
            file.execute("BEGIN IMMEDIATE")
        yield


def take_slowly(server: Server, taken: list[tuple[int, int]]) -> None:
    """A long answer, read in pieces; how long it was said to be and was."""
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=60)) as connection:
        connection.request("GET", LONG_LIST, headers={"Authorization": TOKEN})
        answer = connection.getresponse()
        length = 0
        while piece := answer.read(65_536):
            length += len(piece)
            time.sleep(0.01)
        taken.append((int(answer.headers["Content-Length"]), length))


def refuses(server: Server) -> bool:
    try:
        socket.create_connection(("127.0.0.1", server.port), timeout=5).close()
    except ConnectionRefusedError:
        return True
    return False


def test_told_to_end_under_load_it_answers_all_that_it_took(machine, start):
    chance = random.Random(9)
    server = start()
    for number in range(LONG):
        body = {"name": f"long{number}", "description": "long " * 1_000}
        assert server.call("POST", f"{PROJECT}/features", body).status == 201
    assert server.end() == 0
    acknowledged: set[str] = set()
    slowest_refusal = slowest_end = 0.0
    for end in range(ENDS):
        server, taken = start(THREADS="2"), []
        reader = threading.Thread(target=take_slowly, args=(server, taken))
        with Load(server, first=end * 1_000_000) as load:
            time.sleep(chance.uniform(0.2, 0.6))
            with no_one_can_write(machine, really=end % 2 == 0):
                reader.start()
                time.sleep(0.3)
                began = time.monotonic()
                server.process.terminate()
                while not refuses(server):
                    time.sleep(0.01)
                slowest_refusal = max(slowest_refusal, time.monotonic() - began)
                time.sleep(1)
            assert server.process.wait(35) == 0
            slowest_end = max(slowest_end, time.monotonic() - began)
        reader.join()
        assert load.broken == []
        assert set(load.statuses) == {201}
        [(said, was)] = taken
        assert said == was > 5_000_000
        acknowledged |= load.made
    print(
        f"\n{ENDS} ends, {len(acknowledged)} acknowledged, refuses after {slowest_refusal:.2f} s, "
        f"ended after {slowest_end:.2f} s"
    )
    assert slowest_refusal < 0.5
    there = {name for name in features(start()) if not name.startswith("long")}
    assert acknowledged - there == set()


def test_restarting_one_after_the_other_behind_a_balancer_fails_no_request(
    machine, start, empty_postgresql
):
    machine.settings["DATABASE_URL"] = empty_postgresql
    balancer = Balancer(start(), start())
    with balancer.running(), Load(balancer) as load:
        for turn in range(2 * ROLLING):
            place = turn % 2
            assert balancer.servers[place].end() == 0
            balancer.servers[place] = start()
            time.sleep(0.3)
    print(f"\n{2 * ROLLING} restarts behind a balancer: {dict(load.statuses)}, {load.broken}")
    assert set(load.statuses) == {201}
    assert (load.refused, load.broken) == (0, [])
    is_whole(machine, load.made, features(balancer.servers[0]))


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_all_that_start_at_once_become_ready(tmp_path, database, backend):
    ready = 0
    for number in range(STARTS):
        machine = Machine(tmp_path / f"home{number}")
        if backend == "postgresql":
            database.sql(f"CREATE DATABASE d{number};")
            machine.settings["DATABASE_URL"] = database.url.replace("/postgres?", f"/d{number}?")
        servers = [Server(machine) for _ in range(TOGETHER)]
        try:
            for server in servers:
                server.wait_until_ready()
                ready += server.call("GET", "/api/admin/user").status == 200
            assert (
                len(servers[0].call("GET", "/api/admin/service-account").json["serviceAccounts"])
                == 1
            )
        finally:
            for server in servers:
                server.process.kill()
                server.process.wait(30)
    print(f"\n{backend}: {ready} of {STARTS * TOGETHER} ready")
    assert ready == STARTS * TOGETHER
