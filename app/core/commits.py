"""Detect commits to the database by any process."""

import math
import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from typing import Any, Generic, NamedTuple, TypeVar

import sqlalchemy as sa
from sqlalchemy import event

from app.core.db import db, has_one_writer, times_written
from app.core.events.writing import CHANNEL

POLL_SECONDS = 0.5
"""Interval between two looks for commits on PostgreSQL."""
LISTENING_POLL_SECONDS = 5.0
"""The same while PostgreSQL notifies of commits, in case a notification is lost."""
LISTEN_SECONDS = 0.5
"""Interval between two checks of whether to go on listening."""


class Version(NamedTuple):
    """What a process knows of commits without asking the database.

    ``watcher``: number of the connection that watches. Values of two aren't comparable.
    ``value``: changes with every commit that is noticed. ``seconds``: after which to ask the
    database nevertheless, as commits could have been missed.
    """

    database: str
    watcher: int
    value: int
    seconds: float


class Notifications:
    """Counts the notifications that PostgreSQL sends of commits that record events."""

    def __init__(self) -> None:
        self.number = 0
        self.listener = 0
        """Number of the connection that listens; 0 if there is none."""
        self._connections = 0

    def listen(self, engine: sa.Engine, is_ended: Callable[[], bool]) -> bool:
        """Count until ``is_ended``. Return False if a pooler keeps notifications back.

        Raises:
            sqlalchemy.exc.SQLAlchemyError, psycopg.Error: when the connection fails.

        """
        pooled = engine.raw_connection()
        connection: Any = pooled.driver_connection
        pooled.detach()  # it is for this alone
        with closing(connection):
            connection.autocommit = True
            [[process]] = connection.execute("SELECT pg_backend_pid()")
            if process != connection.info.backend_pid:
                return False  # PgBouncer gives each statement to any of its own connections
            connection.execute(f"LISTEN {CHANNEL}")
            self._connections += 1
            self.listener = self._connections
            try:
                while not is_ended():
                    for _ in connection.notifies(timeout=LISTEN_SECONDS):
                        self.number += 1
            finally:
                self.listener = 0
        return True


class DataVersion:
    """Detects commits: on SQLite those of all processes, by ``PRAGMA data_version``.

    It changes when another connection commits, and takes a few microseconds. The connection does
    nothing else, so every commit is another connection's. On PostgreSQL, it detects commits of this
    process, and those that ``notifications`` count.
    """

    def __init__(self, notifications: Notifications | None = None) -> None:
        self._notifications = notifications or Notifications()
        self._lock = threading.Lock()
        self._watchers: dict[tuple[int, str], sqlite3.Connection] = {}
        self._opened = 0

    def version(self, engine: sa.Engine) -> Version:
        """Value that changes with every commit that is detected.

        Raises:
            sqlite3.Error: while the database is unavailable.

        """
        database = str(engine.url.database)
        if engine.dialect.name != "sqlite":
            heard = self._notifications
            seconds = LISTENING_POLL_SECONDS if heard.listener else POLL_SECONDS
            return Version(database, heard.listener, times_written() + heard.number, seconds)
        with self._lock:
            watcher = self._watchers.get((os.getpid(), database))
            if watcher is None:
                watcher = sqlite3.connect(database, check_same_thread=False, isolation_level=None)
                self._watchers[os.getpid(), database] = watcher
                self._opened += 1
                event.listen(engine, "engine_disposed", self._close, once=True)
            version: int = watcher.execute("PRAGMA data_version").fetchone()[0]
            return Version(database, self._opened, version, math.inf)

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
        place = (version.database, key)
        cached = self._entries.get(place)
        if cached is not None and cached[0] == version:
            return cached[1]
        value = read()
        if value:
            if len(self._entries) >= MAX_ENTRIES:
                self._entries.clear()
            self._entries[place] = (version, value)
        return value
