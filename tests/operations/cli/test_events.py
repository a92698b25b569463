"""The event log by the command line: it can't be changed, and tampering with it is found.

All ways of tampering: tests/core/events/test_tampering.py.
"""

import json
import sqlite3
import zipfile
from contextlib import closing

import pytest
import sqlalchemy as sa

from app.core.events.chain import START
from app.operations.upkeep.checkpoints import HEADS
from tests.support.machines import Machine
from tests.support.servers import Server

pytestmark = pytest.mark.one_in(2)

INTACT = ", intact, ending with event"


@pytest.mark.parametrize(
    "change", ["UPDATE events SET created_by = 'mallory'", "DELETE FROM events"]
)
def test_the_database_itself_lets_no_one_change_an_event(larkspur, change):
    never = pytest.raises(sqlite3.IntegrityError, match="events are never changed")
    with closing(sqlite3.connect(larkspur.home / "flagstaff.db")) as connection, never:
        connection.execute(f"{change} WHERE id = 5")
    assert INTACT in larkspur.ok("events", "verify")


@pytest.mark.parametrize("change", ["UPDATE events SET reason = 'x'", "DELETE FROM events"])
def test_postgresql_lets_no_one_change_an_event_either(machine, empty_postgresql, change):
    machine.settings["DATABASE_URL"] = empty_postgresql
    machine.ok("user", "create", "--username", "ada")
    for name in ("checkout", "basket"):
        machine.ok("feature", "create", "default", name)
    engine = sa.create_engine(empty_postgresql.replace("postgresql://", "postgresql+psycopg://"))
    for statement in (f"{change} WHERE id = 2", "TRUNCATE events"):
        with pytest.raises(sa.exc.DBAPIError, match="never changed"), engine.begin() as connection:
            connection.execute(sa.text(statement))
    assert INTACT in machine.ok("events", "verify")
    with engine.begin() as connection:
        connection.execute(sa.text("ALTER TABLE events DISABLE TRIGGER USER"))
        connection.execute(sa.text(f"{change} WHERE id = 2"))
    engine.dispose()
    refusal = machine.refused("events", "verify")
    assert refusal.startswith("The event log isn’t intact. Event")
    assert "it has no trigger events_are_not_truncated and events_stay." in refusal


def write_down(machine: Machine) -> None:
    """As a server does when it starts and ends."""
    server = Server(machine)
    server.wait_until_ready()
    assert server.end() == 0


def tamper(machine: Machine, *statements: str) -> None:
    with closing(sqlite3.connect(machine.home / "flagstaff.db")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


EMPTY_AS_IF_PRUNED = (
    "UPDATE event_heads SET pruned_to = last_id, pruned_digest = digest",
    "DELETE FROM events",
)


def test_a_log_that_was_emptied_as_if_pruned_is_found(larkspur):
    tamper(larkspur, *EMPTY_AS_IF_PRUNED)
    refusal = larkspur.refused("events", "verify")
    assert refusal.startswith("The event log isn’t intact. Events up to ")
    assert refusal.endswith("are missing, and no event says that they were pruned.")


@pytest.mark.slow
def test_what_the_server_writes_down_is_compared(larkspur):
    write_down(larkspur)
    lines = (larkspur.home / HEADS).read_text().splitlines()
    last = json.loads(lines[-1])["id"]
    said = larkspur.ok("events", "verify")
    assert "Everything up to the last event is written down outside the database." in said
    larkspur.ok("user", "create", "--username", "nora")
    said = larkspur.ok("events", "verify")
    assert f"2 events since event {last} not yet written down outside." in said
    lines[0] = lines[0].replace("0", "1")
    (larkspur.home / HEADS).write_text("\n".join(lines))
    assert f"Line 1 of {HEADS} does not follow" in larkspur.refused("events", "verify")


def test_a_line_whose_end_is_missing_is_passed_over_and_named(larkspur):
    write_down(larkspur)
    heads = larkspur.home / HEADS
    heads.write_text(heads.read_text() + '{"id": 9')
    number = len(heads.read_text().splitlines())
    said = larkspur.ok("events", "verify")
    assert f"Cut off, as by a full disk, and passed over: line {number} of {HEADS}." in said


def test_a_line_that_can_not_be_read_is_one_line_of_refusal(larkspur):
    (larkspur.home / HEADS).write_text('{"id": 1}\n')
    for words in (("events", "verify"), ("events", "verify", "--json")):
        refusal = larkspur.refused(*words)
        assert refusal.startswith(f"Line 1 of {larkspur.home / HEADS} can't be read: ")
    (larkspur.home / HEADS).write_text("bad line")
    assert "Line 1" in larkspur.refused("events", "verify")
    (larkspur.home / HEADS).write_bytes(b"\xff\n")
    assert "event_heads.jsonl can't be read" in larkspur.refused("events", "verify")


def test_a_head_that_was_kept_elsewhere_is_compared(larkspur):
    [first, *_] = larkspur.ok("events", "verify").splitlines()
    last, digest = first.split()[-2].rstrip(","), first.split()[-1]
    assert INTACT in larkspur.ok("events", "verify", "--head", f"{last}:{digest}")
    refusal = larkspur.refused("events", "verify", "--head", f"{last}:{'00' * 32}")
    assert f"Event {last} is not the one in event_heads.jsonl or --head" in refusal
    refusal = larkspur.refused("events", "verify", "--head", f"{int(last) + 1}:{'00' * 32}")
    assert f"Events after {last} are missing" in refusal
    assert "Use ID:DIGEST" in larkspur.refused("events", "verify", "--head", "x")


def test_the_oldest_events_can_be_pruned(larkspur):
    with closing(sqlite3.connect(larkspur.home / "flagstaff.db")) as connection:
        count = connection.execute("SELECT count(*) FROM events").fetchone()[0]
    assert larkspur.ok("events", "prune", "--before", "2020-01-01") == "0 events removed."
    assert larkspur.ok("events", "prune", "--before", "2999-01-01") == f"{count:,} events removed."
    assert larkspur.ok("events", "verify").startswith("1 event, intact")
    larkspur.ok("user", "create", "--username", "nora")
    assert larkspur.ok("events", "verify").startswith("3 events, intact")


def test_pruning_after_the_end_was_written_down_is_no_tampering(larkspur):
    write_down(larkspur)
    before = (larkspur.home / HEADS).read_text()
    larkspur.ok("events", "prune", "--before", "2999-01-01", "--dry-run")
    assert (larkspur.home / HEADS).read_text() == before
    larkspur.ok("events", "prune", "--before", "2999-01-01")
    assert larkspur.ok("events", "verify").startswith("1 event, intact")
    write_down(larkspur)
    larkspur.ok("events", "prune", "--before", "2999-01-01")
    write_down(larkspur)
    assert larkspur.ok("events", "verify").startswith("1 event, intact")
    larkspur.ok("doctor")


def test_the_same_done_to_the_database_alone_is_found(larkspur):
    """With an event that says so, by someone who can write to the database and not to the file."""
    write_down(larkspur)
    kept = (larkspur.home / HEADS).read_text()
    larkspur.ok("events", "prune", "--before", "2999-01-01")
    (larkspur.home / HEADS).write_text(kept)
    assert "event_heads.jsonl does not say that they were pruned" in larkspur.refused(
        "events", "verify"
    )


def test_a_restored_backup_is_no_tampering(larkspur, tmp_path):
    write_down(larkspur)
    larkspur.ok("events", "prune", "--before", "2999-01-01")
    larkspur.ok("backup", str(tmp_path / "backup.zip"))
    assert HEADS in zipfile.ZipFile(tmp_path / "backup.zip").namelist()
    larkspur.ok("user", "create", "--username", "nora")
    write_down(larkspur)
    for file in larkspur.home.glob("flagstaff.db*"):
        file.unlink()
    larkspur.ok("restore", str(tmp_path / "backup.zip"), "--yes")
    assert INTACT in larkspur.ok("events", "verify")
    larkspur.ok("user", "create", "--username", "omar")
    write_down(larkspur)
    assert INTACT in larkspur.ok("events", "verify")


def test_a_moved_database_is_no_tampering(larkspur, empty_postgresql):
    write_down(larkspur)
    larkspur.ok("db", "move", "--to", empty_postgresql)
    larkspur.settings["DATABASE_URL"] = empty_postgresql
    larkspur.ok("user", "create", "--username", "nora")
    assert INTACT in larkspur.ok("events", "verify")


def test_an_empty_log_is_intact(machine):
    machine.ok("db", "upgrade")
    assert machine.ok("events", "verify") == (
        f"0 events, intact, ending with event 0, {START.hex()}\n"
        "Nothing is written down outside the database to compare with."
    )


def test_events_from_before_the_chain_are_taken_into_it(machine, monkeypatch):
    from app.core import migrations  # noqa: PLC0415
    from app.core.config import from_environment  # noqa: PLC0415
    from app.core.db import db  # noqa: PLC0415
    from app.factory import create_app  # noqa: PLC0415 - with an older set of migrations

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
    assert machine.ok("events", "verify").startswith("3 events, intact")
    machine.ok("user", "create", "--username", "nora")
    assert machine.ok("events", "verify").startswith("5 events, intact")
