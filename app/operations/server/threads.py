"""The threads of one process: one leads, the others follow and step in when it is slow.

The leader waits for the sockets and answers the requests that come, so a quick request is never
handed from thread to thread, and threads don't compete for the GIL. When it has been at one for
longer than ``SLOW``, because it waits for the database, hashes a password or writes a large export,
a follower becomes the leader (the pattern is called leader/followers).
"""

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, wait
from itertools import count

from waitress.channel import HTTPChannel

from app.core.logs import LOGGER

SLOW = 0.01
"""Seconds after which another thread becomes the leader."""
SIGNAL_SECONDS = 1.0
"""Windows handles signals only between two waits of the main thread."""

IsChange = Callable[[HTTPChannel], bool]
HandleEvents = Callable[[bool], None]
"""Handles the events of the sockets; waits for one if its argument is true."""


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

    ``threads``: how many requests run at a time at most. There is one more thread, so that one is
    left for the sockets.
    """

    def __init__(self, threads: int, is_change: IsChange) -> None:
        self.queue = Queue(threads, is_change)
        self.active_count = 0
        """How many threads work on a request."""
        self._threads = threads
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._leader: int | None = None
        """The thread that waits for the sockets, or did until it took a request."""
        self._is_answering = True
        """Whether the leader is at a request. At first, as if it had been for long."""
        self._started = -SLOW
        """When the leader took its last request."""
        self._is_watched = False
        """Whether a follower waits for the time when the leader is slow."""
        self._looked = 0.0
        """When the leader last looked at the sockets."""
        self._end: Future[None] = Future()

    def run(self, handle_events: HandleEvents) -> None:
        """Work until ``shutdown``. Raises what ``handle_events`` raises."""
        for _ in range(self._threads + 1):
            threading.Thread(target=self._work, args=[handle_events], daemon=True).start()
        while not wait([self._end], SIGNAL_SECONDS).done:
            pass
        self._end.result()

    def add_task(self, channel: HTTPChannel) -> None:
        with self._lock:
            self.queue.append(channel)

    def wake(self, pull_trigger: Callable[[], None]) -> None:
        """Let the leader look at its sockets again, which it does by itself after its requests."""
        if self._leader != threading.get_ident():
            pull_trigger()

    def shutdown(self) -> None:
        """Let each thread end after its request; queued requests are dropped."""
        with self._lock:
            self._end.set_result(None)
            self._wake.notify_all()

    def _work(self, handle_events: HandleEvents) -> None:
        with self._lock:
            while not self._end.done():
                left = self._started + SLOW - time.monotonic()
                if self._is_answering and left <= 0:
                    self._lead(handle_events)
                elif not self._is_answering and self._may_answer():
                    self._answer()
                elif left > 0 and not self._is_watched:
                    self._is_watched = True
                    self._wake.wait(left)
                    self._is_watched = False
                else:
                    self._wake.wait()

    def _lead(self, handle_events: HandleEvents) -> None:
        """Wait for the sockets and answer, until a follower is the leader."""
        self._leader = threading.get_ident()
        while self._leader == threading.get_ident() and not self._end.done():
            has_work = self._may_answer()
            if has_work and time.monotonic() < self._looked + SLOW:
                self._answer()
                continue
            self._is_answering = False
            self._lock.release()
            try:
                handle_events(not has_work)
            except BaseException as error:  # noqa: BLE001 - ``run`` raises it
                self._end.set_exception(error)
            finally:
                self._lock.acquire()
            self._looked = time.monotonic()

    def _may_answer(self) -> bool:
        return bool(self.queue) and self.active_count < self._threads

    def _answer(self) -> None:
        channel, is_change = self.queue.take()
        self.active_count += 1
        if self._leader == threading.get_ident():
            self._is_answering, self._started = True, time.monotonic()
            if not self._is_watched:
                self._wake.notify()
        self._lock.release()
        try:
            channel.service()
        except Exception:  # noqa: BLE001 - the thread continues with the next request
            LOGGER.exception("a request failed below the application")
        finally:
            self._lock.acquire()
        self.active_count -= 1
        if is_change:
            self.queue.end_change()
