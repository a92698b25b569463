"""Remembering what was read for as long as nothing is committed to the database."""

import os
import sqlite3
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

import sqlalchemy as sa
from sqlalchemy import event

from app.core.db import db, has_one_writer

T = TypeVar("T")

MOST = 10_000


class Memo(Generic[T]):
    """Values by key, each valid until any transaction of any process commits (SQLite).

    SQLite tells a connection by ``PRAGMA data_version`` whether others have committed, in a few
    microseconds. PostgreSQL has nothing like it, so nothing is remembered there.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watchers: dict[tuple[int, str], sqlite3.Connection] = {}
        self._known: dict[tuple[str, bytes], tuple[int, T]] = {}

    def get(self, key: bytes, read: Callable[[], T]) -> T:
        """What ``read`` gives, or gave when the database was as it is now; never what is false."""
        if not has_one_writer():
            return read()
        database = str(db.engine.url.database)
        try:
            version = self._version(database)
        except sqlite3.Error:
            return read()  # which fails as everything does while the database is away
        known = self._known.get((database, key))
        if known is not None and known[0] == version:
            return known[1]
        value = read()
        if value:
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[database, key] = (version, value)
        return value

    def _version(self, database: str) -> int:
        """Taken before ``read`` is called: what is committed in between makes its value old."""
        with self._lock:
            watcher = self._watchers.get((os.getpid(), database))
            if watcher is None:
                watcher = sqlite3.connect(database, check_same_thread=False, isolation_level=None)
                self._watchers[os.getpid(), database] = watcher
                event.listen(db.engine, "engine_disposed", self._close, once=True)
            version: int = watcher.execute("PRAGMA data_version").fetchone()[0]
            return version

    def _close(self, engine: sa.Engine) -> None:
        """SQLite tidies its files up only when the last connection to them is closed."""
        with self._lock:
            watcher = self._watchers.pop((os.getpid(), str(engine.url.database)), None)
            self._known.clear()  # the next connection has versions of its own
        if watcher is not None:
            watcher.close()
