"""Many clients for minutes: every request is answered well, and the process does not grow."""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.bench.load import Job, Load, drive
from tests.soak.load import PROJECT, resident
from tests.support.servers import TOKEN, Server

MINUTE = 60.0
CLIENTS = 64
NAMES = [f"f{number}" for number in range(20)]


def jobs(server: Server, minute: int) -> dict[str, Job]:
    """What different clients do at the same time."""
    added, removed = ([{"value": value}] for value in ("@N@", "other"))
    tags = {"features": NAMES[:3], "tags": {"addedTags": added, "removedTags": removed}}
    asked = {
        "who am I": ("GET", "/api/admin/user", ""),
        "list": ("GET", f"{PROJECT}/features?text=f1", ""),
        "create": ("POST", f"{PROJECT}/features", json.dumps({"name": "new-@N@"})),
        "tag": ("PUT", f"{PROJECT}/tags", json.dumps(tags).replace("@N@", "t")),
        "validate": ("POST", f"{PROJECT}/archive/validate", json.dumps({"features": NAMES})),
    }
    address = f"http://127.0.0.1:{server.port}"
    return {
        kind: Job(
            (address,),
            method,
            path,
            TOKEN,
            (body,),
            first=minute * 1_000_000,
            seconds=MINUTE,
            connections=CLIENTS // len(asked),
        )
        for kind, (method, path, body) in asked.items()
    }


def held(server: Server) -> tuple[int, int]:
    """How many files are open, and how many threads run."""
    process = Path(f"/proc/{server.process.pid}")
    return len(list((process / "fd").iterdir())), len(list((process / "task").iterdir()))


@pytest.mark.parametrize(("backend", "minutes"), [("sqlite", 3), ("postgresql", 1)])
def test_minutes_of_mixed_load_leave_no_trace(
    start: Callable[..., Server], request: pytest.FixtureRequest, backend: str, minutes: int
) -> None:
    settings = {}
    if backend == "postgresql":
        settings["DATABASE_URL"] = request.getfixturevalue("empty_postgresql")
    server = start(**settings)
    for name in NAMES:
        assert server.call("POST", f"{PROJECT}/features", {"name": name}).status == 201
    found: list[dict[str, Load]] = []
    sizes = []
    for minute in range(minutes):
        work = jobs(server, minute)
        with ThreadPoolExecutor(len(work)) as threads:
            found.append(dict(zip(work, threads.map(drive, work.values()), strict=True)))
        time.sleep(1)
        sizes.append((resident(server), *held(server)))
    done = sum(load.rate * MINUTE for loads in found for load in loads.values())
    print(f"\n{backend}: {done:,.0f} requests of {CLIENTS} clients")
    for loads, (size, files, running) in zip(found, sizes, strict=True):
        slow = {kind: round(load.p99) for kind, load in loads.items()}
        print(f"{size:.0f} MB, {files} files, {running} threads, p99 in ms {slow}")
    slowest = [max(load.p99 for load in loads.values()) for loads in found]
    assert slowest[-1] <= 1.5 * slowest[0]
    assert sizes[-1][0] <= 1.05 * sizes[0][0]
    assert sizes[-1][1:] <= (sizes[0][1] + 2, sizes[0][2])
    assert "Traceback" not in server.log.read_text()
