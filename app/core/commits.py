"""Noticing that something was committed to the database, by any process."""

import os
import sqlite3
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

import sqlalchemy as sa
from sqlalchemy import event

from app.core.db import db, has_one_writer, times_written

Version = tuple[str, int, int]
"""The database, the number of the connection that watches it, and what differs after a commit."""


class DataVersion:
    """Asks SQLite by ``PRAGMA data_version`` whether others have committed: a few microseconds.

    It has a connection of its own, for which everyone else is another one. PostgreSQL has nothing
    like it, so only what this process commits is noticed there.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._watchers: dict[tuple[int, str], sqlite3.Connection] = {}
        self._opened = 0

    def version(self, engine: sa.Engine) -> Version:
        """What differs after every commit, on PostgreSQL after those of this process.

        Raises:
            sqlite3.Error: while the database is away.

        """
        database = str(engine.url.database)
        if engine.dialect.name != "sqlite":
            return database, 0, times_written()
        with self._lock:
            watcher = self._watchers.get((os.getpid(), database))
            if watcher is None:
                watcher = sqlite3.connect(database, check_same_thread=False, isolation_level=None)
                self._watchers[os.getpid(), database] = watcher
                self._opened += 1  # each connection counts from the beginning
                event.listen(engine, "engine_disposed", self._close, once=True)
            version: int = watcher.execute("PRAGMA data_version").fetchone()[0]
            return database, self._opened, version

    def _close(self, engine: sa.Engine) -> None:
        """SQLite tidies its files up only when the last connection to them is closed."""
        with self._lock:
            watcher = self._watchers.pop((os.getpid(), str(engine.url.database)), None)
        if watcher is not None:
            watcher.close()


T = TypeVar("T")

MAX_ENTRIES = 10_000


class CommitCache(Generic[T]):
    """Values by key, each valid until any transaction of any process commits (SQLite).

    On PostgreSQL nothing is remembered.
    """

    def __init__(self) -> None:
        self._watch = DataVersion()
        self._known: dict[tuple[str, bytes], tuple[Version, T]] = {}

    def get(self, key: bytes, read: Callable[[], T]) -> T:
        """What ``read`` gives, or gave when the database was as it is now; never what is false.

        The version is taken before ``read`` is called: what is committed in between makes its
        value old.
        """
        if not has_one_writer():
            return read()
        try:
            version = self._watch.version(db.engine)
        except sqlite3.Error:
            return read()  # which fails as everything does while the database is away
        place = (version[0], key)
        known = self._known.get(place)
        if known is not None and known[0] == version:
            return known[1]
        value = read()
        if value:
            if len(self._known) >= MAX_ENTRIES:
                self._known.clear()
            self._known[place] = (version, value)
        return value
