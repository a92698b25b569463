"""The event log can't be changed, and whoever gets round that is found out."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
import sqlalchemy as sa

from app.events.chain import START
from tests.cli.conftest import Machine, Server

UNBROKEN = "events, unbroken, ending with number"
FACTS = "SELECT id, digest FROM events ORDER BY id"


@pytest.fixture
def larkspur(machine: Machine) -> Machine:
    machine.ok("demo")
    return machine


@pytest.fixture
def file(larkspur: Machine) -> Iterator[sqlite3.Connection]:
    """The database as somebody has it who can write to its file: the triggers are gone."""
    with closing(sqlite3.connect(larkspur.home / "flagstaff.db")) as connection:
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        connection.commit()
        yield connection


def broken_at(machine: Machine) -> str:
    return machine.refused("events", "verify").removeprefix("The log is broken at event ")


@pytest.mark.parametrize(
    "change", ["UPDATE events SET created_by = 'nobody'", "DELETE FROM events"]
)
def test_the_database_itself_lets_nobody_change_an_event(larkspur, change):
    never = pytest.raises(sqlite3.IntegrityError, match="events are never changed")
    with closing(sqlite3.connect(larkspur.home / "flagstaff.db")) as connection, never:
        connection.execute(f"{change} WHERE id = 5")
    assert UNBROKEN in larkspur.ok("events", "verify")


@pytest.mark.parametrize("change", ["UPDATE events SET reason = 'x'", "DELETE FROM events"])
def test_postgresql_lets_nobody_change_an_event_either(machine, empty_postgresql, change):
    machine.settings["DATABASE_URL"] = empty_postgresql
    machine.ok("demo")
    engine = sa.create_engine(empty_postgresql.replace("postgresql://", "postgresql+psycopg://"))
    for statement in (f"{change} WHERE id = 5", "TRUNCATE events"):
        with pytest.raises(sa.exc.DBAPIError, match="never changed"), engine.begin() as connection:
            connection.execute(sa.text(statement))
    engine.dispose()
    assert UNBROKEN in machine.ok("events", "verify")


def test_an_event_that_was_changed_is_found(larkspur, file):
    file.execute("UPDATE events SET created_by = 'nobody' WHERE id = 57")
    file.commit()
    assert broken_at(larkspur).startswith("57: it, or the one before it")


def test_an_event_that_was_taken_out_is_found(larkspur, file):
    file.execute("DELETE FROM events WHERE id = 57")
    file.commit()
    assert broken_at(larkspur).startswith("58: it, or the one before it")


def test_two_events_that_changed_places_are_found(larkspur, file):
    file.execute("UPDATE events SET id = 100000 WHERE id = 57")
    file.execute("UPDATE events SET id = 57 WHERE id = 58")
    file.execute("UPDATE events SET id = 58 WHERE id = 100000")
    file.commit()
    assert broken_at(larkspur).startswith("57: ")


def test_an_event_that_was_put_in_is_found(larkspur, file):
    last = file.execute("SELECT max(id) FROM events").fetchone()[0]
    file.execute(
        "INSERT INTO events (id, type, created_at, created_by) "
        "VALUES (?, 'user-created', '2026-01-01 00:00:00', 'nobody')",
        (last + 1,),
    )
    file.commit()
    assert broken_at(larkspur).startswith(f"{last + 1}: ")


def test_an_end_that_was_cut_off_is_found(larkspur, file):
    last = file.execute("SELECT max(id) FROM events").fetchone()[0]
    file.execute("DELETE FROM events WHERE id > ?", (last - 3,))
    file.commit()
    assert broken_at(larkspur) == f"{last - 3}: events after it are missing."


def test_a_log_that_was_told_anew_is_found_by_what_was_written_down(larkspur, file):
    server = Server(larkspur)
    server.wait_until_ready()
    assert server.end() == 0
    heads = larkspur.home / "event_heads.jsonl"
    written = [json.loads(line) for line in heads.read_text().splitlines()]
    last, digest = file.execute(f"{FACTS} DESC LIMIT 1").fetchone()
    assert written[-1] == {"id": last, "digest": digest.hex()}
    assert UNBROKEN in larkspur.ok("events", "verify")
    # Somebody makes the whole log end two events earlier, and the chain is sound.
    id, digest = file.execute(f"{FACTS} DESC LIMIT 1 OFFSET 2").fetchone()
    file.execute("DELETE FROM events WHERE id > ?", (id,))
    file.execute("UPDATE event_heads SET last_id = ?, digest = ?", (id, digest))
    file.commit()
    assert broken_at(larkspur) == f"{id}: events after it are missing."


def test_what_was_written_down_in_half_costs_that_line_alone(larkspur, file):
    heads = larkspur.home / "event_heads.jsonl"
    heads.write_text('{"id": 3, "dig')  # the disk was full
    assert UNBROKEN in larkspur.ok("events", "verify")
    server = Server(larkspur)
    server.wait_until_ready()
    assert server.end() == 0
    file.execute("DELETE FROM events WHERE id > 5")
    file.execute(
        "UPDATE event_heads SET last_id = 5, digest = (SELECT digest FROM events WHERE id = 5)"
    )
    file.commit()
    assert broken_at(larkspur) == "5: events after it are missing."


def test_what_is_old_can_be_taken_away_from_the_beginning_alone(larkspur):
    with closing(sqlite3.connect(larkspur.home / "flagstaff.db")) as connection:
        count = connection.execute("SELECT count(*) FROM events").fetchone()[0]
    assert larkspur.ok("events", "prune", "--before", "2020-01-01") == "Took 0 events away."
    assert larkspur.ok("events", "prune", "--before", "2999-01-01") == (
        f"Took {count:,} events away."
    )
    assert larkspur.ok("events", "verify").startswith("1 events, unbroken")
    larkspur.ok("user", "create", "--username", "nora")
    assert larkspur.ok("events", "verify").startswith("2 events, unbroken")


def test_an_empty_log_is_unbroken(machine):
    machine.ok("db", "upgrade")
    assert machine.ok("events", "verify") == (
        f"0 events, unbroken, ending with number 0, {START.hex()}"
    )


def test_events_from_before_the_chain_are_taken_into_it(machine, monkeypatch):
    from app import create_app  # noqa: PLC0415 - with an older set of migrations
    from app.config import from_environment  # noqa: PLC0415
    from app.core import migrations  # noqa: PLC0415
    from app.core.db import db  # noqa: PLC0415

    machine.home.mkdir()
    with create_app(from_environment(machine.environ())).app_context():
        migrations.prepare(db.engine)
        with db.engine.begin() as connection:
            migrations.build(connection, to="0004")
            for number in range(3):
                connection.exec_driver_sql(
                    "INSERT INTO events (type, created_at, created_by, data) VALUES "
                    f"('user-created', '2026-01-0{number + 1} 10:00:00.5', 'ada', '{{\"é\": 1}}')"
                )
        db.engine.dispose()
    machine.ok("db", "upgrade")
    assert machine.ok("events", "verify").startswith("3 events, unbroken")
    machine.ok("user", "create", "--username", "nora")
    assert machine.ok("events", "verify").startswith("4 events, unbroken")
