"""The clock jumps: what has ended stays ended, the log stays in order, nothing stops."""

import importlib.util
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.soak.load import PROJECT
from tests.support.machines import EXECUTABLE, Machine
from tests.support.servers import SECRET_KEY, Server
from tests.support.windows import Window, set_password, sign_in, status

ADMIN = "/api/admin"
HOWEVER = ["+2d", "-2d", "+40d", "-40d", "+0"]


def library() -> str:
    """What lies to a process about the time."""
    spec = importlib.util.find_spec("libfaketime")
    folders = [Path(spec.origin).parent] if spec is not None and spec.origin else []
    for folder in [*folders, Path("/usr/lib"), Path("/usr/local/lib")]:
        for found in folder.rglob("libfaketime.so.1"):
            return str(found)
    pytest.skip("no libfaketime here: pip install libfaketime, or apt-get install faketime")


class Clock:
    """The clock of one process, which can be set while it runs."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.set("+0")
        self.command = [
            "env",
            f"LD_PRELOAD={library()}",
            f"FAKETIME_TIMESTAMP_FILE={file}",
            "FAKETIME_NO_CACHE=1",
            "FAKETIME_DONT_FAKE_MONOTONIC=1",
            str(EXECUTABLE),
            "serve",
        ]

    def set(self, offset: str) -> None:
        self.file.write_text(f"{offset}\n")


Settings = dict[str, str]


@pytest.fixture(params=["sqlite", "postgresql"])
def settings(request: pytest.FixtureRequest, machine: Machine) -> Settings:
    """Both databases; commands are run with the same."""
    machine.settings["SECRET_KEY"] = SECRET_KEY
    if request.param == "postgresql":
        machine.settings["DATABASE_URL"] = request.getfixturevalue("empty_postgresql")
    return machine.settings


@pytest.fixture
def clock(tmp_path: Path) -> Clock:
    return Clock(tmp_path / "clock")


@pytest.fixture
def server(settings: Settings, clock: Clock, start: Callable[..., Server]) -> Server:
    return start(command=clock.command)


def token_for(server: Server, lasts: timedelta) -> str:
    made = server.call("POST", f"{ADMIN}/service-account", {"rootRole": 3}).json
    body = {"description": "CI", "expiresAt": (datetime.now(UTC) + lasts).isoformat()}
    answer = server.call("POST", f"{ADMIN}/service-account/{made['id']}/token", body)
    return str(answer.json["secret"])


def is_in(window: Window, server: Server) -> bool:
    return "/sign-in" not in window.get(server, "/account").url


def test_what_has_ended_never_comes_alive_again(machine, clock, server):
    set_password(machine, server)
    window, secret = Window(), token_for(server, timedelta(days=1))
    sign_in(window, server)
    assert (is_in(window, server), status(server, secret)) == (True, 200)
    clock.set("+2d")
    assert (is_in(window, server), status(server, secret)) == (False, 401)
    for offset in HOWEVER:
        clock.set(offset)
        assert (is_in(window, server), status(server, secret)) == (False, 401), offset


def test_a_session_from_the_future_is_over_and_stays_so(machine, clock, server):
    set_password(machine, server)
    window = Window()
    sign_in(window, server)
    for offset in ("-2d", "+0", "+2d"):
        clock.set(offset)
        assert not is_in(window, server), offset


def test_the_log_keeps_its_order_and_the_server_goes_on(machine, clock, server):
    for number, offset in enumerate(HOWEVER * 3):
        clock.set(offset)
        made = server.call("POST", f"{PROJECT}/features", {"name": f"f{number}"})
        assert made.status == 201, offset
        assert server.call("GET", "/ready", token=None).status == 200
        newest = server.call("GET", f"{ADMIN}/events?limit=1").json["events"][0]
        assert newest["featureName"] == f"f{number}"
    events = server.call("GET", f"{ADMIN}/events?limit=1000").json["events"]
    assert [event["id"] for event in events] == list(range(len(events), 0, -1))
    assert "intact" in machine.ok("events", "verify")
    assert "Traceback" not in server.log.read_text()


def test_guessing_is_not_quicker_for_a_clock_that_is_set_back(machine, clock, server):
    set_password(machine, server)

    def guess() -> int:
        return sign_in(Window(), server, "not the right one").status

    assert [guess() for _ in range(6)] == [400] * 5 + [429]
    for offset in ("-2d", "-1d", "-10"):
        clock.set(offset)
        assert guess() == 429, offset
    clock.set("+0")
    assert 429 in [guess(), guess()]


@pytest.mark.parametrize("settings", ["postgresql"], indirect=True)
def test_two_processes_ten_seconds_apart_agree(machine, settings, start, tmp_path):
    clocks = [Clock(tmp_path / f"clock{number}") for number in range(2)]
    clocks[1].set("+10")
    here, there = (start(command=clock.command) for clock in clocks)
    set_password(machine, there)
    for begun, other in ((here, there), (there, here)):
        window, secret = Window(), token_for(begun, timedelta(days=1))
        sign_in(window, begun)
        assert (is_in(window, other), status(other, secret)) == (True, 200)
    for number in range(20):
        server = (here, there)[number % 2]
        assert server.call("POST", f"{PROJECT}/features", {"name": f"f{number}"}).status == 201
    events = here.call("GET", f"{ADMIN}/events?type=feature-created").json["events"]
    assert [event["featureName"] for event in events] == [f"f{n}" for n in range(19, -1, -1)]
    assert "intact" in machine.ok("events", "verify")
