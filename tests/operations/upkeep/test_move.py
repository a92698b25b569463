"""Moving an instance between databases: everything comes along, or nothing does."""

import json
import os

import pytest
import sqlalchemy as sa
from flask import Flask

from app.access.my_account.models import Feedback, Splash
from app.core import migrations
from app.core.actor import COMMAND_LINE
from app.core.clock import utcnow
from app.core.config import from_environment
from app.core.db import Model, db, unit_of_work
from app.core.events.event_types import EventType
from app.factory import create_app
from app.operations.upkeep.progress import Progress
from app.portal.display.models import HiddenPart
from app.portal.notices.models import NoticesRead
from tests.support.machines import Machine

pytestmark = [pytest.mark.slow, pytest.mark.one_in(3)]

Rows = dict[str, list[tuple[object, ...]]]


@pytest.fixture
def larkspur(larkspur: Machine) -> Machine:
    """A machine with the demo's organisation, of whose accounts the last was deleted for good.

    The first of its change requests reverses the second.
    """
    with instance(larkspur).app_context():
        with db.engine.begin() as connection:
            _add_change_requests(connection)
            accounts = Model.metadata.tables["accounts"]
            row = {"kind": "person", "role": 3, "username": "gone", "username_key": "gone"}
            [id] = connection.execute(sa.insert(accounts).values(row)).inserted_primary_key
            connection.execute(sa.delete(accounts).where(accounts.c.id == id))
        db.engine.dispose()
    return larkspur


def _add_change_requests(connection: sa.Connection) -> None:
    tables = Model.metadata.tables
    place = connection.execute(
        sa.select(tables["features"].c.id, tables["features"].c.project_id).limit(1)
    ).one()
    requests = tables["change_requests"]
    common = {"project_id": place.project_id, "environment": "production", "created_by": "kim"}
    for state in ("In review", "Applied"):
        connection.execute(sa.insert(requests).values(state=state, **common))
    connection.execute(sa.update(requests).where(requests.c.id == 1).values(reverses_id=2))
    account = connection.scalar(sa.select(sa.func.min(tables["accounts"].c.id)))
    change = {"action": "updateEnabled", "feature_id": place.id, "subject": "x", "payload": {}}
    connection.execute(sa.insert(tables["change_request_changes"]).values(request_id=1, **change))
    for name in ("approvals", "reviewers"):
        row = {"request_id": 1, "account_id": account}
        connection.execute(sa.insert(tables[f"change_request_{name}"]).values(row))
    step = {"request_id": 1, "kind": "opened", "created_by": "kim"}
    connection.execute(sa.insert(tables["change_request_steps"]).values(step))


def hidden(url: str) -> str:
    """An address of a database as it is shown, without its password."""
    return sa.make_url(url).render_as_string()


def instance(machine: Machine, **settings: str) -> Flask:
    environ = machine.environ(**settings)
    return create_app(from_environment(environ))


def everything(machine: Machine, **settings: str) -> Rows:
    """All rows of all tables."""
    with instance(machine, **settings).app_context():
        with db.engine.connect() as connection:
            found = {
                table.name: sorted(map(tuple, connection.execute(sa.select(table))), key=repr)
                for table in Model.metadata.sorted_tables
            }
        db.engine.dispose()
    return found


def without_moves(rows: Rows) -> Rows:
    """The rows without the events of moves, and without where the log ends."""
    kept = [row for row in rows["events"] if EventType.DATABASE_MOVED not in row]
    return rows | {"events": kept, "event_heads": []}


def next_account(machine: Machine, **settings: str) -> int:
    """The id that the next account gets."""
    machine.ok("user", "create", "--username", "nora", **settings)
    last = machine.ok("user", "list", **settings).splitlines()
    return max(int(line.split()[0]) for line in last if line.split()[0].isdigit())


def test_a_whole_instance_moves_to_postgresql_and_back(larkspur, empty_postgresql):
    source = everything(larkspur)
    before = without_moves(source)
    said = larkspur.ok("db", "move", "--to", empty_postgresql)
    total = sum(map(len, source.values()))
    assert said.splitlines()[-1] == (
        f"Moved {total:,} rows in {len(before)} tables. Counts and digests match."
    )
    assert f"events {len(source['events']):,}" in said
    assert without_moves(everything(larkspur, DATABASE_URL=empty_postgresql)) == before
    back = f"sqlite:///{larkspur.home}/back.db"
    larkspur.ok("db", "move", "--to", back, DATABASE_URL=empty_postgresql)
    assert without_moves(everything(larkspur, DATABASE_URL=back)) == before
    assert everything(larkspur) == source
    moves = json.loads(larkspur.ok("events", "list", "--json", DATABASE_URL=back))["events"][:2]
    assert [event["createdBy"] for event in moves] == [COMMAND_LINE.username] * 2
    places = [f"sqlite:///{larkspur.home}/flagstaff.db", hidden(empty_postgresql)]
    assert [event["data"]["from"] for event in reversed(moves)] == places
    assert "intact" in larkspur.ok("events", "verify", DATABASE_URL=back)
    ids = {next_account(larkspur, DATABASE_URL=url) for url in (empty_postgresql, back)}
    assert ids == {next_account(larkspur)}


def test_a_process_that_does_nothing_else_moves_everything_too(larkspur):
    """Also what no command works on, such as what people have read and hidden."""
    with instance(larkspur).app_context(), unit_of_work(writes=True):
        db.session.add_all(
            [
                Feedback(user_id=1, feedback_id="menu"),
                Splash(user_id=1, splash_id="new"),
                HiddenPart(account_id=1, page="home", part="visited"),
                NoticesRead(account_id=1, at=utcnow(), event_id=1),
            ]
        )
    before = without_moves(everything(larkspur))
    target = f"sqlite:///{larkspur.home}/moved.db"
    Machine(larkspur.home).ok("db", "move", "--to", target)
    assert without_moves(everything(larkspur, DATABASE_URL=target)) == before


def test_a_target_that_is_not_empty_is_left_alone(larkspur):
    other = Machine(larkspur.home.parent / "other")
    other.ok("db", "upgrade")
    target = f"sqlite:///{other.home}/flagstaff.db"
    before = everything(other)
    assert "The target is not empty" in larkspur.refused("db", "move", "--to", target)
    assert everything(other) == before


def test_what_can_not_be_moved_into_is_named(machine):
    machine.ok("db", "upgrade")
    own = f"sqlite:///{machine.home}/flagstaff.db"
    assert "own database" in machine.refused("db", "move", "--to", own)
    foreign = machine.refused("db", "move", "--to", "mysql://me:secret@host/db")
    assert "It must be sqlite:///FILE or postgresql://" in foreign
    assert "secret" not in foreign
    nowhere = machine.refused("db", "move", "--to", "postgresql://me:secret@127.0.0.1:1/none")
    assert "secret" not in nowhere


def test_a_database_of_an_older_version_is_migrated_first(machine):
    machine.home.mkdir()
    said = machine.refused("db", "move", "--to", f"sqlite:///{machine.home}/new.db")
    assert said == "Migrate this database first: flagstaff db upgrade"


def test_a_copy_that_differs_is_not_kept(larkspur, monkeypatch):
    from app.operations.cli.database import move as command  # noqa: PLC0415
    from app.operations.upkeep import move  # noqa: PLC0415 - changed here

    target = f"sqlite:///{larkspur.home}/new.db"
    monkeypatch.setattr(os, "environ", larkspur.environ())
    copy = move._copy

    def lossy(old: sa.Connection, new: sa.Connection, progress: Progress) -> None:
        copy(old, new, progress)
        new.execute(sa.text("UPDATE features SET description = 'Lost' WHERE name = 'checkout'"))
        new.execute(sa.text("DELETE FROM feature_tags WHERE tag_id = 1"))

    monkeypatch.setattr(move, "_copy", lossy)
    with pytest.raises(Exception, match=r"so it was discarded: feature_tags\.$"):
        command.main(["--to", target], standalone_mode=False)
    with create_app(from_environment(larkspur.environ(DATABASE_URL=target))).app_context():
        assert migrations.current(db.engine) is None
        db.engine.dispose()
