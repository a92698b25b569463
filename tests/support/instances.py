"""Applications on a database, and setting the database back to its first state."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import pytest
import sqlalchemy as sa
from flask import Flask

from app.access.auth.pages import HAS_USERS
from app.catalogue.visits.pending import PendingVisits
from app.core import migrations, storage
from app.core.config import from_environment
from app.core.db import MAX_ID, Model, db
from app.core.events.models import EventHead
from app.factory import create_app
from tests.support import imports

BACKENDS = ("sqlite", "postgresql")


def new_instance(environ: dict[str, str]) -> Flask:
    app = create_app(from_environment(environ))
    app.testing = False  # an error is to be answered as it would be
    app.extensions["flagstaff.security_log"].seconds = 0  # tests see each entry at once
    app.extensions["flagstaff.visits"].seconds = 0  # as above
    with app.app_context():
        migrations.upgrade(db.engine)
    return app


@contextmanager
def open_instance(environ: dict[str, str]) -> Iterator[Flask]:
    """An instance whose connections are closed at the end."""
    app = new_instance(environ)
    yield app
    with app.app_context():
        db.engine.dispose()


class State(NamedTuple):
    """All that a database holds; ``numbers``: where its sequences are, on PostgreSQL."""

    rows: dict[str, list[dict[str, Any]]]
    numbers: dict[str, int]


def state_of(engine: sa.Engine) -> State:
    with engine.connect() as connection:
        rows = {
            table.name: [dict(row._mapping) for row in connection.execute(sa.select(table))]
            for table in Model.metadata.sorted_tables
        }
        numbers: dict[str, int] = {}
        if engine.dialect.name == "postgresql":
            found = "SELECT sequencename, last_value FROM pg_sequences WHERE last_value IS NOT NULL"
            numbers = {row[0]: row[1] for row in connection.exec_driver_sql(found)}
        return State(rows, numbers)


def reset_database(to: State | None = None) -> None:
    """Put all rows back: to what the migrations left, if no other state is given."""
    imports.wait()  # or one that is at work would fail, as its rows are gone
    state = to or _initial_state(db.engine)
    tables = Model.metadata.sorted_tables
    with db.engine.begin() as connection:
        if db.engine.dialect.name == "postgresql":
            connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
            connection.exec_driver_sql(_delete_all())
        else:
            connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
            connection.execute(sa.update(EventHead).values(pruned_to=MAX_ID))  # all may go
            for table in reversed(tables):
                connection.exec_driver_sql(f"DELETE FROM {table.name}")
            connection.exec_driver_sql("DELETE FROM sqlite_sequence")
        for table in tables:
            if state.rows[table.name]:
                connection.execute(table.insert(), state.rows[table.name])
        for name, last in state.numbers.items():
            connection.execute(sa.select(sa.func.setval(name, last)))
    db.session.remove()
    storage._failed_at.pop(db.engine, None)  # or no use of a token is noted for a second


@cache
def _delete_all() -> str:
    """For PostgreSQL, in one statement: truncating takes 20 times as long for so few rows."""
    deletions = (
        f"IF EXISTS (SELECT FROM {table.name}) THEN DELETE FROM {table.name}; END IF;"
        for table in Model.metadata.sorted_tables
    )
    return f"""DO $$ BEGIN
        {"".join(deletions)}
        PERFORM setval(oid::regclass, 1, false) FROM pg_class
            WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace;
    END $$"""


_initial: dict[str, State] = {}


def _initial_state(engine: sa.Engine) -> State:
    """What the migrations left, read before the first test changes anything."""
    if engine.dialect.name not in _initial:
        _initial[engine.dialect.name] = state_of(engine)
    return _initial[engine.dialect.name]


@pytest.fixture(scope="session")
def instances(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[str, pytest.FixtureRequest], Flask]]:
    """One application a database, made when first asked for."""
    made: dict[str, Flask] = {}

    def instance(backend: str, request: pytest.FixtureRequest) -> Flask:
        if backend not in made:
            home = tmp_path_factory.mktemp("instance")
            environ = {
                "FLAGSTAFF_HOME": str(home),
                "FLAGSTAFF_THREADS": "16",
                "FLAGSTAFF_WEBHOOK_HOSTS": "hooks.example,hooks.example.com",
            }
            if backend == "postgresql":
                environ["FLAGSTAFF_DATABASE_URL"] = request.getfixturevalue("postgresql_url")
            made[backend] = new_instance(environ)
        return made[backend]

    yield instance
    for app in made.values():
        with app.app_context():
            db.engine.dispose()


@pytest.fixture(params=BACKENDS)
def app(request: pytest.FixtureRequest, instances: Callable[..., Flask]) -> Flask:
    """The application on a database as the first start leaves it."""
    return _at_its_start(instances(request.param, request))


@pytest.fixture
def twins(request: pytest.FixtureRequest, instances: Callable[..., Flask]) -> list[Flask]:
    """The application on each of the databases, as the first start leaves it."""
    return [_at_its_start(instances(backend, request)) for backend in BACKENDS]


def _at_its_start(app: Flask) -> Flask:
    app.extensions["flagstaff.visits"] = PendingVisits(seconds=0)  # none of people who are gone
    app.extensions.pop(HAS_USERS, None)
    with app.app_context():
        reset_database()
    return app
