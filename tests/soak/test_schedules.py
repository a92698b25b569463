"""What is scheduled is applied once and in time, whatever happens to processes and clocks."""

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.soak.load import wait_until
from tests.soak.test_clock import Clock
from tests.support.machines import Machine
from tests.support.servers import SECRET_KEY, TOKEN, Server

ADMIN = "/api/admin"
PAY = f"{ADMIN}/projects/pay"
PLACE = f"{PAY}/environments/production/change-requests"
LIST = f"{PAY}/change-requests"
REQUESTS = 50
APART = 30
IN_TIME = 5.0
PEOPLE = ("kim", "finn")


class Office:
    """A project whose production needs one approval, and two people: one proposes, one approves."""

    def __init__(self, machine: Machine, servers: list[Server]) -> None:
        self.servers, self.server = servers, servers[0]
        rule = {"name": "production", "requiredApprovals": 1}
        body = {"id": "pay", "name": "Pay", "changeRequestEnvironments": [rule]}
        self.ok("POST", f"{ADMIN}/projects", body)
        self.tokens = {}
        for name in PEOPLE:
            made = self.ok("POST", f"{ADMIN}/user-admin", {"username": name, "rootRole": 3})
            said = machine.ok("token", "create", name, "--description", "soak")
            self.tokens[name] = next(word for word in said.split() if word.startswith("fst_"))
            self.ok("POST", f"{PAY}/access", {"id": made["id"], "roleId": 5})

    def ok(self, method: str, path: str, body: Any = None, by: str | None = None) -> Any:
        answer = self.server.call(method, path, body, token=self.tokens[by] if by else TOKEN)
        assert answer.status < 300, (method, path, answer.data)
        return answer.json if answer.data else None

    def schedule(self, name: str, at: datetime) -> int:
        self.ok("POST", f"{PAY}/features", {"name": name})
        change = {"feature": name, "action": "updateEnabled", "payload": {"enabled": True}}
        number: int = self.ok("POST", PLACE, change, by="kim")["id"]
        for who, state in (("kim", "In review"), ("finn", "Approved")):
            self.ok("PUT", f"{LIST}/{number}/state", {"state": state}, by=who)
        sent = {"state": "Scheduled", "scheduledAt": at.isoformat()}
        self.ok("PUT", f"{LIST}/{number}/state", sent, by="kim")
        return number

    def number_applied(self) -> int:
        return int(self.ok("GET", f"{LIST}/count")["applied"])

    def delays(self) -> list[float]:
        """How long after its time each was applied, by the clock of the process that did it."""
        found = self.ok("GET", f"{LIST}?limit=1000")["changeRequests"]
        scheduled = [
            next(step["text"] for step in each["history"] if step["kind"] == "scheduled")
            for each in found
        ]
        return [
            (datetime.fromisoformat(each["closedAt"]) - datetime.fromisoformat(at)).total_seconds()
            for each, at in zip(found, scheduled, strict=True)
        ]

    def applied(self) -> Counter[int]:
        path = f"{ADMIN}/events?type=change-request-applied&limit=1000"
        return Counter(event["data"]["id"] for event in self.ok("GET", path)["events"])


def workers(server: Server) -> list[int]:
    """The processes that a server forked."""
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
    return [int(pid) for pid in children.read_text().split()]


@pytest.fixture
def clocks(tmp_path: Path) -> list[Clock]:
    return [Clock(tmp_path / f"clock{number}") for number in range(2)]


@pytest.fixture(params=["sqlite", "postgresql"])
def office(
    request: pytest.FixtureRequest,
    machine: Machine,
    start: Callable[..., Server],
    clocks: list[Clock],
) -> Iterator[Office]:
    """Four processes: of one server, or on PostgreSQL of two whose clocks are 30 s apart."""
    machine.settings["SECRET_KEY"] = SECRET_KEY
    if request.param == "postgresql":
        machine.settings["DATABASE_URL"] = request.getfixturevalue("empty_postgresql")
        clocks[1].set(f"+{APART}")
        servers = [start(command=clock.command, PROCESSES="2") for clock in clocks]
    else:
        servers = [start(command=clocks[0].command, PROCESSES="4")]
    yield Office(machine, servers)
    assert "intact" in machine.ok("events", "verify")
    assert "Traceback" not in servers[0].log.read_text()


def test_fifty_are_applied_once_and_in_time_although_processes_are_killed(office, clocks):
    ahead = APART if len(office.servers) > 1 else 0
    at = datetime.now(UTC) + timedelta(hours=1)
    numbers = [office.schedule(f"f{number}", at) for number in range(REQUESTS)]
    assert office.applied() == {}
    moved = int((at - datetime.now(UTC)).total_seconds()) - ahead - 2
    for clock, offset in zip(clocks, (moved, moved + APART), strict=True):
        clock.set(f"+{offset}")
    time.sleep(3)
    for victim in workers(office.servers[-1])[:1]:
        os.kill(victim, signal.SIGKILL)
    wait_until(lambda: office.number_applied() == REQUESTS, 60)
    assert office.applied() == dict.fromkeys(numbers, 1)
    is_early = datetime.now(UTC) + timedelta(seconds=moved) < at
    assert is_early or not ahead, "the earlier clock did not decide"
    delays = office.delays()
    assert 0 <= min(delays) <= max(delays) <= IN_TIME, delays


def test_a_clock_that_is_set_back_and_forward_applies_nothing_twice(office, clocks):
    at = datetime.now(UTC) + timedelta(seconds=600)
    numbers = [office.schedule(f"f{number}", at) for number in range(10)]
    clocks[0].set("+700")
    wait_until(lambda: office.number_applied() == 10, IN_TIME + 5)
    for offset in ("-700", "+0", "+700", "+0"):
        clocks[0].set(offset)
        time.sleep(3)
    assert office.applied() == dict.fromkeys(numbers, 1)
    assert office.ok("GET", f"{ADMIN}/events?type=feature-environment-enabled")["total"] == 10
