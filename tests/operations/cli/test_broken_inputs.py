"""Whatever the files are like that a command finds, it says in one line what is wrong."""

import json
import random
import sqlite3
import struct
import subprocess
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.machines import EXECUTABLE, Machine

pytestmark = [pytest.mark.slow, pytest.mark.one_in(3)]

COMMANDS = [
    "user list",
    "user create --username kim --dry-run",
    "token list ada",
    "project list",
    "feature list default",
    "events list",
    "events verify",
    "events prune --before 2026-01-01 --dry-run",
    "db upgrade",
    "db move --to sqlite:///{target}/moved.db",
    "backup {target}/file",
    "doctor",
    "demo",
]


def sql(*statements: str) -> Callable[[Path], None]:
    def fault(home: Path) -> None:
        with closing(sqlite3.connect(home / "flagstaff.db")) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute("PRAGMA ignore_check_constraints = ON")
            for statement in statements:
                connection.execute(statement)
            connection.commit()

    return fault


def content(name: str, data: bytes) -> Callable[[Path], None]:
    return lambda home: (home / name).write_bytes(data) and None


def truncated(share: float) -> Callable[[Path], None]:
    def fault(home: Path) -> None:
        file = home / "flagstaff.db"
        file.write_bytes(file.read_bytes()[: int(file.stat().st_size * share)])

    return fault


def flipped(
    seed: int, *, first: int = 0, last: int = 2**30, count: int = 400
) -> Callable[..., None]:
    """Random bytes of the database between two offsets are changed."""

    def fault(home: Path) -> None:
        file, chance = home / "flagstaff.db", random.Random(seed)
        data = bytearray(file.read_bytes())
        for _ in range(count):
            data[chance.randrange(first, min(last, len(data)))] = chance.randrange(256)
        file.write_bytes(data)

    return fault


def foreign(home: Path) -> None:
    (home / "flagstaff.db").unlink()
    sql("CREATE TABLE tracks (id INTEGER)", "CREATE TABLE projects (id INTEGER)")(home)


def folder(name: str) -> Callable[[Path], None]:
    def fault(home: Path) -> None:
        (home / name).unlink(missing_ok=True)
        (home / name).mkdir()

    return fault


FAULTS = {
    "text": content("flagstaff.db", b"Dear Sir or Madam, this is not a database." * 100),
    "zeros": content("flagstaff.db", bytes(8_192)),
    "half": truncated(0.5),
    "a header alone": truncated(0.001),
    "damaged header": flipped(1, last=100, count=30),
    "damaged schema": flipped(2, first=100, last=4_096),
    "damaged pages": flipped(3, first=4_096, count=20_000),
    "a bit of damage": flipped(4, first=8_192, count=60),
    "a folder": folder("flagstaff.db"),
    "another application": foreign,
    "another application's migrations": sql("UPDATE alembic_version SET version_num = 'ae1027a6'"),
    "no revision": sql("DELETE FROM alembic_version"),
    "a table less": sql("DROP TABLE events"),
    "a column less": sql("ALTER TABLE features RENAME COLUMN name TO title"),
    "no accounts": sql("DROP TABLE accounts"),
    "values of other kinds": sql(
        "UPDATE accounts SET created_at = 'yesterday', role = 77, kind = 'alien'",
        "UPDATE projects SET created_at = x'00ff', mode = 'strange'",
        "UPDATE features SET created_at = 'never', type = 'alien'",
        "UPDATE tokens SET created_at = 'never'",
    ),
    "events of other kinds": sql(
        "DROP TRIGGER events_stay_as_they_are",
        "UPDATE events SET data = 'no JSON', type = 'strange', created_at = 'noon'",
    ),
    "a key that is empty": content("secret_key", b""),
    "a key of other bytes": content("secret_key", b"\xff\x00\xfe"),
    "a key that is a folder": folder("secret_key"),
    "heads of other bytes": content("event_heads.jsonl", b"\xff\x00\xfe}\n"),
    "heads of other JSON": content("event_heads.jsonl", b'["id"}\n[1]\n{"id": "x"}\n{}\n'),
    "heads without digests": content("event_heads.jsonl", b'{"id": 1, "digest": "xyz"}\n'),
    "heads that are a folder": folder("event_heads.jsonl"),
    "a last backup of other JSON": content("last_backup.json", b"[1]"),
    "a last backup of other bytes": content("last_backup.json", b"\xff\xfe"),
}


@pytest.fixture
def furnished(machine: Machine) -> Machine:
    for words in (
        "user create --username ada",
        "token create ada --description first",
        "feature create default checkout",
    ):
        machine.ok(*words.split())
    return machine


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_instance_costs_one_line_a_command(furnished, tmp_path, fault):
    target = tmp_path / "target"
    target.mkdir()
    FAULTS[fault](furnished.home)
    wrong = []
    for command in COMMANDS:
        done = furnished.run(*command.format(target=target).split())
        if not is_plain(done.returncode, done.stdout, done.stderr):
            wrong.append((command, done.returncode, done.stderr))
    assert wrong == []


def is_plain(status: int, out: str, err: str) -> bool:
    """Whether a command did what it is for, or printed one line that people understand."""
    if status == 0:
        return err == ""
    if out and not err:  # the doctor's findings
        return "wrong, " in out.splitlines()[-1]
    is_one_line = err.startswith("flagstaff: ") and len(err.splitlines()) == 1
    return is_one_line and not any(word in err for word in ("Traceback", "Error:", "[Errno"))


def manifest(**changes: object) -> Callable[[Path], None]:
    def fault(file: Path) -> None:
        with zipfile.ZipFile(file) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        found = json.loads(parts["manifest.json"]) | changes
        parts["manifest.json"] = json.dumps(found).encode()
        with zipfile.ZipFile(file, "w") as archive:
            for name, data in parts.items():
                archive.writestr(name, data)

    return fault


def with_bytes(change: Callable[[bytearray], object]) -> Callable[[Path], None]:
    def fault(file: Path) -> None:
        data = bytearray(file.read_bytes())
        change(data)
        file.write_bytes(data)

    return fault


def in_every_header(offset: int, value: int) -> Callable[[bytearray], None]:
    """Sets two bytes of each entry's header: its flags, or how it is compressed."""

    def change(data: bytearray) -> None:
        for signature, shift in ((b"PK\x03\x04", 0), (b"PK\x01\x02", 2)):
            at = data.find(signature)
            while at >= 0:
                struct.pack_into("<H", data, at + offset + shift, value)
                at = data.find(signature, at + 4)

    return change


def scatter(seed: int) -> Callable[[bytearray], None]:
    def change(data: bytearray) -> None:
        chance = random.Random(seed)
        for _ in range(50):
            data[chance.randrange(len(data))] = chance.randrange(256)

    return change


BACKUPS = {
    "empty": with_bytes(bytearray.clear),
    "text": with_bytes(lambda data: data.__setitem__(slice(None), b"hello")),
    "half": with_bytes(lambda data: data.__delitem__(slice(len(data) // 2, None))),
    "encrypted": with_bytes(in_every_header(6, 1)),
    "of another compression": with_bytes(in_every_header(8, 99)),
    **{f"scattered {seed}": with_bytes(scatter(seed)) for seed in range(10)},
    "format of another kind": manifest(format=[1], version=3),
    "tables of another kind": manifest(tables={"events": 7}),
    "no tables": manifest(tables=None),
    "files of another kind": manifest(files=["flagstaff.db"]),
    "files that are numbers": manifest(files={"flagstaff.db": 1}),
    "a dialect of another kind": manifest(dialect=["sqlite"]),
    "a revision of another kind": manifest(revision={"a": 1}),
    "more": manifest(surprise=1),
}


@pytest.mark.parametrize("fault", BACKUPS)
def test_a_broken_backup_is_refused_in_one_line(machine, tmp_path, fault):
    machine.ok("db", "upgrade")
    file = tmp_path / "file"
    machine.ok("backup", str(file))
    BACKUPS[fault](file)
    empty = Machine(tmp_path / "empty")
    done = type(machine)(empty.home).run("restore", str(file), "--yes")
    assert done.returncode == 1, done
    assert is_plain(done.returncode, done.stdout, done.stderr), done.stderr
    assert list(empty.home.iterdir()) == []


def test_a_locked_database_is_named_so(furnished, tmp_path):
    with closing(sqlite3.connect(furnished.home / "flagstaff.db")) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        for words in ("user list", f"backup {tmp_path}/file"):
            said = furnished.refused(*words.split())
            assert "database is locked. Another process is using it. Try again." in said


@pytest.mark.parametrize("data", [b"", b"\n", b"short", b"\xff" * 40, b"a b" * 20])
def test_a_file_without_a_secret_key_stops_every_command(furnished, data):
    (furnished.home / "secret_key").write_bytes(data)
    for words in ("user list", "doctor", "serve"):
        said = furnished.refused(*words.split())
        assert "secret_key is damaged. Restore it from a backup." in said


def test_input_of_other_bytes_is_named_so(furnished):
    for words in (["token", "whose"], ["user", "show", b"\xff"]):
        done = subprocess.run(
            [EXECUTABLE, *words],
            env=furnished.environ(),
            input=b"\xff\xfe",
            capture_output=True,
            check=False,
        )
        assert done.returncode == 1
        assert is_plain(done.returncode, done.stdout.decode(), done.stderr.decode()), done


def test_output_that_is_no_longer_read_ends_quietly(furnished):
    with subprocess.Popen(
        [EXECUTABLE, "--help"],
        env=furnished.environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as command:
        command.stdout.close()
        assert command.stderr.read() == b""
