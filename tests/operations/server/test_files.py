"""What is in the home folder when nothing runs: one complete database file."""

import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.machines import Machine, Within

FEATURES = "/api/admin/projects/default/features"


def files(machine: Machine) -> set[str]:
    """The names of the files that SQLite keeps."""
    return {file.name for file in machine.home.glob("flagstaff.db*")} - {
        "flagstaff.db-next",  # locks, which are empty
        "flagstaff.db-writer",
    }


def features_in(file: Path, folder: Path) -> set[str]:
    """The features in a copy of the database file alone."""
    copy = shutil.copyfile(file, folder / "cold-copy.db")
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return {name for (name,) in connection.execute("SELECT name FROM features")}


def test_after_a_clean_stop_under_load_one_file_has_everything(machine, start, tmp_path):
    server = start()
    confirmed = set()

    def create(number: int) -> None:
        try:
            if server.call("POST", FEATURES, {"name": f"f{number}"}).status == 201:
                confirmed.add(f"f{number}")
        except OSError:
            pass  # the server has stopped listening

    with ThreadPoolExecutor(8) as clients:
        for number in range(300):
            clients.submit(create, number)
            if number == 100:
                clients.submit(server.process.terminate)
    assert server.process.wait(60) == 0
    assert files(machine) == {"flagstaff.db"}
    assert confirmed
    assert confirmed <= features_in(machine.home / "flagstaff.db", tmp_path)


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("feature create default search", 0),
        ("feature create default checkout", 1),
        ("feature list default", 0),
        ("feature archive default checkout --dry-run", 0),
        ("project show nowhere", 1),
        ("doctor", 0),
        ("events verify", 0),
        ("db current", 0),
    ],
)
def test_after_a_command_one_file_has_everything(machine, tmp_path, words, status):
    machine.ok("feature", "create", "default", "checkout")
    assert machine.run(*words.split()).returncode == status
    assert files(machine) == {"flagstaff.db"}
    assert "checkout" in features_in(machine.home / "flagstaff.db", tmp_path)


def test_while_the_server_runs_a_command_leaves_its_files_alone(machine, start):
    server = start()
    assert server.call("POST", FEATURES, {"name": "before"}).status == 201
    machine.ok("feature", "create", "default", "search")
    assert files(machine) == {"flagstaff.db", "flagstaff.db-wal", "flagstaff.db-shm"}
    assert server.call("GET", f"{FEATURES}/search").status == 200
    assert server.call("GET", "/ready", token=None).status == 200


def test_a_restore_over_a_running_server_is_noticed(machine, start, tmp_path):
    server = start()
    assert server.call("POST", FEATURES, {"name": "before"}).status == 201
    machine.ok("backup", str(tmp_path / "file"))
    for name in files(machine):
        (machine.home / name).unlink()
    Within(machine.home).ok("restore", str(tmp_path / "file"), "--yes")
    assert server.call("POST", FEATURES, {"name": "lost"}).status == 503
    assert server.call("GET", "/ready", token=None).status == 503
    assert "flagstaff.db was deleted or replaced while it was open" in server.log.read_text()
    server.end()
    server = start()
    found = server.call("GET", FEATURES).json["features"]
    assert [feature["name"] for feature in found] == ["before"]
