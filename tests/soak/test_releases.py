"""Each step of a release starts once and in its time, however often servers are killed."""

import os
import random
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import pytest
import sqlalchemy as sa

from app.catalogue.releases.models import Release, ReleaseState
from app.core.clock import from_text, utcnow
from tests.releases.plans.conftest import step
from tests.releases.plans.test_program import Follower, new_release
from tests.soak.load import wait_until
from tests.support.machines import Machine, Within
from tests.support.servers import SECRET_KEY, Server

ADMIN = "/api/admin"
FEATURES = f"{ADMIN}/projects/default/features"
RELEASES, KILLS = 10, 100
SHARES = (5, 25, 50, 75, 100)
WAITS = (2, 3, 5, 7)
APART = timedelta(seconds=22)
"""Time between the starts of two releases, so that some are under way at nearly every kill."""
LIFE = (0.2, 5.0)
"""Seconds that a server lives."""
IN_TIME = timedelta(seconds=5)
"""How long a server that is up may leave a step that is due."""
IS_STARTING = sa.text(
    "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'releases'::regclass"
    " AND mode IN ('RowShareLock', 'RowExclusiveLock'))"
)
"""Whether a server is in a transaction that starts a step."""
FOREVER = datetime.max.replace(tzinfo=UTC)

Span = tuple[datetime, datetime]


class Mortal:
    """A server that is killed and started again.

    ``lives``: from when it was ready to when it was killed. ``cut``: how many kills came while
    this server or the other was starting a step.
    """

    def __init__(self, machine: Machine, engine: sa.Engine, seed: int) -> None:
        self.machine, self._engine, self._chance = machine, engine, random.Random(seed)
        self.lives: list[Span] = []
        self.cut = 0
        self.server: Server | None = None

    def live(self, kills: int) -> None:
        """Be killed so many times, half of them at a bad moment, and then stay."""
        for _ in range(kills):
            since = self.begin()
            if self._chance.random() < 0.5:
                time.sleep(self._chance.uniform(*LIFE))
            elif self._comes_to_start_a_step():
                self.cut += 1
            self.kill()
            self.lives.append((since, utcnow()))
        self.lives.append((self.begin(), FOREVER))

    def begin(self) -> datetime:
        """Start; when it was ready."""
        self.server = Server(self.machine)
        self.server.wait_until_ready()
        return utcnow()

    def kill(self) -> None:
        """The parent and its worker at once, so that neither ends in good order."""
        if self.server is not None:
            for pid in (self.server.process.pid, *self.server.workers()):
                os.kill(pid, signal.SIGKILL)
            self.server.process.wait(30)
        self.server = None

    def _comes_to_start_a_step(self) -> bool:
        """Wait for such a moment; False if there is none in a life."""
        until = time.monotonic() + LIFE[1]
        with self._engine.connect() as connection:
            while time.monotonic() < until:
                if connection.scalar(IS_STARTING):
                    return True
                connection.rollback()
                time.sleep(0.002)
        return False


class Start(NamedTuple):
    """When a step was due, and when it started."""

    due: datetime
    at: datetime

    @property
    def late(self) -> timedelta:
        return self.at - self.due

    def longest(self, lives: list[Span]) -> timedelta:
        """How long a server was up at most, in one go, while this step was due."""
        return max(min(self.at, end) - max(self.due, begin) for begin, end in lives)

    def down(self, lives: list[Span]) -> timedelta:
        """How long no server was up while this step was due."""
        found, seen = timedelta(), self.due
        for begin, end in sorted(lives):
            found += max(min(begin, self.at) - seen, timedelta())
            seen = max(seen, end)
        return found


@pytest.fixture
def engine(empty_postgresql: str) -> Iterator[sa.Engine]:
    engine = sa.create_engine(empty_postgresql.replace("sql://", "sql+psycopg://"))
    yield engine
    engine.dispose()


@pytest.fixture
def mortals(
    machine: Machine, tmp_path: Path, empty_postgresql: str, engine: sa.Engine
) -> Iterator[list[Mortal]]:
    """Two servers of one database. As each has its own folder, both start what is due."""
    (tmp_path / "other").mkdir()
    machines = (machine, Within(tmp_path / "other" / "home"))
    for each in machines:
        each.settings |= {"DATABASE_URL": empty_postgresql, "SECRET_KEY": SECRET_KEY}
    found = [Mortal(each, engine, seed) for seed, each in enumerate(machines)]
    yield found
    for mortal in found:
        mortal.kill()


def set_waits(engine: sa.Engine, id: str, *waits: int) -> None:
    """Let the steps of a release wait for so many seconds; the API knows only whole minutes."""
    with engine.begin() as connection:
        steps = connection.scalar(sa.select(Release.steps).where(Release.id == id)) or []
        for each, seconds in zip(steps[:-1], waits, strict=True):
            each["seconds"] = seconds
        connection.execute(sa.update(Release).where(Release.id == id).values(steps=steps))


def make_releases(server: Server, engine: sa.Engine) -> dict[str, tuple[str, datetime]]:
    """The id of the release of each feature, and when it begins."""
    found, first = {}, utcnow() + timedelta(seconds=5)
    for number in range(RELEASES):
        name, at = f"f{number}", first + number * APART
        server.call("POST", FEATURES, {"name": name})
        path = f"{FEATURES}/{name}/environments/production/release-plans"
        body = {"milestones": [step(share) for share in SHARES], "startAt": at.isoformat()}
        id = server.call("POST", path, body).json["id"]
        set_waits(engine, id, *WAITS)
        found[name] = id, at
    return found


def are_done(engine: sa.Engine) -> bool:
    query = sa.select(sa.func.count()).where(Release.state == ReleaseState.DONE)
    with engine.connect() as connection:
        return connection.scalar(query) == RELEASES


def starts(engine: sa.Engine, id: str, begins: datetime) -> list[Start]:
    """When each step was due and started."""
    with engine.connect() as connection:
        steps = connection.scalar(sa.select(Release.steps).where(Release.id == id)) or []
    at = [from_text(each["started_at"]) for each in steps]
    due = [begins, *(one + timedelta(seconds=wait) for one, wait in zip(at, WAITS, strict=False))]
    return list(map(Start, due, at))


def started(server: Server) -> dict[str, list[int]]:
    """The numbers of the steps that the event log has, by feature."""
    path = f"{ADMIN}/events?type=release-plan-milestone-started&limit=1000"
    found: dict[str, list[int]] = {}
    for event in reversed(server.call("GET", path).json["events"]):
        found.setdefault(event["featureName"], []).append(event["data"]["milestone"]["number"])
    return found


def rollouts(server: Server, name: str) -> list[Any]:
    """The shares that the feature has; the first is whether it is on."""
    place = server.call("GET", f"{FEATURES}/{name}/environments/production").json
    return [place["enabled"], *(each["parameters"]["rollout"] for each in place["strategies"])]


def test_ten_releases_keep_their_steps_while_servers_are_killed(mortals, engine):
    mortals[0].begin()
    made = make_releases(mortals[0].server, engine)
    mortals[0].kill()
    began = time.monotonic()
    with ThreadPoolExecutor() as pool:
        list(pool.map(Mortal.live, mortals, [KILLS // 2] * 2))
    lived = time.monotonic() - began
    wait_until(lambda: are_done(engine), 60)
    found = [one for id, at in made.values() for one in starts(engine, id, at)]
    lives = [life for mortal in mortals for life in mortal.lives]
    last = max(one.at for one in found)
    kills = sum(end < last for _, end in lives)
    latest = max(found, key=lambda one: one.late)
    ignored = max(one.longest(lives) for one in found)
    beyond = max(one.late - one.down(lives) for one in found)
    print(f"\n{KILLS} kills in {lived:.0f} s, {kills} of them before the last step started")
    print(f"{sum(mortal.cut for mortal in mortals)} while a server was starting a step")
    print(f"median delay of a step: {median(one.late for one in found)}")
    print(f"longest delay: {latest.late}. No server was up for {latest.down(lives)} of that")
    print(f"longest delay, without the time in which no server was up: {beyond}")
    print(f"longest time for which a server was up and left a step that was due: {ignored}")
    for mortal in mortals:
        assert started(mortal.server) == {name: [1, 2, 3, 4, 5] for name in made}
        assert [rollouts(mortal.server, name) for name in made] == [[True, "100"]] * RELEASES
        assert "Traceback" not in mortal.server.log.read_text()
    assert min(one.late for one in found) >= timedelta()
    assert ignored <= IN_TIME
    assert "intact" in mortals[0].machine.ok("events", "verify")


def test_a_program_sees_ten_thousand_people_only_ever_gain_the_feature(start, sdks, machine):
    server = start()
    id = new_release(server, *SHARES)
    engine = sa.create_engine(f"sqlite:///{machine.home / 'flagstaff.db'}")
    set_waits(engine, id, *[10] * 4)
    with Follower(sdks, server, 10_000) as follower:
        follower.wait_for(0)
        with engine.begin() as connection:
            now = {"next_at": utcnow(), "is_automatic": True}
            connection.execute(sa.update(Release).where(Release.id == id).values(now))
        follower.wait_for(100, seconds=120)
    engine.dispose()
    print("\n", {line["share"]: line["having"] for line in follower.said})
    follower.check(*SHARES)
