"""Which request gets a thread: changes wait for each other, and nobody who only reads for them."""

from collections import deque
from itertools import count

from waitress.channel import HTTPChannel
from waitress.task import ThreadedTaskDispatcher

from app.core.blueprints import READING


class Queue:
    """First come, first served, but that changes never get the last of several threads.

    True when there is something to take, which may be less than there is.
    """

    def __init__(self, threads: int) -> None:
        self._numbers = count()
        self._changes: deque[tuple[int, HTTPChannel]] = deque()
        self._others: deque[tuple[int, HTTPChannel]] = deque()
        self.free_for_changes = max(1, threads - 1)

    def __len__(self) -> int:
        return len(self._changes) + len(self._others)

    def __bool__(self) -> bool:
        return bool(self._takable)

    def append(self, channel: HTTPChannel) -> None:
        line = self._changes if changes(channel) else self._others
        line.append((next(self._numbers), channel))

    def popleft(self) -> HTTPChannel:
        line = min(self._takable, key=lambda line: line[0][0])
        if line is self._changes:
            self.free_for_changes -= 1
        return line.popleft()[1]

    @property
    def _takable(self) -> list[deque[tuple[int, HTTPChannel]]]:
        """The lines whose first may have a thread now."""
        lines = [self._others, self._changes] if self.free_for_changes else [self._others]
        return [line for line in lines if line]


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
