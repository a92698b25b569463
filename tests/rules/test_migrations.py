"""Migrations end at exactly the models, wherever they start and however many run them at once."""

import multiprocessing
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from multiprocessing.synchronize import Barrier
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from app.core import migrations
from app.core.config import from_environment
from app.core.db import Model, db
from app.factory import create_app
from tests.support import migrated as by_script

pytestmark = pytest.mark.slow

PROCESSES = 4
ROUNDS = 3

Make = Callable[[], sa.Engine]


@pytest.fixture(autouse=True)
def _by_migrations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrations, "build", by_script.by_migrations)


@pytest.fixture(params=["sqlite", "postgresql"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Makes empty databases."""
    made: list[sa.Engine] = []

    def empty() -> sa.Engine:
        name = f"empty_{len(made)}"
        url = f"sqlite:///{tmp_path / name}.db"
        if request.param == "postgresql":
            server = sa.make_url(request.getfixturevalue("postgresql_url"))
            execute(server, f"CREATE DATABASE {name}")
            url = server.set(database=name).render_as_string(hide_password=False)
        made.append(engine_of(url, tmp_path))
        return made[-1]

    yield empty
    for engine in made:
        engine.dispose()
        if request.param == "postgresql":
            execute(engine.url.set(database="postgres"), f"DROP DATABASE {engine.url.database}")


@pytest.fixture
def migrated(make: Make) -> sa.Engine:
    engine = make()
    migrations.upgrade(engine)
    return engine


def engine_of(url: str, home: Path) -> sa.Engine:
    """The engine as the application uses it."""
    app = create_app(from_environment({"FLAGSTAFF_DATABASE_URL": url, "FLAGSTAFF_HOME": str(home)}))
    with app.app_context():
        return db.engine


def execute(url: sa.URL, statement: str) -> None:
    """Run a statement that can't be part of a transaction."""
    engine = sa.create_engine(url.set(drivername="postgresql+psycopg"), poolclass=sa.NullPool)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(sa.text(statement))


def schema_of(engine: sa.Engine) -> dict[str, Any]:
    """What the database says about its tables, in an order of our own."""
    inspector = sa.inspect(engine)
    return {
        table: {
            "columns": in_words(inspector.get_columns(table)),
            "key": in_words(inspector.get_pk_constraint(table)),
            "references": in_words(inspector.get_foreign_keys(table)),
            "unique": in_words(inspector.get_unique_constraints(table)),
            "checks": in_words(inspector.get_check_constraints(table)),
            "indexes": in_words(inspector.get_indexes(table)),
            "options": in_words(inspector.get_table_options(table)),
        }
        for table in set(inspector.get_table_names()) - {"alembic_version"}
    }


def untimed(rows: dict[str, list[tuple[Any, ...]]]) -> dict[str, list[list[Any]]]:
    """The rows without the times at which they were written."""
    return {
        table: [[value for value in row if not isinstance(value, datetime)] for row in found]
        for table, found in rows.items()
    }


def other_parts_of(engine: sa.Engine) -> list[tuple[str, str]]:
    """Triggers, views and all else of an SQLite database, as it was written."""
    with engine.connect() as connection:
        others = "SELECT name, sql FROM sqlite_master WHERE type <> 'table' ORDER BY name"
        return [(row.name, row.sql) for row in connection.execute(sa.text(others))]


def in_words(found: Any) -> Any:
    """Types and conditions are objects: their words compare, they do not."""
    if isinstance(found, dict):
        return {key: in_words(value) for key, value in found.items()}
    if isinstance(found, list) and found and isinstance(found[0], dict):
        return sorted(map(in_words, found), key=itemgetter("name"))
    return [in_words(value) for value in found] if isinstance(found, list) else str(found)


def rows_of(engine: sa.Engine) -> dict[str, list[tuple[Any, ...]]]:
    with engine.connect() as connection:
        rows = {
            table.name: sorted(map(tuple, connection.execute(sa.select(table))))
            for table in Model.metadata.sorted_tables
        }
        version = connection.execute(sa.text("SELECT * FROM alembic_version"))
        return rows | {"alembic_version": [tuple(row) for row in version]}


def test_migrations_and_models_agree(migrated):
    with migrated.connect() as connection:
        options = {"compare_type": True, "compare_server_default": True}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, Model.metadata) == []


def test_a_migrated_database_is_one_that_the_models_would_make(migrated, make):
    wanted = make()
    Model.metadata.create_all(wanted)
    found, expected = schema_of(migrated), schema_of(wanted)
    assert found.keys() == expected.keys()
    for table, facts in expected.items():
        assert found[table] == facts, table


@pytest.mark.parametrize("make", ["sqlite"], indirect=True)
def test_the_script_that_tests_begin_with_makes_what_migrations_make(migrated, make):
    scripted = make()
    with scripted.begin() as connection:
        by_script.build(connection)
    assert schema_of(scripted) == schema_of(migrated)
    assert untimed(rows_of(scripted)) == untimed(rows_of(migrated))
    assert other_parts_of(scripted) == other_parts_of(migrated)


IMPOSSIBLE = [
    "INSERT INTO roles VALUES (6, 'Admin')",
    "INSERT INTO roles VALUES (1, 'Another')",
    "INSERT INTO tags (type, value) VALUES ('unknown', 'x')",
    "INSERT INTO project_approvals VALUES ('default', 'production', 11)",
    "INSERT INTO project_environments VALUES ('default', 'unknown')",
    "INSERT INTO project_members (project_id, account_id, role) VALUES ('default', 1, 3)",
    "UPDATE projects SET mode = 'secret'",
    "UPDATE projects SET name = NULL",
    f"UPDATE projects SET name = '{'x' * 256}'",
    "UPDATE environments SET type = 'moon'",
    "UPDATE tag_types SET hue = 9",
    (
        "INSERT INTO features (name, project_id, type, stale, impression_data, created_at, "
        "completed_status) VALUES ('x', 'default', 'release', FALSE, FALSE, '2026-11-01', 'lost')"
    ),
]


USED = [
    *(
        "INSERT INTO features (id, name, project_id, type, stale, impression_data, created_at) "
        f"VALUES ({id}, '{name}', 'default', 'release', FALSE, FALSE, '2026-11-01')"
        for id, name in ((1, "cart"), (2, "search"))
    ),
    (
        "INSERT INTO applications (id, name, strategies, created_at) "
        "VALUES (1, 'shop', '[]', '2026-11-01')"
    ),
    *(
        "INSERT INTO feature_usage "
        "(feature_id, environment, span, start, application_id, yes, no) "
        f"VALUES (1, 'production', 'day', '2026-11-{day} 00:00:00', 1, {yes}, 1)"
        for day, yes in (("02", 0), ("03", 5), ("04", 1))
    ),
    *(
        "INSERT INTO feature_seen (feature_id, environment, last_seen_at) "
        f"VALUES ({id}, 'production', '2026-11-05 09:30:00')"
        for id in (1, 2)
    ),
    (
        "INSERT INTO feature_states (feature_id, environment, enabled, variants) "
        "VALUES (1, 'production', TRUE, '[]')"
    ),
]


EVENT = (
    "INSERT INTO events (id, type, created_at, created_by) "
    "VALUES (1, 'project-created', '2026-11-01', 'kim')"
)
PEOPLE = [
    (
        "INSERT INTO accounts (id, kind, username, role, own_role, login_attempts, created_at) "
        "VALUES (1, 'person', 'kim', 3, 3, 0, '2026-11-01')"
    ),
    "INSERT INTO project_members (project_id, account_id, role) VALUES ('default', 1, 5)",
]


def test_the_database_itself_refuses_what_can_not_be(migrated):
    for statement in IMPOSSIBLE:
        refused = pytest.raises((sa.exc.IntegrityError, sa.exc.DataError))
        with migrated.connect() as connection, refused:
            connection.execute(sa.text(statement))


def test_a_new_instance_has_what_everything_else_stands_on(migrated):
    with migrated.connect() as connection:
        roles = connection.execute(sa.text("SELECT id, name FROM roles ORDER BY id")).all()
        projects = connection.execute(sa.text("SELECT id, mode FROM projects")).all()
        environments = connection.scalars(sa.text("SELECT name FROM environments ORDER BY 1"))
        enabled = connection.execute(sa.text("SELECT * FROM project_environments ORDER BY 2"))
        types = connection.scalars(sa.text("SELECT name FROM tag_types")).all()
        assert roles == [(1, "Admin"), (2, "Editor"), (3, "Viewer"), (4, "Owner"), (5, "Member")]
        assert projects == [("default", "open")]
        assert environments.all() == ["development", "production"]
        assert enabled.all() == [("default", "development"), ("default", "production")]
        assert types == ["simple"]


def test_what_is_known_of_use_becomes_the_beginning_of_a_lifecycle(make):
    """Of one feature days are counted, of the other only when it was last seen."""
    engine, begun = make(), datetime.now(UTC)
    with engine.begin() as connection:
        migrations.build(connection, to="0018")
        for statement in USED:
            connection.execute(sa.text(statement))
        migrations.build(connection)
        seen = connection.execute(
            sa.text("SELECT first_seen_at, first_on_at FROM feature_seen ORDER BY feature_id")
        )
        assert [[at and str(at)[:16] for at in row] for row in seen] == [
            ["2026-11-02 00:00", "2026-11-03 00:00"],
            ["2026-11-05 09:30", None],
        ]
        changed = connection.scalars(sa.text("SELECT changed_at FROM feature_states"))
        [day] = [str(at)[:10] for at in changed]
        assert day in {str(begun.date()), str(datetime.now(UTC).date())}  # it may be midnight


def test_an_instance_with_people_gets_their_time_zones(make):
    engine = make()
    with engine.begin() as connection:
        migrations.build(connection, to="0033")
    with engine.begin() as connection:
        for statement in PEOPLE:
            connection.execute(sa.text(statement))
    migrations.upgrade(engine)
    with engine.connect() as connection:
        zones = connection.scalars(sa.text("SELECT time_zone FROM accounts")).all()
    assert zones == [None]


def test_starting_again_changes_nothing(migrated):
    rows, schema = rows_of(migrated), schema_of(migrated)
    migrations.upgrade(migrated)
    assert migrations.is_current(migrated)
    assert (rows_of(migrated), schema_of(migrated)) == (rows, schema)


def test_a_database_of_a_newer_version_is_left_alone(migrated):
    with migrated.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    rows, schema = rows_of(migrated), schema_of(migrated)
    with pytest.raises(migrations.WrongSchema) as refusal:
        migrations.upgrade(migrated)
    assert "The database is at revision 9999" in str(refusal.value)
    assert "Install the version that created it, or a newer one." in str(refusal.value)
    assert (rows_of(migrated), schema_of(migrated)) == (rows, schema)


@pytest.mark.one_in(2)
def test_processes_that_start_at_once_all_succeed(make, tmp_path, by_turns):
    engines = [make() for _ in by_turns(range(ROUNDS))]
    urls = [engine.url.render_as_string(hide_password=False) for engine in engines]
    context = multiprocessing.get_context("spawn")
    together = context.Barrier(PROCESSES, timeout=20)
    processes = [
        context.Process(target=upgrade_all, args=(urls, tmp_path, together))
        for _ in range(PROCESSES)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * PROCESSES
    for engine in engines:
        assert migrations.is_current(engine)
        assert len(rows_of(engine)["roles"]) == 5


def upgrade_all(urls: list[str], home: Path, together: Barrier) -> None:
    """Run by each process: at every database all of them begin at the same moment."""
    for url in urls:
        engine = engine_of(url, home)
        together.wait()
        migrations.upgrade(engine)
        engine.dispose()


@pytest.mark.parametrize("events", [0, 1])
def test_an_instance_with_events_was_served_by_a_version_that_is_not_known(make, events):
    engine = make()
    with engine.begin() as connection:
        migrations.build(connection, to="0035")
    with engine.begin() as connection:
        for _ in range(events):
            connection.execute(sa.text(EVENT))
            connection.execute(sa.text("UPDATE event_heads SET last_id = 1"))
    migrations.upgrade(engine)
    with engine.connect() as connection:
        served = connection.scalars(sa.text("SELECT version FROM served_versions")).all()
    assert served == [""] * events
