"""How long switching takes: ``python -m tests.bench.switching``, also with ``--postgresql``.

Switches 3,000 features on, off and on again; lists 10,000 features in four environments; and starts
with 100,000 features in three. Prints milliseconds, and CPU time of the server and of PostgreSQL.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from app.accounts import passwords
from app.accounts.models import Account, AccountKind
from app.catalogue.environments.models import Environment, EnvironmentType
from app.catalogue.features.models import Feature, FeatureType
from app.catalogue.projects.models import Project, ProjectEnvironment, ProjectMode
from app.catalogue.strategies.models import FeatureState, Strategy
from app.core import migrations
from app.core.actor import COMMAND_LINE
from app.core.clock import utcnow
from app.core.config import from_environment
from app.core.db import db, unit_of_work
from app.core.permissions import Role
from app.factory import create_app
from tests.bench import postgresql
from tests.bench.beside import cpu_ms
from tests.bench.growth import PASSWORD, TOKEN, insert, show, signed_in, times
from tests.support.processes import FLAGSTAFF, Server, running

ROUNDS = 3
SWITCHED, LISTED, STARTED = 3_000, 10_000, 100_000
ENVIRONMENTS = ("development", "production", "staging", "test")
ADMIN = {"Authorization": TOKEN, "Content-Type": "application/json"}
WAYS = {
    "on, with the default strategy": "on",
    "on, unchanged": "on",
    "off": "off",
    "on, with its strategy": "on",
}
"""What is sent one after the other, by what it does."""


@dataclass(frozen=True, slots=True)
class Instance:
    """``postgresql``: the process of the database's server, if there is one."""

    settings: dict[str, Any]
    postgresql: list[int]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.switching", description=__doc__)
    parser.add_argument("--postgresql", **postgresql.OPTION)
    chosen = parser.parse_args().postgresql
    with _instance(chosen) as instance:
        for number in range(ROUNDS):
            _fill(instance, f"p{number}", SWITCHED, ENVIRONMENTS[:2], with_strategies=False)
        with running(FLAGSTAFF, "/ready", **instance.settings) as server:
            _switch(server, instance)
    with _instance(chosen) as instance:
        _fill(instance, "p0", LISTED, ENVIRONMENTS)
        with running(FLAGSTAFF, "/ready", **instance.settings) as server:
            _list(server)
    with _instance(chosen) as instance:
        _fill(instance, "p0", STARTED, ENVIRONMENTS[:3])
        starts = []
        for _ in range(ROUNDS):
            with running(FLAGSTAFF, "/ready", **instance.settings) as server:
                starts.append(server.started_in)
    sys.stdout.write(f"start with {STARTED:,} features: {median(starts):.2f} s\n")


def _switch(server: Server, instance: Instance) -> None:
    """A project for each round, since a feature gets the default strategy only once."""
    found: dict[str, list[tuple[float, ...]]] = {what: [] for what in WAYS}
    times(server.port, "/api/admin/user", ADMIN, 1)
    for number in range(ROUNDS):
        body = json.dumps({"features": [f"p{number}-{n}" for n in range(SWITCHED)]})
        for what, way in WAYS.items():
            path = f"/api/admin/projects/p{number}/bulk_features/environments/production/{way}"
            before = cpu_ms([server.process.pid]), cpu_ms(instance.postgresql)
            [taken] = times(server.port, path, ADMIN, 1, body)
            after = cpu_ms([server.process.pid]), cpu_ms(instance.postgresql)
            found[what].append((taken, after[0] - before[0], after[1] - before[1]))
    for what, rows in found.items():
        wall, own, other = map(median, zip(*rows, strict=True))
        line = f"{SWITCHED:,} {what:<40}{wall:>6.0f} ms, CPU {own:.0f} and {other:.0f}\n"
        sys.stdout.write(line)
        sys.stdout.flush()


def _list(server: Server) -> None:
    cookie = {"Cookie": signed_in(server.port)}
    for path in ("/api/admin/projects/p0/features", "/api/admin/projects/p0/features?limit=1000"):
        show(path, times(server.port, path, ADMIN, 40))
    for path in ("/projects/p0", f"/projects/p0?offset={LISTED - 50}"):
        show(path, times(server.port, path, cookie, 40))


@contextmanager
def _instance(chosen: str) -> Iterator[Instance]:
    """A database with an Admin and the environments."""
    with postgresql.chosen(chosen) as url, TemporaryDirectory() as home:
        settings = {"HOME": home, "DATABASE_URL": url, "BOOTSTRAP_TOKEN": TOKEN}
        with _application(settings):
            migrations.upgrade(db.engine)
            with unit_of_work(writes=True):
                _begin()
            with db.engine.connect() as connection:
                file = sa.text("SELECT pg_read_file('postmaster.pid')")
                pid = [int(connection.scalar(file).split()[0])] if url else []
        yield Instance(settings, pid)


@contextmanager
def _application(settings: dict[str, Any]) -> Iterator[None]:
    environ = {f"FLAGSTAFF_{name}": value for name, value in settings.items()}
    with create_app(from_environment(environ)).app_context():
        yield
        db.engine.dispose()


def _begin() -> None:
    person: dict[str, Any] = {
        "kind": AccountKind.PERSON,
        "role": Role.ADMIN,
        "created_at": utcnow(),
    }
    insert(Account, [person | {"username": "person-0", "username_key": "person-0"}])
    admin = db.session.get_one(Account, 1)
    passwords.set_first(COMMAND_LINE, admin, password=PASSWORD, shortest=8)
    for order, name in enumerate(ENVIRONMENTS[2:], 3):
        db.session.add(Environment(name=name, type=EnvironmentType.TEST, sort_order=order))


def _fill(
    instance: Instance,
    project: str,
    features: int,
    environments: Sequence[str],
    *,
    with_strategies: bool = True,
) -> None:
    """Features that are on in two of three environments, and have a strategy in each."""
    with _application(instance.settings), unit_of_work(writes=True):
        insert(Project, [{"id": project, "name": project, "mode": ProjectMode.OPEN}])
        uses = [{"project_id": project, "environment": name} for name in environments]
        insert(ProjectEnvironment, uses)
        common: dict[str, Any] = {"project_id": project, "type": FeatureType.RELEASE}
        insert(Feature, (common | {"name": f"{project}-{n}"} for n in range(features)))
        if not with_strategies:
            return
        ids = db.session.scalars(sa.select(Feature.id)).all()
        places = [(id, name) for id in ids for name in environments]
        insert(FeatureState, (_state(*place, number) for number, place in enumerate(places)))
        insert(Strategy, (_strategy(*place) for place in places))


def _state(id: int, environment: str, number: int) -> dict[str, Any]:
    is_on = number % 3 > 0
    return {"feature_id": id, "environment": environment, "enabled": is_on, "variants": []}


def _strategy(id: int, environment: str) -> dict[str, Any]:
    rollout = {"rollout": str(id % 101), "stickiness": "default", "groupId": f"g{id}"}
    constraint: dict[str, Any] = {
        "contextName": "userId",
        "operator": "IN",
        "values": ["1", "2", "3"],
    }
    constraint |= {"inverted": False, "caseInsensitive": False}
    return {
        "id": str(uuid4()),
        "feature_id": id,
        "environment": environment,
        "name": "flexibleRollout",
        "sort_order": 0,
        "parameters": rollout,
        "constraints": [] if id % 4 else [constraint],
        "variants": [],
    }


if __name__ == "__main__":
    main()
