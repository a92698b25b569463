"""Detect commits to the database by any process."""

import os
import sqlite3
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

import sqlalchemy as sa
from sqlalchemy import event

from app.core.db import db, has_one_writer, times_written

Version = tuple[str, int, int]
"""(database, number of the watching connection, value that changes with every commit)."""


class DataVersion:
    """Reads SQLite's ``PRAGMA data_version``, which changes when another connection commits.

    That takes a few microseconds. The connection does nothing else, so every commit is another
    connection's. PostgreSQL has no such counter: there, only commits of this process are detected.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watchers: dict[tuple[int, str], sqlite3.Connection] = {}
        self._opened = 0

    def version(self, engine: sa.Engine) -> Version:
        """Value that changes with every commit; on PostgreSQL only with those of this process.

        Raises:
            sqlite3.Error: while the database is unavailable.

        """
        database = str(engine.url.database)
        if engine.dialect.name != "sqlite":
            return database, 0, times_written()
        with self._lock:
            watcher = self._watchers.get((os.getpid(), database))
            if watcher is None:
                watcher = sqlite3.connect(database, check_same_thread=False, isolation_level=None)
                self._watchers[os.getpid(), database] = watcher
                self._opened += 1  # values of two connections aren't comparable
                event.listen(engine, "engine_disposed", self._close, once=True)
            version: int = watcher.execute("PRAGMA data_version").fetchone()[0]
            return database, self._opened, version

    def _close(self, engine: sa.Engine) -> None:
        """Close the watcher: SQLite removes its -wal file only with the last connection."""
        with self._lock:
            watcher = self._watchers.pop((os.getpid(), str(engine.url.database)), None)
        if watcher is not None:
            watcher.close()


T = TypeVar("T")

MAX_ENTRIES = 10_000


class CommitCache(Generic[T]):
    """Cache whose entries are valid until any process commits a transaction (SQLite).

    On PostgreSQL nothing is cached.
    """

    def __init__(self) -> None:
        self._watch = DataVersion()
        self._entries: dict[tuple[str, bytes], tuple[Version, T]] = {}

    def get(self, key: bytes, read: Callable[[], T]) -> T:
        """Result of ``read``, cached until the next commit. Falsy results aren't cached.

        The version is taken before ``read`` is called, so a commit in between invalidates the
        result.
        """
        if not has_one_writer():
            return read()
        try:
            version = self._watch.version(db.engine)
        except sqlite3.Error:
            return read()  # it raises the error that clients get while the database is unavailable
        place = (version[0], key)
        cached = self._entries.get(place)
        if cached is not None and cached[0] == version:
            return cached[1]
        value = read()
        if value:
            if len(self._entries) >= MAX_ENTRIES:
                self._entries.clear()
            self._entries[place] = (version, value)
        return value
