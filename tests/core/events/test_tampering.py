"""Ways to tamper with the event log by someone who can write to the database, or to the file.

The triggers that protect the events are gone in each of these, which is a problem by itself.
"""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine

from app.core.config import Settings, from_environment
from app.core.events.chain import link
from app.operations.server.instance import open_instance
from app.operations.upkeep import checkpoints
from app.operations.upkeep.checkpoints import HEADS
from tests.support.machines import Within

pytestmark = pytest.mark.slow

COLUMNS = (
    "id, type, created_at, created_by, created_by_user_id, token_id, ip, project, feature_name, "
    "data, pre_data, reason, batch_id"
)
NO_TRIGGERS = "The database lets anyone change events: it has no trigger"
LAST, NOTED = 12, (3, 6, 9, 11)


def opened(home: Path) -> AbstractContextManager[Settings]:
    return open_instance(from_environment({"FLAGSTAFF_HOME": str(home)}))


@dataclass
class Instance:
    """A home folder, and what someone does to it."""

    home: Path
    file: sqlite3.Connection

    def verify(self) -> list[str]:
        """The problems that are found."""
        self.file.commit()
        with opened(self.home):
            verdict, _ = checkpoints.verify(self.home)
        return verdict.problems

    def drop_triggers(self) -> None:
        found = self.file.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in found.fetchall():
            self.file.execute(f"DROP TRIGGER {name}")

    def sql(self, statement: str, *values: object) -> list[tuple]:
        return self.file.execute(statement, values).fetchall()

    def digest(self, id: int) -> bytes:
        [(digest,)] = self.sql("SELECT digest FROM events WHERE id = ?", id)
        return digest

    def retell(self, first: int) -> None:
        """Make the chain sound again from an event on, and let the database note its end."""
        before = self.sql("SELECT digest FROM events WHERE id < ? ORDER BY id DESC LIMIT 1", first)
        [(digest,)] = before or self.sql("SELECT pruned_digest FROM event_heads")
        names = COLUMNS.split(", ")
        last = 0
        for row in self.sql(f"SELECT {COLUMNS} FROM events WHERE id >= ? ORDER BY id", first):
            event = dict(zip(names, row, strict=True))
            event["created_at"] = datetime.fromisoformat(event["created_at"]).replace(tzinfo=UTC)
            for part in ("data", "pre_data"):
                event[part] = event[part] and json.loads(event[part])
            last, digest = event["id"], link(digest, event)
            self.sql("UPDATE events SET digest = ? WHERE id = ?", digest, last)
        self.end_with(last, digest)

    def end_with(self, id: int, digest: bytes) -> None:
        self.sql("UPDATE event_heads SET last_id = ?, digest = ?", id, digest)

    def cut_off(self, after: int) -> None:
        self.sql("DELETE FROM events WHERE id > ?", after)

    def pretend_to_have_pruned(self, through: int) -> None:
        """Remove the beginning, without an event that says so."""
        digest = self.digest(through)
        self.sql("DELETE FROM events WHERE id <= ?", through)
        self.sql("UPDATE event_heads SET pruned_to = ?, pruned_digest = ?", through, digest)

    def forge_pruning(self, through: int, digest: bytes) -> None:
        """Add the event that an honest pruning adds."""
        [(last,)] = self.sql("SELECT max(id) FROM (SELECT id FROM events UNION SELECT ?)", through)
        data = json.dumps({"through": through, "digest": digest.hex(), "count": through})
        self.sql(
            "INSERT INTO events (id, type, created_at, created_by, data) "
            "VALUES (?, 'events-pruned', '2026-11-21 10:00:00.000000', 'root', ?)",
            last + 1,
            data,
        )
        self.retell(last + 1)

    @property
    def lines(self) -> list[str]:
        return (self.home / HEADS).read_text().splitlines()

    @lines.setter
    def lines(self, lines: list[str]) -> None:
        (self.home / HEADS).write_text("".join(f"{line}\n" for line in lines))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of an instance with LAST events, the end written down after those in NOTED."""
    home = tmp_path_factory.mktemp("original") / "home"
    machine = Within(home)
    machine.ok("db", "upgrade")
    start = datetime.now(UTC) - timedelta(days=20)
    for number in range(1, LAST + 1):
        with time_machine.travel(start + timedelta(days=number), tick=False):
            machine.ok("project", "create", f"p{number}", "--name", f"Project {number}")
            if number in NOTED:
                with opened(home):
                    checkpoints.write_down(home)
    return home


@pytest.fixture
def instance(original: Path, tmp_path: Path) -> Iterator[Instance]:
    home = tmp_path / "home"
    shutil.copytree(original, home)
    with closing(sqlite3.connect(home / "flagstaff.db")) as file:
        yield Instance(home, file)


def test_without_tampering_there_is_no_problem(instance):
    assert instance.verify() == []
    assert [json.loads(line)["id"] for line in instance.lines] == list(NOTED)


def test_triggers_that_were_dropped(instance):
    instance.drop_triggers()
    assert instance.verify() == [f"{NO_TRIGGERS} events_stay and events_stay_as_they_are."]


@pytest.mark.parametrize(
    ("name", "condition"),
    [("events_stay", "DELETE ON events WHEN 0"), ("events_stay_as_they_are", "UPDATE ON tags")],
)
def test_a_trigger_that_was_replaced_by_one_that_does_nothing(instance, name, condition):
    instance.sql(f"DROP TRIGGER {name}")
    action = "BEGIN SELECT RAISE(ABORT, 'events are never changed'); END"
    instance.sql(f"CREATE TRIGGER {name} BEFORE {condition} {action}")
    [problem] = instance.verify()
    assert problem.startswith("The database lets anyone change events: it")
    assert name in problem


def test_a_table_that_was_renamed_for_a_while_leaves_the_triggers_as_they_are(instance):
    instance.sql("ALTER TABLE event_heads RENAME TO others")
    instance.sql("ALTER TABLE others RENAME TO event_heads")
    instance.sql("ALTER TABLE events RENAME TO others")
    instance.sql("ALTER TABLE others RENAME TO events")
    assert instance.verify() == []


def test_the_triggers_alone_let_the_beginning_be_removed_with_the_note_in_the_database(instance):
    instance.sql("UPDATE event_heads SET pruned_to = 12")
    instance.sql("DELETE FROM events WHERE id <= 4")
    instance.sql("UPDATE event_heads SET pruned_to = 0")
    assert instance.verify()[0] == "Events between 0 and 5 are missing."


# The events


def change_an_event(instance):
    instance.sql("UPDATE events SET created_by = 'mallory' WHERE id = 5")


def change_an_event_and_its_digest(instance):
    change_an_event(instance)
    instance.sql("UPDATE events SET digest = zeroblob(32) WHERE id = 5")


def change_a_time(instance):
    instance.sql("UPDATE events SET created_at = '2020-01-01 00:00:00.000000' WHERE id = 5")


def remove_an_event(instance):
    instance.sql("DELETE FROM events WHERE id = 5")


def remove_several(instance):
    instance.sql("DELETE FROM events WHERE id BETWEEN 5 AND 7")


def swap_two(instance):
    for old, new in ((5, 99), (6, 5), (99, 6)):
        instance.sql("UPDATE events SET id = ? WHERE id = ?", new, old)


def add_one_at_the_end(instance):
    instance.sql(
        "INSERT INTO events (id, type, created_at, created_by) "
        "VALUES (13, 'user-created', '2026-01-01 00:00:00.000000', 'mallory')"
    )


def add_one_before_the_beginning(instance):
    instance.sql(
        "INSERT INTO events (id, type, created_at, created_by) "
        "VALUES (-1, 'user-created', '2026-01-01 00:00:00.000000', 'mallory')"
    )


def remove_the_end(instance):
    instance.cut_off(10)


def remove_everything(instance):
    instance.cut_off(0)


def set_an_unknown_type(instance):
    instance.sql("UPDATE events SET type = 'nonsense' WHERE id = 5")


def set_no_time(instance):
    instance.sql("UPDATE events SET created_at = 'yesterday' WHERE id = 5")


def set_broken_data(instance):
    instance.sql("UPDATE events SET data = '{' WHERE id = 5")


def set_bytes_for_text(instance):
    instance.sql("UPDATE events SET created_by = x'ff' WHERE id = 5")


# The log as a whole: chain and note in the database are sound afterwards


def rewrite_from_the_middle(instance):
    change_an_event(instance)
    instance.retell(5)


def rewrite_from_the_beginning(instance):
    instance.sql("UPDATE events SET created_by = 'mallory' WHERE id = 1")
    instance.retell(1)


def rewrite_only_what_is_between_two_that_are_written_down(instance):
    instance.sql("UPDATE events SET created_by = 'mallory' WHERE id = 10")
    instance.retell(10)


def end_the_log_earlier(instance):
    instance.cut_off(8)
    instance.end_with(8, instance.digest(8))


def remove_one_and_renumber(instance):
    instance.sql("DELETE FROM events WHERE id = 5")
    for id in range(6, LAST + 1):
        instance.sql("UPDATE events SET id = ? WHERE id = ?", id - 1, id)
    instance.retell(5)


def empty_the_log_as_if_pruned(instance):
    instance.pretend_to_have_pruned(LAST)


def remove_the_beginning_as_if_pruned(instance):
    instance.pretend_to_have_pruned(6)


def prune_with_a_forged_event(instance):
    digest = instance.digest(6)
    instance.pretend_to_have_pruned(6)
    instance.forge_pruning(6, digest)


def empty_the_log_with_a_forged_event(instance):
    digest = instance.digest(LAST)
    instance.pretend_to_have_pruned(LAST)
    instance.forge_pruning(LAST, digest)


def prune_with_another_digest_and_rewrite_the_rest(instance):
    instance.pretend_to_have_pruned(6)
    instance.sql("UPDATE event_heads SET pruned_digest = zeroblob(32)")
    instance.retell(7)
    instance.forge_pruning(6, bytes(32))


# The note in the database


def remove_the_note(instance):
    instance.sql("DELETE FROM event_heads")


def add_a_second_note(instance):
    instance.sql(
        "INSERT INTO event_heads SELECT 2, last_id, digest, 0, pruned_digest FROM event_heads"
    )


def note_an_earlier_end(instance):
    instance.end_with(8, instance.digest(8))


def note_a_later_end(instance):
    instance.sql("UPDATE event_heads SET last_id = 15")


def note_another_digest(instance):
    instance.sql("UPDATE event_heads SET digest = zeroblob(32)")


def note_a_pruning_that_did_not_happen(instance):
    instance.sql("UPDATE event_heads SET pruned_to = 4, pruned_digest = ?", instance.digest(4))


# The file outside


def edit_line(number: int, **facts: object) -> Callable[[Instance], None]:
    def edit(instance: Instance) -> None:
        lines = instance.lines
        lines[number] = json.dumps(json.loads(lines[number]) | facts)
        instance.lines = lines

    return edit


def change_a_digest(instance):
    edit_line(1, digest="ab" * 32)(instance)


def change_a_time_in_the_file(instance):
    edit_line(1, at="2026-01-01T00:00:00+00:00")(instance)


def change_an_id(instance):
    edit_line(1, id=5)(instance)


def remove_a_line(instance):
    instance.lines = [*instance.lines[:1], *instance.lines[2:]]


def remove_the_first_line(instance):
    instance.lines = instance.lines[1:]


def swap_two_lines(instance):
    first, second, third, *rest = instance.lines
    instance.lines = [first, third, second, *rest]


def add_a_line(instance):
    instance.lines = [*instance.lines[:1], instance.lines[0], *instance.lines[1:]]


def cut_a_line_short(instance):
    lines = instance.lines
    lines[1] = lines[1][:40]
    instance.lines = lines


FINDINGS = {
    change_an_event: "Event 5, or the event before it, is not as it was recorded.",
    change_an_event_and_its_digest: "Event 5, or the event before it, is not as it was recorded.",
    change_a_time: "Event 5, or the event before it, is not as it was recorded.",
    remove_an_event: "Events between 4 and 6 are missing.",
    remove_several: "Events between 4 and 8 are missing.",
    swap_two: "Event 5, or the event before it, is not as it was recorded.",
    add_one_at_the_end: "Event 13, or the event before it, is not as it was recorded.",
    add_one_before_the_beginning: "Event -1, or the event before it, is not as it was recorded.",
    remove_the_end: f"Events after 10 are missing: {HEADS} has event 11.",
    remove_everything: f"Events after 0 are missing: {HEADS} has event 11.",
    set_an_unknown_type: "Event 5 can't be read.",
    set_no_time: "Event 5 can't be read.",
    set_broken_data: "Event 5 can't be read.",
    set_bytes_for_text: "Event 5, or the event before it, is not as it was recorded.",
    rewrite_from_the_middle: f"Event 6 is not the one in {HEADS}: the log was rewritten.",
    rewrite_from_the_beginning: f"Event 3 is not the one in {HEADS}: the log was rewritten.",
    rewrite_only_what_is_between_two_that_are_written_down: (
        f"Event 11 is not the one in {HEADS}: the log was rewritten."
    ),
    end_the_log_earlier: f"Events after 8 are missing: {HEADS} has event 11.",
    remove_one_and_renumber: f"Event 6 is not the one in {HEADS}: the log was rewritten.",
    empty_the_log_as_if_pruned: (
        "Events up to 12 are missing, and no event says that they were pruned."
    ),
    remove_the_beginning_as_if_pruned: (
        "Events up to 6 are missing, and no event says that they were pruned."
    ),
    prune_with_a_forged_event: (
        f"Events up to 6 are missing, and {HEADS} does not say that they were pruned."
    ),
    empty_the_log_with_a_forged_event: (
        f"Events up to 12 are missing, and {HEADS} does not say that they were pruned."
    ),
    prune_with_another_digest_and_rewrite_the_rest: (
        f"Event 6 is not the one in {HEADS}: the log was rewritten."
    ),
    remove_the_note: "No row says where the log ends.",
    add_a_second_note: "2 rows say where the log ends.",
    note_an_earlier_end: (
        "The log ends with event 12, but the database notes 8 as the last, or another digest."
    ),
    note_a_later_end: "Events after 12 are missing: the database notes 15 as the last.",
    note_another_digest: (
        "The log ends with event 12, but the database notes 12 as the last, or another digest."
    ),
    note_a_pruning_that_did_not_happen: (
        "Event 1, or the event before it, is not as it was recorded."
    ),
    change_a_digest: f"Line 2 of {HEADS} does not follow the lines before it",
    change_a_time_in_the_file: f"Line 2 of {HEADS} does not follow the lines before it",
    change_an_id: f"Line 2 of {HEADS} does not follow the lines before it",
    remove_a_line: f"Line 2 of {HEADS} does not follow the lines before it",
    remove_the_first_line: f"Line 1 of {HEADS} does not follow the lines before it",
    swap_two_lines: f"Line 2 of {HEADS} does not follow the lines before it",
    add_a_line: f"Line 2 of {HEADS} does not follow the lines before it",
    cut_a_line_short: f"Line 3 of {HEADS} does not follow the lines before it",
}


@pytest.mark.parametrize(
    ("tamper", "finding"), FINDINGS.items(), ids=[way.__name__ for way in FINDINGS]
)
def test_it_is_found(instance, tamper, finding):
    instance.drop_triggers()
    tamper(instance)
    assert instance.verify()[0].startswith(finding)


@pytest.mark.parametrize("text", ["{}", '{"id": 3}', "[1]}", '{"id": "3", "digest": "00"}', "x}"])
def test_a_line_that_is_none_is_named(instance, text):
    instance.lines = [*instance.lines[:2], text, *instance.lines[2:]]
    with pytest.raises(checkpoints.UnreadableHeads, match=r"Line 3 of .* can't be read"):
        instance.verify()


# What is no tampering


def test_a_line_that_was_cut_off_because_the_disk_was_full(instance):
    with (instance.home / HEADS).open("a") as file:
        file.write('{"id": 12, "dig')
    with opened(instance.home):
        checkpoints.write_down(instance.home)
    assert len(instance.lines) == len(NOTED) + 2
    assert instance.verify() == []


def test_lines_of_an_older_version(instance):
    old = [json.dumps({"id": id, "digest": instance.digest(id).hex()}) for id in (2, 4)]
    instance.lines = old
    assert instance.verify() == []
    with opened(instance.home):
        checkpoints.write_down(instance.home)
    assert instance.lines[:2] == old
    assert instance.verify() == []
    instance.lines = instance.lines[1:]
    assert instance.verify()[0].startswith(f"Line 2 of {HEADS} does not follow")


def test_what_was_pruned_before_the_file_had_prunings(instance):
    """An older version wrote the file, and pruned."""
    instance.drop_triggers()
    old = [json.dumps({"id": 3, "digest": instance.digest(3).hex()})]
    prune_with_a_forged_event(instance)
    instance.lines = old
    assert [p for p in instance.verify() if not p.startswith(NO_TRIGGERS)] == []
    with opened(instance.home):
        checkpoints.write_down(instance.home)
    assert [p for p in instance.verify() if not p.startswith(NO_TRIGGERS)] == []


def test_events_that_were_recorded_after_the_last_line_are_not_missed(instance):
    machine = Within(instance.home)
    machine.ok("user", "create", "--username", "nora")
    assert instance.verify() == []


def test_without_the_file_the_log_alone_is_checked(instance):
    (instance.home / HEADS).unlink()
    assert instance.verify() == []
