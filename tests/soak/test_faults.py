"""What goes wrong on real machines: nothing that was acknowledged is lost, and it mends itself."""

import os
import random
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from http.client import HTTPException
from itertools import count
from pathlib import Path
from typing import Self

import psycopg
import pytest

from tests.cli.conftest import TOKEN, Machine, Server

PROJECT = "/api/admin/projects/default"
KILLS = 50
WRITERS = 6
SMALL_DISK = "6m"
ENDED_FOR = 15.0
"""Seconds for which the database's side of every connection is ended again and again."""


class Load:
    """Clients that create features until told to stop, and remember what was acknowledged."""

    def __init__(self, server: Server, first: int = 0) -> None:
        self.server = server
        self.made: set[str] = set()
        self.statuses: Counter[int] = Counter()
        self._numbers = count(first)
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work) for _ in range(WRITERS)]

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
            name = f"f{next(self._numbers)}"
            with suppress(OSError, HTTPException):
                status = self.server.call("POST", f"{PROJECT}/features", {"name": name}).status
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
    there = features(server)
    assert len(acknowledged) > KILLS
    assert acknowledged - there == set()
    with closing(sqlite3.connect(machine.home / "flagstaff.db")) as file:
        assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert file.execute("PRAGMA foreign_key_check").fetchall() == []
        told = file.execute("SELECT feature_name FROM events WHERE type = 'feature-created'")
        assert sorted(name for (name,) in told) == sorted(there)
    assert slowest < 2


def test_a_full_disk_refuses_changes_and_nothing_else(small_disk, start):
    server = start(on=Machine(small_disk / "home"))
    assert can_write(server, "before")
    filler = small_disk / "filler"
    with suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(b"x" * 65_536):
            pass
    with Load(server) as load:
        wait_until(lambda: load.statuses[503] > 0, 30)
        assert server.call("GET", f"{PROJECT}/features").status == 200
        refused = server.call("POST", f"{PROJECT}/features", {"name": "refused"})
        assert refused.status == 503
        assert refused.json["name"] == "UnavailableError"
        assert refused.headers["Retry-After"]
    assert set(load.statuses) <= {201, 503}
    filler.unlink()
    assert wait_until(lambda: can_write(server, "after"), 10) < 2
    assert load.made <= features(server)


def test_on_a_disk_that_can_not_be_written_to_it_says_so_and_does_not_start(small_disk, start):
    machine = Machine(small_disk / "home")
    server = start(on=machine)
    assert can_write(server, "before")
    assert server.end() == 0
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    said = machine.refused("serve", BOOTSTRAP_TOKEN=TOKEN)
    assert "database" in said or "Read-only" in said, said
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    assert features(start(on=machine)) == {"before"}


def test_postgresql_that_ends_every_connection_costs_503s_alone(machine, start, empty_postgresql):
    here, there = (start(DATABASE_URL=empty_postgresql) for _ in range(2))
    admin = empty_postgresql.replace("/empty", "/postgres")
    with Load(here) as one, Load(there, first=1_000_000) as other:
        deadline = time.monotonic() + ENDED_FOR
        with psycopg.connect(admin, autocommit=True) as connection:
            while time.monotonic() < deadline:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE application_name = 'flagstaff'"
                )
                time.sleep(1)
    statuses = one.statuses + other.statuses
    assert set(statuses) <= {201, 503}, statuses
    assert statuses[201] > 100
    assert wait_until(lambda: can_write(here, "after"), 10) < 2
    made = one.made | other.made
    assert made <= features(there)


def test_a_locked_table_costs_503s_where_it_is_needed_and_nothing_elsewhere(
    machine, start, empty_postgresql
):
    server = start(DATABASE_URL=empty_postgresql)
    with psycopg.connect(empty_postgresql) as connection:
        connection.execute("LOCK TABLE features IN ACCESS EXCLUSIVE MODE")
        began = time.monotonic()
        assert server.call("POST", f"{PROJECT}/features", {"name": "no"}).status == 503
        assert time.monotonic() - began < 8
        assert server.call("GET", "/api/admin/user").status == 200
        connection.rollback()
    assert can_write(server, "after")
