"""The threads of one process: one is busy, the others are spares for slow requests.

Threads that compete for the GIL spend most of their time handing it over. So a second thread takes
a request only when the first has been at one for longer than ``SLOW``: it waits for the database,
hashes a password, or writes a large export.
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from itertools import count

from waitress.channel import HTTPChannel

from app.core.logs import LOGGER

SLOW = 0.005
"""Seconds after which a spare may take the next request."""

IsChange = Callable[[HTTPChannel], bool]


class Queue:
    """First come, first served, except that changes never get the last of several threads.

    Changes wait for each other at the database; reads need not wait for them. A queue is true
    if it has a request that may be taken now.
    """

    def __init__(self, threads: int, is_change: IsChange) -> None:
        self._numbers = count()
        self._changes: deque[tuple[int, HTTPChannel]] = deque()
        self._others: deque[tuple[int, HTTPChannel]] = deque()
        self._is_change = is_change
        self._free_for_changes = max(1, threads - 1)

    def __len__(self) -> int:
        return len(self._changes) + len(self._others)

    def __bool__(self) -> bool:
        return bool(self._others) or bool(self._changes and self._free_for_changes)

    def append(self, channel: HTTPChannel) -> None:
        line = self._changes if self._is_change(channel) else self._others
        line.append((next(self._numbers), channel))

    def take(self) -> tuple[HTTPChannel, bool]:
        """The next connection, and whether its request is a change: then call ``end_change``."""
        changes = self._changes if self._free_for_changes else ()
        if changes and (not self._others or changes[0][0] < self._others[0][0]):
            self._free_for_changes -= 1
            return self._changes.popleft()[1], True
        return self._others.popleft()[1], False

    def end_change(self) -> None:
        self._free_for_changes += 1


class Dispatcher:
    """Gives requests to threads. Replaces waitress's dispatcher, with the methods it calls.

    ``at_once``: how many requests run at a time, as long as none of them is slow.
    """

    def __init__(self, threads: int, at_once: int, is_change: IsChange) -> None:
        self.queue = Queue(threads, is_change)
        self._at_once = at_once
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._since: dict[int, float] = {}
        """When each busy thread took its request, by the thread's number."""
        self._is_watched = False
        """Whether a spare is waiting for the time when it may take the next request."""
        self._is_stopping = False
        self._threads = [
            threading.Thread(target=self._work, args=(number,), daemon=True)
            for number in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def active_count(self) -> int:
        """How many threads work on a request."""
        return len(self._since)

    def add_task(self, channel: HTTPChannel) -> None:
        with self._lock:
            self.queue.append(channel)
            if not self._is_watched or self._seconds_until_free() <= 0:
                self._wake.notify()

    def shutdown(self) -> None:
        """Let each thread end after its request; queued requests are dropped."""
        with self._lock:
            self._is_stopping = True
            self._wake.notify_all()

    def _work(self, number: int) -> None:
        while True:
            with self._lock:
                self._since.pop(number, None)
                if not self._wait():
                    return
                channel, is_change = self.queue.take()
                self._since[number] = time.monotonic()
                if self.queue and not self._is_watched:
                    self._wake.notify()  # a spare, to take the next one if this is slow
            try:
                channel.service()
            except Exception:  # noqa: BLE001 - the thread continues with the next request
                LOGGER.exception("a request failed below the application")
            if is_change:
                with self._lock:
                    self.queue.end_change()

    def _wait(self) -> bool:
        """Wait until there is a request to take; False when the threads are to end."""
        while not self._is_stopping:
            if not self.queue:
                self._wake.wait()
                continue
            seconds = self._seconds_until_free()
            if seconds <= 0:
                return True
            if self._is_watched:
                self._wake.wait()
                continue
            self._is_watched = True
            self._wake.wait(seconds)
            self._is_watched = False
        return False

    def _seconds_until_free(self) -> float:
        """Until a thread may take a request: 0, or until one of the busy threads is slow."""
        now = time.monotonic()
        ends = sorted(since + SLOW - now for since in self._since.values() if since + SLOW > now)
        return ends[-self._at_once] if len(ends) >= self._at_once else 0.0
