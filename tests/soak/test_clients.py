"""Clients that are slow, many, or ask for as much as they can: no one else is delayed."""

import json
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import pytest

from app.operations.server.connections import RECEIVE_SECONDS
from tests.bench.load import Job, drive
from tests.soak.load import PROJECT, resident
from tests.support.servers import TOKEN, Server

SLOW_FOR = 60.0
READERS = 200
FEATURES, TAGS, CLIENTS = 1_000, 100, 8
HONEST = 4
"""Connections of a client that does nothing wrong; it fails at the first answer that is no 200."""


def honest(server: Server, seconds: float) -> Job:
    address = f"http://127.0.0.1:{server.port}"
    return Job((address,), path="/api/admin/user", token=TOKEN, seconds=seconds, connections=HONEST)


@pytest.fixture
def full(start, empty_postgresql, request):
    """A server with so many features that a list of a thousand is five megabytes."""
    settings = {"DATABASE_URL": empty_postgresql} if request.param == "postgresql" else {}
    server = start(**settings)
    for number in range(FEATURES):
        body = {"name": f"f{number}", "description": "long " * 1_000}
        assert server.call("POST", f"{PROJECT}/features", body).status == 201
    return server


def test_slow_clients_are_cut_off_and_not_felt(start):
    server = start()
    alone = drive(honest(server, 5))
    command = [sys.executable, "-m", "tests.soak.slow", str(server.port), str(SLOW_FOR)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as slow:
        time.sleep(2)
        load = drive(honest(server, SLOW_FOR - 5))
        said, _ = slow.communicate()
    lives = json.loads(said)
    longest = {kind: max(found) for kind, found in lives.items()}
    print(f"\nalone {alone}, among slow clients {load}, longest lives {longest}")
    assert load.p99 <= max(50, 2 * alone.p99)
    assert all(life < RECEIVE_SECONDS + 2 for life in longest.values())
    assert server.call("GET", "/ready", token=None).status == 200


@pytest.mark.parametrize("full", ["sqlite"], indirect=True)
def test_who_takes_a_long_answer_slowly_costs_little_memory_and_no_time(full):
    head = (
        f"GET {PROJECT}/features?limit=1000 HTTP/1.1\r\nHost: x\r\nAuthorization: {TOKEN}\r\n\r\n"
    )
    assert full.call("GET", f"{PROJECT}/features?limit=1000").status == 200
    alone, before = drive(honest(full, 5)), resident(full)
    with ExitStack() as stack:
        readers = []
        for _ in range(READERS):
            reader = stack.enter_context(closing(socket.socket()))
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            reader.settimeout(120)
            reader.connect(("127.0.0.1", full.port))
            reader.sendall(head.encode())
            readers.append(reader)
        assert all(reader.recv(100).startswith(b"HTTP/1.1 200") for reader in readers)
        load = drive(honest(full, 10))
        grown = resident(full) - before
    print(f"\nalone {alone}, with {READERS} slow readers {load}, memory +{grown:.0f} MB")
    assert load.p99 <= max(50, 2 * alone.p99)
    assert grown < 100


@pytest.mark.parametrize("full", ["sqlite", "postgresql"], indirect=True)
def test_the_largest_changes_at_once_are_all_made(full):
    names = [f"f{number}" for number in range(FEATURES)]

    def change(client: int) -> float:
        added = [{"value": f"t{client}-{number}"} for number in range(TAGS)]
        body = {"features": names, "tags": {"addedTags": added, "removedTags": []}}
        began = time.monotonic()
        assert full.call("PUT", f"{PROJECT}/tags", body).status == 200
        return time.monotonic() - began

    alone = change(CLIENTS)
    with ThreadPoolExecutor(CLIENTS + 1) as threads:
        others = threads.submit(drive, honest(full, 8))
        time.sleep(1)
        times = list(threads.map(change, range(CLIENTS)))
    load = others.result()
    print(f"\none alone {alone:.2f} s, {CLIENTS} at once at most {max(times):.2f} s, {load}")
    assert load.p99 <= 200
    assert max(times) < 2 * CLIENTS * max(alone, 1)
