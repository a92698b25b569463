"""Wait for events on thousands of sockets, most of them idle.

waitress itself asks each socket before each wait which events it waits for. With ten thousand open
connections, that takes longer than all the work there is. With epoll (Linux), the kernel remembers
it, and only sockets with events are asked again.
"""

import select
import time
from contextlib import suppress

from waitress import wasyncore
from waitress.channel import HTTPChannel

REVIEW_SECONDS = 1.0
"""How often all sockets are asked: waitress marks idle ones to be closed without an event."""

READ = select.POLLIN | select.POLLPRI if hasattr(select, "poll") else 0
WRITE = select.POLLOUT if hasattr(select, "poll") else 0


class Sockets(dict[int, wasyncore.dispatcher]):
    """Sockets by file descriptor, filled by waitress. ``changed``: added or removed ones."""

    def __init__(self) -> None:
        super().__init__()
        self.changed: set[int] = set()

    def __setitem__(self, descriptor: int, dispatcher: wasyncore.dispatcher) -> None:
        self.changed.add(descriptor)
        super().__setitem__(descriptor, dispatcher)

    def __delitem__(self, descriptor: int) -> None:
        self.changed.add(descriptor)
        super().__delitem__(descriptor)


class Waiting:
    """Waits with epoll, and lets waitress handle the events."""

    def __init__(self, sockets: Sockets) -> None:
        self._sockets = sockets
        self._epoll = select.epoll()
        self._masks: dict[int, int] = {}
        self._active: set[int] = set()
        self._reviewed_at = 0.0

    def once(self, seconds: float) -> None:
        """Wait at most so long, and handle the events of all sockets."""
        self._update()
        for descriptor, flags in self._epoll.poll(seconds):
            dispatcher = self._sockets.get(descriptor)
            if dispatcher is not None:
                self._active.add(descriptor)
                wasyncore.readwrite(dispatcher, flags)

    def _update(self) -> None:
        """Register which events to wait for, of sockets for which that may have changed."""
        for descriptor in self._sockets.changed:
            if self._masks.pop(descriptor, 0):
                with suppress(OSError):  # closed sockets are forgotten by the kernel
                    self._epoll.unregister(descriptor)
            self._active.add(descriptor)
        self._sockets.changed.clear()
        now = time.monotonic()
        if now >= self._reviewed_at + REVIEW_SECONDS:
            self._reviewed_at = now
            self._active.update(self._sockets)
        for descriptor in list(self._active):
            dispatcher = self._sockets.get(descriptor)
            # Before the mask: a thread may end its work on the connection between the two calls.
            is_idle = dispatcher is None or _is_idle(dispatcher)
            if dispatcher is not None:
                self._register(descriptor, _mask(dispatcher))
            if is_idle:
                self._active.discard(descriptor)

    def _register(self, descriptor: int, mask: int) -> None:
        before = self._masks.get(descriptor, 0)
        if mask == before:
            return
        if not mask:  # or epoll would report again and again that the client has hung up
            self._epoll.unregister(descriptor)
        elif before:
            self._epoll.modify(descriptor, mask)
        else:
            self._epoll.register(descriptor, mask)
        self._masks[descriptor] = mask


class WaitingByPoll:
    """Waits with poll, where there is no epoll: asks all sockets each time."""

    def __init__(self, sockets: Sockets) -> None:
        self._sockets = sockets

    def once(self, seconds: float) -> None:
        self._sockets.changed.clear()
        wasyncore.loop(timeout=seconds, use_poll=True, map=self._sockets, count=1)


def waiting(sockets: Sockets) -> Waiting | WaitingByPoll:
    """Use epoll where the system has it."""
    return Waiting(sockets) if hasattr(select, "epoll") else WaitingByPoll(sockets)


def _is_idle(channel: wasyncore.dispatcher) -> bool:
    """Whether it waits for a request, and for nothing else."""
    return isinstance(channel, HTTPChannel) and not (
        channel.requests
        or channel.total_outbufs_len
        or channel.will_close
        or channel.close_when_flushed
    )


def _mask(dispatcher: wasyncore.dispatcher) -> int:
    reads = READ if dispatcher.readable() else 0
    return reads | WRITE if dispatcher.writable() and not dispatcher.accepting else reads
