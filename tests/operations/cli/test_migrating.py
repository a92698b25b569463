"""A migration that is killed half-way leaves nothing of it, and is done by the next start."""

import subprocess

import psycopg
import sqlalchemy as sa

from app.core import migrations
from app.core.files import revisions
from tests.support.machines import EXECUTABLE
from tests.support.servers import until

WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


def at_revision(url: str, revision: str) -> None:
    engine = sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        migrations.build(connection, to=revision)
    engine.dispose()


def test_a_migration_killed_half_way_leaves_nothing_and_is_done_again(
    machine, start, empty_postgresql
):
    machine.settings["DATABASE_URL"] = empty_postgresql
    at_revision(empty_postgresql, "0001")
    with psycopg.connect(empty_postgresql) as somebody:
        somebody.execute("SELECT * FROM events")  # whose table the last migration changes
        with subprocess.Popen([EXECUTABLE, "serve"], env=machine.environ(PORT="1")) as migrating:
            with psycopg.connect(empty_postgresql, autocommit=True) as watcher:
                until(lambda: watcher.execute(WAITING).fetchone() == (1,))
            migrating.kill()
    newest = revisions()[-1]
    found = machine.ok("db", "current")
    assert found == f"0001 (needs {newest}; run: flagstaff db upgrade)"
    server = start()
    assert server.call("GET", "/ready", token=None).status == 200
    assert machine.ok("db", "current") == f"{newest} (up to date)"
