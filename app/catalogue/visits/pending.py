"""Visits that are written after their requests, together with others.

They are a convenience: what can't be written is dropped.
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
"""So long the place where someone was last needs no writing if they open it again."""
MAX_PENDING = 10_000
"""How many people’s last places are remembered, and how many visits may wait."""


class PendingVisits:
    """The visits of one process that wait to be written, at most once in ``seconds``."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._lock = threading.Lock()
        self._waiting: dict[VisitedPlace, datetime] = {}
        self._last: dict[int, tuple[VisitedPlace, datetime]] = {}
        self._not_before = 0.0

    def add(self, place: VisitedPlace) -> None:
        """Let a visit be written with the next ones, unless this person was just there."""
        now = utcnow()
        with self._lock:
            last = self._last.get(place.account_id)
            if last is not None and last[0] == place and now - last[1] < AGAIN:
                return
            for known in (self._last, self._waiting):
                if len(known) >= MAX_PENDING:
                    known.clear()
            self._last[place.account_id] = (place, now)
            self._waiting[place] = now

    def is_due(self) -> bool:
        """Whether something waits and the last writing was long enough ago."""
        return bool(self._waiting) and time.monotonic() >= self._not_before

    def write(self) -> None:
        """Write what waits, in a transaction of its own."""
        with self._lock:
            due, self._waiting = self._waiting, {}
            self._not_before = time.monotonic() + self.seconds
        if due:
            transact(lambda: service.record(due), writes=True)
