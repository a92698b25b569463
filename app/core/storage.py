"""Whether the database keeps what is written: files in place, space on the disk, this schema.

A process can go on writing to a file that was deleted or replaced. SQLite does not notice, and
everything written that way is lost.
"""

import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from weakref import WeakKeyDictionary

import sqlalchemy as sa
from sqlalchemy import event

from app.core import faults
from app.core.errors import Unavailable
from app.core.files import revisions
from app.core.logs import LOGGER

FILES = ("", "-wal", "-shm")
"""The endings of a SQLite database's files, which belong together while it is open."""
READER_SECONDS = 0.1
"""How often a reader checks the files. A writer always does."""
MIN_FREE_BYTES = 1_000_000
FAILURE_SECONDS = 1.0
"""How long one failed write counts as a sign that others would fail too."""

SCHEMA_SECONDS = 1.0
"""How often a writer checks whether a newer version has migrated the database."""
NEWER = "A newer version of Flagstaff has migrated the database, so this server no longer writes."

COPY_SECONDS = 5.0
"""How long to wait for readers before the log is emptied."""
UNCONFIRMED = "The change was made, but the disk did not confirm it."
MAY_BE_LOST = "A power failure may undo it. Check it before you try again."

_files: WeakKeyDictionary[sa.Engine, "DatabaseFiles"] = WeakKeyDictionary()
_schema_checked_at: WeakKeyDictionary[sa.Engine, float] = WeakKeyDictionary()
_failed_at: WeakKeyDictionary[sa.Engine, float] = WeakKeyDictionary()

Identity = tuple[int, int]

_sync: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)  # only Linux has the faster one


class DatabaseFiles:
    """The files of a SQLite database, as they were when this process opened them."""

    def __init__(self, engine: sa.Engine, writes: Callable[[], bool]) -> None:
        self._writes = writes
        self._checked_at = 0.0
        self._file = str(engine.url.database)
        self._paths = [self._file + ending for ending in FILES]
        self._known: list[Identity | None] = [None] * len(FILES)
        self._connections = 0
        self._is_missing = False
        self._log: int | None = None
        self._is_unsure = False
        event.listen(engine, "do_connect", self.check)
        event.listen(engine, "connect", self._on_connect)
        event.listen(engine, "begin", self._on_begin)
        event.listen(engine, "commit", self._remember)
        event.listen(engine, "close", self._on_close)
        event.listen(engine, "engine_disposed", self._forget)

    def check(self, *_: object) -> None:
        """Refuse to continue if an open file was deleted or replaced.

        Raises:
            Unavailable: until the very same files are back.

        """
        for path, known in zip(self._paths, self._known, strict=True):
            if known is not None and _identity(path) != known:
                if not self._is_missing:
                    self._is_missing = True
                    LOGGER.error(
                        "%s was deleted or replaced while it was open, so nothing is read or "
                        "written; stop the server, put the files in place and start it again",
                        path,
                    )
                raise Unavailable
        self._is_missing = False
        self._checked_at = time.monotonic()

    def _on_begin(self, _connection: sa.Connection) -> None:
        if self._writes() or time.monotonic() - self._checked_at > READER_SECONDS:
            self.check()

    def _on_connect(self, connection: sqlite3.Connection, _record: object) -> None:
        # SQLite opens and holds the other two files from the first read on, not before.
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1")
        self._connections += 1
        self._remember()

    def _on_close(self, *_: object) -> None:
        self._connections -= 1
        if not self._connections:
            self._forget()

    def _remember(self, *_: object) -> None:
        if None in self._known:
            pairs = zip(self._known, self._paths, strict=True)
            self._known = [known or _identity(path) for known, path in pairs]

    def _forget(self, *_: object) -> None:
        """Expect other -wal and -shm files: SQLite deletes them with its last connection."""
        self._known[1:] = [None] * (len(FILES) - 1)
        self._connections = 0
        log, self._log = self._log, None
        if log is not None:
            os.close(log)

    def sync(self) -> None:
        """Wait until the disk has SQLite's log, which each connection leaves to this.

        SQLite itself syncs the log before it copies from it, and what it copied to. Without a log,
        it has synced each commit.

        Raises:
            Unavailable: if the disk confirms neither the log nor a copy.

        """
        log, is_unsure = self._log, self._is_unsure
        try:
            if log is None:
                # Linux reports an error to each process that had the file open when it happened.
                log = self._log = os.open(self._paths[1], os.O_RDWR | os.O_CLOEXEC)
            if not is_unsure:
                _sync(log)
        except FileNotFoundError:
            return
        except OSError:  # the next sync can succeed, although the log has a hole
            is_unsure = self._is_unsure = True
        if is_unsure:
            self._empty_log()
            self._is_unsure = False

    def _empty_log(self) -> None:
        """Copy all of the log into the database and sync it."""
        try:
            with closing(sqlite3.connect(self._file, timeout=COPY_SECONDS)) as connection:
                [is_busy, *_] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error as error:
            raise Unavailable(UNCONFIRMED, result=MAY_BE_LOST) from error
        if is_busy:
            raise Unavailable(UNCONFIRMED, result=MAY_BE_LOST)


def watch(engine: sa.Engine, *, writes: Callable[[], bool]) -> None:
    """Detect when the engine's database no longer keeps what is written to it.

    ``writes``: returns whether the transaction that begins is a writer.
    """
    event.listen(engine, "handle_error", _on_error)
    if engine.dialect.name == "sqlite":
        _files[engine] = DatabaseFiles(engine, writes)


def check_schema(connection: sa.Connection) -> None:
    """Refuse to write where a newer version may read the same rows in another way.

    Raises:
        Unavailable: as long as the database has a revision that this version doesn't know.

    """
    revision = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
    if revision not in revisions():
        raise Unavailable(NEWER)
    _schema_checked_at[connection.engine] = time.monotonic()


def must_check_schema(engine: sa.Engine) -> bool:
    return time.monotonic() - _schema_checked_at.get(engine, -SCHEMA_SECONDS) >= SCHEMA_SECONDS


def is_writable(engine: sa.Engine) -> bool:
    """Whether a write would probably succeed; nothing is written to find out."""
    if time.monotonic() - _failed_at.get(engine, -FAILURE_SECONDS) < FAILURE_SECONDS:
        return False
    if engine.dialect.name != "sqlite":
        return True
    try:
        return shutil.disk_usage(Path(str(engine.url.database)).parent).free >= MIN_FREE_BYTES
    except OSError:
        return False


def sync(engine: sa.Engine) -> None:
    """Wait until the disk has all that was committed, by any process.

    Raises:
        Unavailable: if the disk doesn't confirm it.

    """
    if engine.dialect.name == "sqlite":
        _files[engine].sync()


def note_failed_write(engine: sa.Engine) -> None:
    _failed_at[engine] = time.monotonic()


def note_error(error: BaseException | None, engine: sa.Engine) -> None:
    """Note when the database can't be written to, from an error that it answered with."""
    if isinstance(error, sa.exc.DBAPIError) and faults.is_unwritable(error):
        note_failed_write(engine)


def _on_error(context: sa.engine.ExceptionContext) -> None:
    if context.engine:
        note_error(context.sqlalchemy_exception, context.engine)


def _identity(path: str) -> Identity | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - half the time of Path.stat, and it runs every time
    except OSError:
        return None
    return status.st_dev, status.st_ino
