"""A power failure at any moment: what was acknowledged by then is on the disk."""

import random
import re
import shutil
import sqlite3
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.soak.load import Load, wait_until
from tests.support.servers import Server, until

CHANGES = 600
"""So many that SQLite copies its log into the database on the way."""
CALLS = "pwrite64,ftruncate,fdatasync,fsync,sendto"
LINE = re.compile(rb"(?P<thread>\d+) +(?:<\.\.\. )?(?P<call>\w+)(?P<rest>.*)", re.DOTALL)
WRITTEN = re.compile(rb'\(\d+<(?P<path>[^>]+)>, "(?P<data>[^"]*)", \d+, (?P<place>\d+)')
CUT = re.compile(rb"\(\d+<(?P<path>[^>]+)>, (?P<length>\d+)")
SYNCED = re.compile(rb"\(\d+<(?P<path>[^>]+)>")
CREATED = re.compile(rb'"name": ?"(f\d+)"')

Change = Callable[[bytearray], None]


class Disk:
    """A file as it is after a power failure: what was synced, and any part of the rest."""

    def __init__(self, content: bytes) -> None:
        self.sure = bytearray(content)
        self.pending: list[Change] = []
        self.syncing: dict[bytes, list[Change]] = {}

    def begin_sync(self, thread: bytes) -> None:
        self.syncing[thread] = list(self.pending)

    def end_sync(self, thread: bytes) -> None:
        synced = set(map(id, self.syncing.pop(thread)))
        for change in self.pending:
            if id(change) in synced:
                change(self.sure)
        self.pending = [change for change in self.pending if id(change) not in synced]

    def after_a_failure(self, luck: random.Random) -> bytes:
        left = bytearray(self.sure)
        share = luck.choice((0, 0.5, 0.9))
        for change in self.pending:
            if luck.random() < share:
                change(left)
        return bytes(left)


def test_what_was_acknowledged_survives_a_power_failure(start, machine, tmp_path):
    if shutil.which("strace") is None:
        pytest.skip("needs strace, which records what the server writes: apt install strace")
    server = start(PROCESSES="2")
    trace = tmp_path / "trace"
    with recorded(server, trace):
        disks = {
            str(file).encode(): Disk(file.read_bytes() if file.exists() else b"")
            for file in (machine.home / "flagstaff.db", machine.home / "flagstaff.db-wal")
        }
        with Load(server) as load:
            wait_until(lambda: len(load.made) >= CHANGES, 120)
    luck, acknowledged = random.Random(1), set[str]()
    copied_from = bytes(next(iter(disks.values())).sure)
    for name in replayed(trace, disks):
        acknowledged.add(name)
        database, log = (disk.after_a_failure(luck) for disk in disks.values())
        assert acknowledged <= recovered(tmp_path, database, log), f"when {name} was acknowledged"
    print(f"\n{len(acknowledged)} power failures, nothing was lost")
    assert load.made <= acknowledged
    assert database != copied_from


@contextmanager
def recorded(server: Server, trace: Path) -> Iterator[None]:
    """Record the system calls with which the server's workers write, sync and answer."""
    workers = [word for pid in server.workers() for word in ("-p", str(pid))]
    words = ["-f", "-qq", "-y", "-xx", "-s", "10000000", "-e", f"trace={CALLS}", "-o", str(trace)]
    with subprocess.Popen(["strace", *words, *workers]) as tracer:
        try:
            until(lambda: server.call("GET", "/health").status == 200 and has_begun(trace))
            yield
        finally:
            tracer.terminate()


def has_begun(trace: Path) -> bool:
    return trace.exists() and trace.stat().st_size > 0


def replayed(trace: Path, disks: dict[bytes, Disk]) -> Iterator[str]:
    """Apply the calls to the disks; yields the name of each feature whose creation is answered."""
    waiting = defaultdict[bytes, dict[bytes, tuple[bytes, Change | None]]](dict)
    with trace.open("rb") as lines:
        for line in lines:
            found = LINE.match(line)
            if found is None:
                continue
            thread, call, rest = found["thread"], found["call"], found["rest"]
            if b"resumed>" in rest[:12]:
                if call != b"sendto" and call in waiting[thread]:
                    finish(disks, waiting[thread].pop(call), thread)
                continue
            if call == b"sendto":  # the client may have it from here on
                yield from (name.decode() for name in CREATED.findall(unquoted(rest)))
                continue
            begun = begin(disks, call, rest, thread)
            if b"<unfinished" in rest[-20:]:
                waiting[thread][call] = begun
            else:
                finish(disks, begun, thread)


def begin(
    disks: dict[bytes, Disk], call: bytes, rest: bytes, thread: bytes
) -> tuple[bytes, Change | None]:
    """The path, and how the call changes the file; None if it syncs it."""
    pattern = {b"pwrite64": WRITTEN, b"ftruncate": CUT}.get(call, SYNCED)
    found = pattern.match(rest)
    assert found is not None, rest[:200]
    path = decoded(found["path"])
    if pattern is SYNCED:
        if path in disks:
            disks[path].begin_sync(thread)
        return path, None
    if pattern is CUT:
        return path, shortened(int(found["length"]))
    return path, written(int(found["place"]), decoded(found["data"]))


def finish(disks: dict[bytes, Disk], begun: tuple[bytes, Change | None], thread: bytes) -> None:
    path, change = begun
    if path not in disks:
        return
    if change is None:
        disks[path].end_sync(thread)
    else:
        disks[path].pending.append(change)


def written(place: int, data: bytes) -> Change:
    def change(content: bytearray) -> None:
        content.extend(bytes(max(0, place - len(content))))
        content[place : place + len(data)] = data

    return change


def shortened(length: int) -> Change:
    def change(content: bytearray) -> None:
        del content[length:]

    return change


def decoded(text: bytes) -> bytes:
    return bytes.fromhex(text.replace(b"\\x", b"").decode()) if text.startswith(b"\\x") else text


def unquoted(rest: bytes) -> bytes:
    return b"".join(decoded(text) for text in re.findall(rb'"([^"]*)"', rest))


def recovered(folder: Path, database: bytes, log: bytes) -> set[str]:
    """The features in the database that SQLite makes of these files."""
    file = folder / "found.db"
    (folder / "found.db-shm").unlink(missing_ok=True)
    file.write_bytes(database)
    (folder / "found.db-wal").write_bytes(log)
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
        return {name for (name,) in connection.execute("SELECT name FROM features")}
