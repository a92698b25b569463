"""Buffer of visits, which are written in batches after their requests.

They are a convenience: visits that can't be written are dropped.
"""

import threading
import time
from datetime import datetime, timedelta

from app.catalogue.visits import service
from app.catalogue.visits.service import VisitedPlace
from app.core.clock import utcnow
from app.core.db import transact

SECONDS = 1.0
AGAIN = timedelta(minutes=1)
"""Opening the last place again within this time isn't written again."""
MAX_PENDING = 10_000
"""Limit for the people whose last place is remembered, and for the visits that wait."""


class PendingVisits:
    """The visits of one process that wait to be written, at most once in ``seconds``."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._lock = threading.Lock()
        self._waiting: dict[VisitedPlace, datetime] = {}
        self._last: dict[int, tuple[VisitedPlace, datetime]] = {}
        self._not_before = 0.0

    def add(self, place: VisitedPlace) -> None:
        """Buffer a visit, unless this person was at the place within AGAIN."""
        now = utcnow()
        with self._lock:
            last = self._last.get(place.account_id)
            if last is not None and last[0] == place and now - last[1] < AGAIN:
                return
            for buffer in (self._last, self._waiting):
                if len(buffer) >= MAX_PENDING:
                    buffer.clear()
            self._last[place.account_id] = (place, now)
            self._waiting[place] = now

    def is_due(self) -> bool:
        """Whether visits wait, and the last write was at least ``seconds`` ago."""
        return bool(self._waiting) and time.monotonic() >= self._not_before

    def write(self) -> None:
        """Write the waiting visits in a transaction of their own."""
        with self._lock:
            due, self._waiting = self._waiting, {}
            self._not_before = time.monotonic() + self.seconds
        if due:
            transact(lambda: service.record(due), writes=True)
