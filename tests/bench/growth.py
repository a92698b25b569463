"""How lists answer on an instance that has grown: ``python -m tests.bench.growth``.

Prints p50 and p95 in milliseconds for every list of the API and of the pages, on 10,000 projects,
100,000 features with 500,000 tags on them, 10,000 people and 1,000,000 events.
"""

import argparse
import http.client
import json
import re
import statistics
import tempfile
import time
import urllib.parse
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from app.access.auth.models import SignIn
from app.accounts import passwords
from app.accounts.models import Account, AccountKind
from app.catalogue.favourites.models import Favourite
from app.catalogue.features.models import Feature, FeatureType
from app.catalogue.projects.models import Member, Project, ProjectEnvironment, ProjectMode
from app.catalogue.tags.models import FeatureTag, Tag
from app.core import migrations
from app.core.actor import COMMAND_LINE
from app.core.clock import utcnow
from app.core.config import from_environment
from app.core.db import chunks, db, unit_of_work
from app.core.events.event_types import EventType
from app.core.events.models import Event, EventHead
from app.core.permissions import Role
from app.factory import create_app
from tests.support.processes import FLAGSTAFF, running

TOKEN = "bench-token-that-only-this-loopback-server-knows"
PROJECTS, FEATURES, TAGS, PEOPLE = 10_000, 100_000, 200, 10_000
EVENTS, SIGN_INS = 1_000_000, 200_000
REVIEWED = 1_000
LISTS = (
    "/projects",
    "/projects?offset=9950",
    "/projects?limit=1000",
    "/projects/p0/features",
    "/projects/p0/features?limit=1000",
    "/projects/p0/features?text=feature-9&tag=simple:tag-7",
    "/projects/p0/features?withoutTag=simple:tag-7&offset=2000",
    "/tags",
    "/tag-types",
    "/environments",
    "/user-admin",
    "/user-admin?offset=9900",
    "/user-admin/inactive",
    "/service-account",
    "/events",
    "/events?before=50000",
    "/events?before=100",
    "/events?type=feature-updated&project=p7",
    "/events?feature=feature-1234",
    "/events?from=2026-01-01T00:00:00Z&actor=1",
    "/events?text=feature-99",
    "/search?q=feature-99",
)
PAGES = (
    "/projects",
    "/projects?sort=-changedAt",
    "/projects?offset=9950",
    "/projects/p0",
    "/projects/p0?offset=33000",
    "/projects/p0?text=feature-9&tag=simple:tag-7",
    "/projects/p0?sort=-createdAt",
    "/projects/p0/features/feature-3",
    "/projects/p0/settings",
    "/projects/p0/members",
    "/tags",
    "/environments",
    "/users",
    "/users/2",
    "/users/inactive",
    "/events",
    "/events?before=80000",
    "/events?text=person",
    "/search?q=feature-99",
    "/search/hits?q=project+12",
)
PASSWORD = "four words that no one guesses"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--database", default="", help="a PostgreSQL URL of an empty database")
    parser.add_argument("--times", type=int, default=40, help="requests a list")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        environ = {"FLAGSTAFF_HOME": home, "FLAGSTAFF_DATABASE_URL": chosen.database}
        grow(environ)
        settings = {"HOME": home, "DATABASE_URL": chosen.database, "BOOTSTRAP_TOKEN": TOKEN}
        with running(FLAGSTAFF, "/ready", **settings) as server:
            print(f"{'list':<62}{'p50 ms':>8}{'p95 ms':>8}")
            token, cookie = {"Authorization": TOKEN}, {"Cookie": signed_in(server.port)}
            asked = [(f"/api/admin{path}", token) for path in LISTS]
            asked += [(path, cookie) for path in PAGES]
            for path, headers in asked:
                show(path, times(server.port, path, headers, chosen.times))
            path, names = "/api/admin/projects/p0/archive/plan", range(0, 3 * REVIEWED, 3)
            body = json.dumps({"features": [f"feature-{n}" for n in names]})
            json_too = token | {"Content-Type": "application/json"}
            taken = times(server.port, path, json_too, chosen.times, body)
            show(f"{path} ({REVIEWED} features)", taken)


def signed_in(port: int) -> str:
    """The cookie of a session of the Admin."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/sign-in")
    answer = connection.getresponse()
    cookie = (answer.headers["Set-Cookie"] or "").partition(";")[0]
    token = re.search(r'name="csrf_token" value="([^"]+)"', answer.read().decode())
    form = {"name": "person-0", "password": PASSWORD, "csrf_token": token and token[1]}
    headers = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", "/sign-in", urllib.parse.urlencode(form), headers)
    answer = connection.getresponse()
    if answer.status != http.HTTPStatus.SEE_OTHER:
        raise SystemExit(f"signing in was answered {answer.status}")
    return (answer.headers["Set-Cookie"] or "").partition(";")[0]


def show(what: str, taken: list[float]) -> None:
    print(f"{what:<62}{statistics.median(taken):>8.1f}{p95(taken):>8.1f}", flush=True)


def p95(taken: list[float]) -> float:
    return statistics.quantiles(taken, n=20)[-1]


def times(
    port: int, path: str, headers: dict[str, str], count: int, body: str | None = None
) -> list[float]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    taken = []
    for _ in range(count):
        start = time.perf_counter()
        connection.request("POST" if body else "GET", path, body, headers)
        answer = connection.getresponse()
        answer.read()
        taken.append((time.perf_counter() - start) * 1_000)
        if answer.status != http.HTTPStatus.OK:
            raise SystemExit(f"{path} answered {answer.status}")
    connection.close()
    return taken


def grow(environ: dict[str, str]) -> None:
    """Make the database of an instance that has grown."""
    with create_app(from_environment(environ)).app_context():
        migrations.upgrade(db.engine)
        with unit_of_work(writes=True):
            _fill()
        db.engine.dispose()


def _fill() -> None:
    now = utcnow()
    insert(
        Account,
        (
            {
                "kind": AccountKind.PERSON,
                "role": Role.ADMIN if n == 0 else Role.VIEWER,
                "username": f"person-{n}",
                "username_key": f"person-{n}",
                "created_at": now - timedelta(days=400),
                "last_sign_in_at": now - timedelta(days=n % 250),
            }
            for n in range(PEOPLE)
        ),
    )
    admin = db.session.get_one(Account, 1)
    passwords.set_first(COMMAND_LINE, admin, password=PASSWORD, shortest=8)
    insert(
        Project,
        (
            {"id": f"p{n}", "name": f"Project {n}", "mode": ProjectMode.OPEN}
            for n in range(PROJECTS)
        ),
    )
    insert(
        ProjectEnvironment,
        ({"project_id": f"p{n}", "environment": "production"} for n in range(PROJECTS)),
    )
    insert(
        Member,
        (
            {
                "project_id": f"p{n % PROJECTS}",
                "account_id": 1 + n,
                "role": Role.MEMBER if n else Role.OWNER,
            }
            for n in range(PEOPLE)
        ),
    )
    insert(
        Favourite,
        (
            {"account_id": 1, "project_id": f"p{n}", "feature_id": 0 if n % 2 else 1 + n}
            for n in range(1, 41)
        ),
    )
    # A third of all features in one project: what is slow, is slow there.
    insert(
        Feature,
        (
            {
                "name": f"feature-{n}",
                "project_id": "p0" if n % 3 == 0 else f"p{n % PROJECTS}",
                "type": FeatureType.RELEASE,
                "description": f"Lets people in group {n} pay before it is ready for everyone else",
            }
            for n in range(FEATURES)
        ),
    )
    insert(Tag, ({"type": "simple", "value": f"tag-{n}"} for n in range(TAGS)))
    insert(
        FeatureTag,
        (
            {"feature_id": 1 + n, "tag_id": 1 + (n * 7 + step * 31) % TAGS}
            for n in range(FEATURES)
            for step in range(5)
        ),
    )
    last = db.session.scalar(sa.select(sa.func.max(Event.id))) or 0
    insert(
        Event,
        (
            {
                "id": last + 1 + n,
                "type": EventType.FEATURE_UPDATED,
                "created_at": now - timedelta(minutes=EVENTS - n),
                "created_by": "person-1",
                "created_by_user_id": 1 + n % 50,
                "project": f"p{n % PROJECTS}",
                "feature_name": f"feature-{n % FEATURES}",
                "data": {"stale": True},
                "pre_data": {"stale": False},
            }
            for n in range(EVENTS)
        ),
    )
    db.session.execute(sa.update(EventHead).values(last_id=last + EVENTS))
    insert(
        SignIn,
        (
            {
                "account_id": 1 + n % PEOPLE,
                "at": now - timedelta(minutes=SIGN_INS - n),
                "network": "127.0.0.0/24",
                "succeeded": n % 20 > 0,
            }
            for n in range(SIGN_INS)
        ),
    )


def insert(model: Any, rows: Any) -> None:
    for chunk in chunks(rows, 5_000):
        db.session.execute(sa.insert(model), chunk)


if __name__ == "__main__":
    main()
