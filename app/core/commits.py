"""Noticing that something was committed to the database, by any process."""

import os
import sqlite3
import threading

import sqlalchemy as sa
from sqlalchemy import event

from app.core.db import times_written

Version = tuple[str, int, int]
"""The database, the number of the connection that watches it, and what differs after a commit."""


class Watch:
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
