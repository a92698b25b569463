"""Backups: what was there comes back, elsewhere too, and nothing is put over anything."""

import json
import re
import sqlite3
import threading
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import pytest
import time_machine

from app.core.actor import COMMAND_LINE
from tests.support.machines import Machine, Within
from tests.support.servers import Server, until

pytestmark = [pytest.mark.slow, pytest.mark.one_in(3)]

VERSION = version("flagstaff")


@pytest.fixture
def moved(larkspur: Machine, empty_postgresql: str) -> Machine:
    """The same on PostgreSQL."""
    larkspur.ok("db", "move", "--to", empty_postgresql)
    larkspur.settings["DATABASE_URL"] = empty_postgresql
    return larkspur


@pytest.fixture
def elsewhere(tmp_path: Path) -> Machine:
    return Within(tmp_path / "elsewhere" / "home")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "larkspur.backup"


def digest(said: str) -> str:
    return said.partition("Digest of the rows   ")[2].splitlines()[0]


def test_a_backup_restored_elsewhere_is_the_same_instance(larkspur, elsewhere, file):
    made = larkspur.ok("backup", str(file))
    restored = elsewhere.ok("restore", str(file), "--yes")
    assert restored.splitlines()[-1].startswith("Restored to sqlite:////")
    again = file.with_suffix(".again")
    elsewhere.ok("backup", str(again))
    assert digest(made) == digest(restored)
    assert tables(file) == tables(again)
    assert "intact" in elsewhere.ok("events", "verify")
    assert (elsewhere.home / "secret_key").read_text() == (larkspur.home / "secret_key").read_text()


def test_a_backup_and_its_restoring_are_events_of_who_ran_them(larkspur, elsewhere, file):
    made = json.loads(larkspur.ok("backup", str(file), "--json"))
    [event] = events(larkspur, "backup-created")
    assert event["createdBy"] == COMMAND_LINE.username
    assert event["data"] == made
    elsewhere.ok("restore", str(file), "--yes")
    assert events(elsewhere, "backup-created") == []
    [event] = events(elsewhere, "backup-restored")
    assert event["createdBy"] == COMMAND_LINE.username
    facts = {name: made[name] for name in ("file", "createdAt", "rows", "digest")}
    assert event["data"] == facts | {"version": VERSION}


def events(machine: Machine, type: str) -> list[dict[str, object]]:
    found = json.loads(machine.ok("events", "list", "--type", type, "--json"))["events"]
    return [event for event in found if event["type"] == type]


def test_a_backup_made_while_the_server_writes_is_whole(larkspur, elsewhere, file, start):
    larkspur.ok("user", "create", "--username", "writer", "--name", "W", "--role", "admin")
    token = larkspur.ok("token", "create", "writer", "--description", "test").split()[-1]
    server = start(on=larkspur)
    done = threading.Event()
    statuses: list[int] = []

    def write() -> None:
        while not done.is_set():
            body = {"id": f"p{len(statuses)}", "name": f"Project {len(statuses)}"}
            answer = server.call("POST", "/api/admin/projects", body, token=token)
            statuses.append(answer.status)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        until(lambda: len(statuses) > 9)
        larkspur.ok("backup", str(file))
    finally:
        done.set()
        writer.join()
    assert set(statuses) == {201}
    elsewhere.ok("restore", str(file), "--yes")
    assert "intact" in elsewhere.ok("events", "verify")
    assert (elsewhere.home / "event_heads.jsonl").exists()


def test_without_yes_a_backup_is_checked_and_nothing_is_restored(larkspur, elsewhere, file):
    larkspur.ok("backup", str(file))
    said = elsewhere.ok("restore", str(file))
    assert "Complete: " in said
    assert said.splitlines()[-1].startswith("Nothing was changed.")
    assert list(elsewhere.home.iterdir()) == []


def test_no_one_else_can_read_a_backup(larkspur, file):
    larkspur.ok("backup", str(file))
    assert file.stat().st_mode & 0o077 == 0


def test_a_backup_is_never_written_over_another_file(larkspur, file):
    file.write_text("the last backup")
    said = larkspur.refused("backup", str(file))
    assert said == f"{file} already exists and was not changed. Choose another name."
    assert file.read_text() == "the last backup"
    assert [path.name for path in file.parent.glob(".flagstaff-*")] == []


def test_a_backup_into_a_folder_that_is_not_there_is_refused(larkspur, file):
    nowhere = file.parent / "nowhere" / "file"
    assert (
        larkspur.refused("backup", str(nowhere)) == f"The folder {nowhere.parent} does not exist."
    )


def test_nothing_is_restored_over_an_instance(larkspur, file):
    larkspur.ok("backup", str(file))
    before = larkspur.ok("events", "verify")
    said = larkspur.refused("restore", str(file), "--yes")
    assert re.search(r"is not empty: it has \d\d tables\. Nothing was changed\.", said)
    assert larkspur.ok("events", "verify") == before


def backed_up_on(day: int, machine: Machine, folder: Path, *options: str) -> str:
    """What the command says at midnight on a day in January."""
    with time_machine.travel(datetime(2026, 1, day, tzinfo=UTC), tick=False):
        return machine.ok("backup", str(folder), *options)


def test_in_a_folder_the_newest_backups_are_kept_and_others_of_this_instance_deleted(
    machine, elsewhere, tmp_path
):
    folder = tmp_path / "backups"
    folder.mkdir()
    for each in (machine, elsewhere):
        each.ok("db", "upgrade")
    for day in (1, 2, 3, 4):
        backed_up_on(day, machine, folder)
    backed_up_on(5, elsewhere, folder)
    machine.ok("backup", str(folder / "before the upgrade"))
    for name in ("flagstaff-20250101T000000Z.zip", "notes.txt"):
        (folder / name).write_text("not by this command")
    (folder / "flagstaff-20260102T000000Z.zip").write_text("changed")
    before = {path.name for path in folder.iterdir()}

    said = backed_up_on(6, machine, folder, "--keep", "2")
    gone = ["flagstaff-20260103T000000Z.zip", "flagstaff-20260101T000000Z.zip"]
    assert said.splitlines()[-1] == f"Deleted 2 older backups: {', '.join(gone)}"
    made = {"flagstaff-20260106T000000Z.zip"}
    assert {path.name for path in folder.iterdir()} == before - set(gone) | made

    data = json.loads(backed_up_on(7, machine, folder, "--keep", "9", "--json"))
    assert data["deleted"] == []


def test_to_keep_backups_a_folder_is_needed(machine, file):
    said = machine.refused("backup", str(file), "--keep", "3")
    assert said == f"--keep needs a folder, and {file} is none. Try: flagstaff backup --help"


def packed(file: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def tables(file: Path) -> dict[str, list[object]]:
    """The count and the digest of each table in a backup, without the events of these acts."""
    found = json.loads(packed(file)["manifest.json"])["tables"]
    return {name: told for name, told in found.items() if name not in {"events", "event_heads"}}


def pack(file: Path, contents: dict[str, bytes]) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in contents.items():
            archive.writestr(name, data)


def with_a_changed_row(contents: dict[str, bytes], tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    copy.write_bytes(contents["flagstaff.db"])
    connection = sqlite3.connect(copy)
    connection.execute("UPDATE projects SET name = 'Forged' WHERE id = 'default'")
    connection.commit()
    connection.close()
    contents["flagstaff.db"] = copy.read_bytes()
    manifest = json.loads(contents["manifest.json"])
    manifest["files"]["flagstaff.db"] = sha256(contents["flagstaff.db"]).hexdigest()
    contents["manifest.json"] = json.dumps(manifest).encode()


def with_manifest(**changes: object) -> Callable[[dict[str, bytes], Path], None]:
    def change(contents: dict[str, bytes], _: Path) -> None:
        manifest = json.loads(contents["manifest.json"]) | changes
        contents["manifest.json"] = json.dumps(manifest).encode()

    return change


def without(name: str) -> Callable[[dict[str, bytes], Path], None]:
    return lambda contents, _: contents.pop(name) and None


def damaged(contents: dict[str, bytes], _: Path) -> None:
    contents["flagstaff.db"] = contents["flagstaff.db"][:-1] + b"!"


NO_BACKUP = "The file is damaged, or not a backup created by Flagstaff."


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (without("manifest.json"), NO_BACKUP),
        (without("flagstaff.db"), NO_BACKUP),
        (with_manifest(format=2, version="9.1"), "Install that version or a newer one."),
        (with_manifest(revision="9999", version="9.1"), f"This version ({VERSION}) is older."),
        (with_manifest(dialect="oracle"), NO_BACKUP),
        (with_manifest(files={"../evil": "00", "flagstaff.db": "00"}), NO_BACKUP),
        (damaged, "flagstaff.db does not match its checksum."),
        (with_a_changed_row, "differ from its manifest: projects."),
    ],
    ids=["manifest", "database", "format", "newer", "dialect", "path", "damaged", "changed"],
)
def test_what_is_not_a_whole_backup_is_not_restored(machine, elsewhere, file, change, why):
    machine.ok("db", "upgrade")
    machine.ok("backup", str(file))
    contents = packed(file)
    change(contents, file.parent)
    pack(file, contents)
    assert why in elsewhere.refused("restore", str(file), "--yes")
    assert list(elsewhere.home.iterdir()) == []
    assert not list(file.parent.rglob("evil"))


def test_any_other_file_is_no_backup(machine, file):
    file.write_text("hello")
    assert machine.refused("restore", str(file)) == NO_BACKUP


def test_a_key_that_was_there_is_kept_beside_the_restored_one(larkspur, elsewhere, file):
    larkspur.ok("backup", str(file))
    elsewhere.ok("db", "current")
    other = (elsewhere.home / "secret_key").read_text()
    elsewhere.ok("restore", str(file), "--yes")
    assert (elsewhere.home / "secret_key.before-restore").read_text() == other


def test_both_speak_json(larkspur, elsewhere, file):
    made = json.loads(larkspur.ok("backup", str(file), "--json"))
    told = json.loads(elsewhere.ok("restore", str(file), "--json"))
    assert told["restored"] is False
    assert {key: made[key] for key in ("rows", "digest", "createdAt")} == {
        key: told[key] for key in ("rows", "digest", "createdAt")
    }
    assert json.loads((larkspur.home / "last_backup.json").read_text()) == made


@pytest.mark.usefixtures("with_tools")
def test_an_instance_on_postgresql_comes_back(moved, elsewhere, file, another_postgresql):
    made = moved.ok("backup", str(file))
    elsewhere.settings["DATABASE_URL"] = another_postgresql
    assert "add --yes" in elsewhere.ok("restore", str(file))
    restored = elsewhere.ok("restore", str(file), "--yes")
    assert digest(made) == digest(restored)
    assert "intact" in elsewhere.ok("events", "verify")
    assert "is not empty" in elsewhere.refused("restore", str(file))


@pytest.mark.usefixtures("with_tools")
def test_a_backup_of_postgresql_is_not_restored_into_sqlite(moved, elsewhere, file):
    moved.ok("backup", str(file))
    said = elsewhere.refused("restore", str(file))
    assert said.endswith("then move it: flagstaff db move --to URL")


@pytest.mark.usefixtures("with_tools")
def test_the_same_rows_have_the_same_digest_on_both_databases(larkspur, file, empty_postgresql):
    larkspur.ok("backup", str(file))
    larkspur.ok("db", "move", "--to", empty_postgresql)
    other = file.with_suffix(".postgresql")
    larkspur.ok("backup", str(other), DATABASE_URL=empty_postgresql)
    assert tables(other) == tables(file)


def test_without_the_tools_of_postgresql_it_says_how_to_get_them(
    machine, file, empty_postgresql, monkeypatch
):
    monkeypatch.setenv("PATH", "/nowhere")
    machine.ok("db", "upgrade", DATABASE_URL=empty_postgresql)
    said = machine.refused("backup", str(file), DATABASE_URL=empty_postgresql)
    assert said.startswith("pg_dump is not installed or not in PATH. On Debian: apt-get install")
    assert not file.exists()


def served_once(machine: Machine, start: Callable[..., Server], **settings: str) -> None:
    assert start(**settings).end() == 0


@pytest.mark.parametrize("words", [("serve",), ("user", "list"), ("db", "upgrade")], ids=" ".join)
def test_an_empty_database_where_an_instance_was_is_not_taken_for_a_new_one(machine, start, words):
    served_once(machine, start)
    for file in machine.home.glob("flagstaff.db*"):
        file.unlink()
    said = machine.refused(*words)
    assert "is empty, but an instance has been served from this folder." in said
    assert "flagstaff restore FILE" in said


def test_people_can_start_over(machine, start):
    served_once(machine, start)
    for file in machine.home.glob("flagstaff.db*"):
        file.unlink()
    (machine.home / "event_heads.jsonl").unlink()
    served_once(machine, start)


def test_an_empty_postgresql_where_an_instance_was_is_not_taken_for_a_new_one(
    machine, start, empty_postgresql, another_postgresql
):
    served_once(machine, start, DATABASE_URL=empty_postgresql)
    said = machine.refused("serve", DATABASE_URL=another_postgresql)
    assert "is empty, but an instance has been served from this folder." in said
