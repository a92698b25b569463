"""A queue of entries that are written after their requests, at most once a second.

So a flood of refused requests causes one small transaction a second, not one for each request.
"""

import threading
import time
from datetime import datetime

from sqlalchemy.exc import DBAPIError

from app.access.security_log import service
from app.access.security_log.service import LogEntry
from app.core.clock import utcnow
from app.core.db import transact
from app.core.errors import Unavailable
from app.core.faults import is_unavailable

SECONDS = 1.0
MAX_PENDING = 100
"""How many different entries may wait. More are only counted by kind."""
OTHERS = "and others"


class Pending:
    """The entries of one process that wait, each with its first time and how often it happened."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._lock = threading.Lock()
        self._waiting: dict[LogEntry, tuple[datetime, int]] = {}
        self._not_before = 0.0

    def add(self, entry: LogEntry) -> None:
        """Queue the entry for the next write."""
        with self._lock:
            self._count(entry, utcnow(), 1)

    def is_due(self) -> bool:
        """Whether an entry waits and the last write was at least ``seconds`` ago."""
        return bool(self._waiting) and time.monotonic() >= self._not_before

    def write(self) -> None:
        """Write the queue in a separate transaction. Keep it if the database is unavailable."""
        with self._lock:
            due, self._waiting = self._waiting, {}
            self._not_before = time.monotonic() + self.seconds
        if not due:
            return
        try:
            transact(lambda: _record(due), writes=True)
        except (Unavailable, DBAPIError) as error:
            if isinstance(error, Unavailable) or is_unavailable(error):
                with self._lock:
                    for entry, (at, times) in due.items():
                        self._count(entry, at, times)
            raise

    def _count(self, entry: LogEntry, at: datetime, times: int) -> None:
        if entry not in self._waiting and len(self._waiting) >= MAX_PENDING:
            entry = LogEntry(entry.kind, ip=None, detail=OTHERS)
        first, before = self._waiting.get(entry, (at, 0))
        self._waiting[entry] = (min(first, at), before + times)


def _record(due: dict[LogEntry, tuple[datetime, int]]) -> None:
    for entry, (at, times) in due.items():
        service.record(entry, times=times, at=at)
