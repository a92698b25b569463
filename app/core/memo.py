"""Remembering what was read for as long as nothing is committed to the database."""

import sqlite3
from collections.abc import Callable
from typing import Generic, TypeVar

from app.core.commits import Version, Watch
from app.core.db import db, has_one_writer

T = TypeVar("T")

MOST = 10_000


class Memo(Generic[T]):
    """Values by key, each valid until any transaction of any process commits (SQLite).

    On PostgreSQL nothing is remembered.
    """

    def __init__(self) -> None:
        self._watch = Watch()
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
            if len(self._known) >= MOST:
                self._known.clear()
            self._known[place] = (version, value)
        return value
