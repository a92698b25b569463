"""Which request gets a thread: changes wait for each other, and nobody who only reads for them."""

from collections import deque

from waitress.channel import HTTPChannel
from waitress.task import ThreadedTaskDispatcher

READING = frozenset({"GET", "HEAD", "OPTIONS"})


class Queue:
    """First come, first served, but that changes never get the last of several threads.

    True when there is something to take, which may be less than there is.
    """

    def __init__(self, threads: int) -> None:
        self._waiting: deque[HTTPChannel] = deque()
        self._reading: deque[HTTPChannel] = deque()
        self.free_for_changes = max(1, threads - 1)

    def __len__(self) -> int:
        return len(self._waiting) + len(self._reading)

    def __bool__(self) -> bool:
        return bool(self._reading or (self._waiting and self.free_for_changes))

    def append(self, channel: HTTPChannel) -> None:
        (self._waiting if changes(channel) else self._reading).append(channel)

    def popleft(self) -> HTTPChannel:
        if self._waiting and self.free_for_changes:
            self.free_for_changes -= 1
            return self._waiting.popleft()
        return self._reading.popleft()


class Dispatcher(ThreadedTaskDispatcher):  # type: ignore[misc] # untyped
    """waitress's threads with the queue above."""

    queue: Queue

    def __init__(self, threads: int) -> None:
        super().__init__()
        self.queue = Queue(threads)
        self.set_thread_count(threads)

    def end_change(self) -> None:
        """Let another change have the thread of one that has ended."""
        with self.lock:
            self.queue.free_for_changes += 1
            self.queue_cv.notify()


def changes(channel: HTTPChannel) -> bool:
    """Whether the request that comes next on a connection may change something."""
    request = channel.requests[0]
    return request.error is None and request.command not in READING
