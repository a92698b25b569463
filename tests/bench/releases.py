"""What releases cost that are under way: ``python -m tests.bench.releases``.

Prints the CPU time that the runner takes in a minute in which no step is due, and for pages and the
API the p50 and p95 in milliseconds and the SQL statements of a request: with 500 releases under
way, next to the same 500 features with none. Ends with 1 if the runner takes more than its goal.
"""

import argparse
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from statistics import median
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, NamedTuple

import sqlalchemy as sa
from flask import Flask

from app.catalogue.releases.models import Release
from app.core.clock import utcnow
from app.core.db import db, unit_of_work
from app.releases.plans.running import start_due
from tests.bench import postgresql
from tests.bench.growth import p95, signed_in, times
from tests.support.browser import Browser
from tests.support.clients import ApiClient
from tests.support.instances import open_instance
from tests.support.people import People
from tests.support.processes import FLAGSTAFF, running
from tests.support.statements import settled

RELEASES = 500
HELD, WAITING = 25, 25
"""How many are on hold, and how many wait for someone; the others go on by themselves."""
CALLS = 30
"""Of the runner in a minute."""
ROUNDS, WARM_UP = 10, 5
GOAL = 50.0
PAGES = ("/", "/releases")
LISTS = ("/api/admin/releases", "/api/admin/releases?limit=1000")
FEATURES = "/projects/default/features"


class Figure(NamedTuple):
    """Milliseconds and statements of a request."""

    p50: float
    p95: float
    statements: int

    def __str__(self) -> str:
        return f"{self.p50:>8.1f}{self.p95:>8.1f}{self.statements:>5}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.releases", description=__doc__)
    parser.add_argument("--postgresql", **postgresql.OPTION)
    parser.add_argument("--times", type=int, default=40, help="requests of a kind")
    asked = parser.parse_args()
    with TemporaryDirectory() as home, postgresql.chosen(asked.postgresql) as url:
        settings: dict[str, Any] = {"HOME": home, "DATABASE_URL": url}
        environ = {f"FLAGSTAFF_{name}": value for name, value in settings.items()}
        with open_instance(environ) as app:
            people = People(app)
            id = people.person("person-0", role="Admin")
            people.give_password(id)
            admin = ApiClient(app, people.token(id))
            for number in range(RELEASES):
                admin.ok("POST", FEATURES, {"name": f"f{number}"})
            measure = partial(_requests, app, admin, settings, asked.times)
            cpu, requests = [_runner(app)], [measure()]
            _begin(app, admin)
            cpu.append(_runner(app))
            requests.append(measure())
    head = f"{'p50 ms':>8}{'p95 ms':>8}{'SQL':>5}"
    print(f"{'releases under way':<36}{'none':>21}{RELEASES:>21}\n{'':<36}{head}{head}")
    for path, before in requests[0].items():
        print(f"{path:<36}{before}{requests[1][path]}")
    verdict = "met" if cpu[1] <= GOAL else "missed"
    print(f"{'CPU of the runner, ms in a minute':<36}{cpu[0]:>8.1f}{'':13}{cpu[1]:>8.1f}", end="")
    print(f"  at most {GOAL:.0f}: {verdict}")
    sys.exit(cpu[1] > GOAL)


def _begin(app: Flask, admin: ApiClient) -> None:
    """Start a release of each feature in five steps."""
    steps = [_step(share, is_by_hand=False) for share in (5, 25, 50, 75, 100)]
    by_hand = [_step(share, is_by_hand=True) for share in (5, 25, 50, 75, 100)]
    for number in range(RELEASES):
        place = f"{FEATURES}/f{number}/environments/production/release-plans"
        is_waiting = HELD <= number < HELD + WAITING
        body = {"milestones": by_hand if is_waiting else steps, "start": True}
        id = admin.ok("POST", place, body)["id"]
        if number < HELD:
            admin.ok("POST", f"{place}/{id}/hold", {"reason": "Support is short today"})
    with app.app_context(), unit_of_work(writes=True):
        earlier = {"next_at": utcnow() - timedelta(minutes=1)}
        waiting = Release.next_at.is_not(None), ~Release.is_automatic
        db.session.execute(sa.update(Release).where(*waiting).values(earlier))


def _step(share: int, *, is_by_hand: bool) -> dict[str, Any]:
    rollout = {"name": "flexibleRollout", "parameters": {"rollout": str(share)}}
    wait = {"intervalMinutes": 1440, "manual": is_by_hand}
    return {"name": f"{share}%", "strategies": [rollout], "transitionCondition": wait}


def _runner(app: Flask) -> float:
    """CPU milliseconds in a minute in which nothing is due; the median of some."""
    taken = []
    with app.app_context():
        for _ in range(1 + ROUNDS):  # the first is to warm up
            began = time.process_time()
            for _ in range(CALLS):
                if start_due():
                    raise SystemExit("a step was due")
            taken.append((time.process_time() - began) * 1_000)
    return median(taken[1:])


def _requests(
    app: Flask, admin: ApiClient, settings: dict[str, Any], count: int
) -> dict[str, Figure]:
    """Times of a server’s answers, and statements as counted in this process."""
    reader = Browser(app).sign_in("person-0").client
    with TemporaryFile() as log, running(FLAGSTAFF, "/ready", err=log, **settings) as server:
        cookie, token = {"Cookie": signed_in(server.port)}, {"Authorization": admin.token or ""}
        found = {}
        for path in (*PAGES, *LISTS):
            fetch: Callable[..., object] = reader.get if path in PAGES else admin.get
            headers = cookie if path in PAGES else token
            times(server.port, path, headers, WARM_UP)
            taken = times(server.port, path, headers, count)
            run = settled(app, partial(fetch, path))
            found[path] = Figure(median(taken), p95(taken), len(run))
    return found


if __name__ == "__main__":
    main()
