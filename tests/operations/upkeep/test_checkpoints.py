"""When the end of the event log is written down, and by whom."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
import time_machine

from app.core import storage
from app.operations.upkeep import checkpoints
from app.operations.upkeep.checkpoints import HEADS

NOW = datetime(2099, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def home(tmp_path):
    return tmp_path


@pytest.fixture
def change(admin):
    """Records this many events."""
    numbers = count()

    def run(times=1):
        for _ in range(times):
            admin.ok("POST", "/projects/default/features", {"name": f"f{next(numbers)}"})

    return run


def write_down_if_due(app, home, at=NOW):
    with time_machine.travel(at, tick=False), app.app_context():
        checkpoints.write_down_if_due(home)


def ids(home):
    return [json.loads(line)["id"] for line in (home / HEADS).read_text().splitlines()]


def test_the_first_line_is_written_at_once(app, home, change):
    change()
    write_down_if_due(app, home)
    [line] = (home / HEADS).read_text().splitlines()
    assert json.loads(line).keys() == {"id", "digest", "at", "pruned", "link"}


def test_an_empty_log_is_written_down_too(app, home):
    write_down_if_due(app, home)
    assert ids(home) == [0]


def test_nothing_is_written_while_nothing_changes(app, home, change):
    change()
    for minutes in range(3):
        write_down_if_due(app, home, NOW + timedelta(minutes=minutes))
    assert len(ids(home)) == 1


@pytest.mark.parametrize(
    ("later", "lines"),
    [
        (timedelta(seconds=59), 1),
        (timedelta(seconds=60), 2),
        (timedelta(days=1), 2),
        (timedelta(seconds=-60), 2),  # the clock was set back
    ],
)
def test_a_change_is_written_down_a_minute_after_the_last_line(app, home, change, later, lines):
    change()
    write_down_if_due(app, home)
    change()
    write_down_if_due(app, home, NOW + later)
    assert len(ids(home)) == lines


def test_many_changes_are_written_down_sooner(app, home, change, monkeypatch):
    monkeypatch.setattr(checkpoints, "MOST_EVENTS", 5)
    change()
    write_down_if_due(app, home)
    change(4)
    write_down_if_due(app, home)
    assert len(ids(home)) == 1
    change()
    write_down_if_due(app, home)
    first, second = ids(home)
    assert second == first + 5


def test_several_at_once_write_one_line(app, home, change):
    change()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: write_down_if_due(app, home), range(16)))
    assert len(ids(home)) == 1
    change()
    with ThreadPoolExecutor(8) as pool:
        later = NOW + timedelta(hours=1)
        list(pool.map(lambda _: write_down_if_due(app, home, later), range(16)))
    assert len(ids(home)) == 2
    with app.app_context():
        assert checkpoints.read(home).problems == []


@pytest.mark.slow
def test_a_long_file_is_continued_by_its_end_alone(app, home, change):
    for minutes in range(60):
        change()
        write_down_if_due(app, home, NOW + timedelta(minutes=minutes))
    assert len(ids(home)) == 60
    with app.app_context():
        found = checkpoints.read(home)
    assert (found.problems, found.last_id) == ([], ids(home)[-1])


def test_a_line_that_can_not_be_read_stops_the_writing(app, home, change):
    (home / HEADS).write_text("nonsense}\n")
    with pytest.raises(checkpoints.UnreadableHeads, match="Line 1"):
        write_down_if_due(app, home)


def test_the_file_names_no_event_that_a_power_failure_could_take(app, home, change, monkeypatch):
    change()
    named_before_syncs = []
    monkeypatch.setattr(
        storage, "sync", lambda _engine: named_before_syncs.append((home / HEADS).exists())
    )
    write_down_if_due(app, home)
    assert named_before_syncs == [False]
