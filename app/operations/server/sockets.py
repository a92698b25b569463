"""Waiting for any of thousands of sockets, most of which are idle.

By itself waitress asks each socket before each wait what it waits for. With ten thousand open
connections that takes longer than all the work there is. On Linux the kernel remembers it here,
and only sockets on which something happens are asked again.
"""

import select
import time
from contextlib import suppress

from waitress import wasyncore
from waitress.channel import HTTPChannel

REVIEW_SECONDS = 1.0
"""How often all sockets are asked: waitress marks idle ones to be closed without a word."""

READ = select.POLLIN | select.POLLPRI if hasattr(select, "poll") else 0
WRITE = select.POLLOUT if hasattr(select, "poll") else 0


class Sockets(dict[int, wasyncore.dispatcher]):
    """By file descriptor, as waitress fills it. ``changed``: those that came or went."""

    def __init__(self) -> None:
        super().__init__()
        self.changed: set[int] = set()

    def __setitem__(self, descriptor: int, one: wasyncore.dispatcher) -> None:
        self.changed.add(descriptor)
        super().__setitem__(descriptor, one)

    def __delitem__(self, descriptor: int) -> None:
        self.changed.add(descriptor)
        super().__delitem__(descriptor)


class Waiting:
    """Waits with epoll, and has waitress handle what happens."""

    def __init__(self, sockets: Sockets) -> None:
        self._sockets = sockets
        self._epoll = select.epoll()
        self._masks: dict[int, int] = {}
        self._active: set[int] = set()
        self._reviewed_at = 0.0

    def once(self, seconds: float) -> None:
        """Wait at most so long, and handle what has happened on any socket."""
        self._take_note()
        for descriptor, what in self._epoll.poll(seconds):
            one = self._sockets.get(descriptor)
            if one is not None:
                self._active.add(descriptor)
                wasyncore.readwrite(one, what)

    def _take_note(self) -> None:
        """Tell the kernel what the sockets wait for that may wait for something else now."""
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
            one = self._sockets.get(descriptor)
            # Asked first: a thread may end its work on the connection between the two questions.
            is_idle = one is None or _is_idle(one)
            if one is not None:
                self._register(descriptor, _mask(one))
            if is_idle:
                self._active.discard(descriptor)

    def _register(self, descriptor: int, mask: int) -> None:
        before = self._masks.get(descriptor, 0)
        if mask == before:
            return
        if not mask:  # or the kernel would go on telling that the client has gone
            self._epoll.unregister(descriptor)
        elif before:
            self._epoll.modify(descriptor, mask)
        else:
            self._epoll.register(descriptor, mask)
        self._masks[descriptor] = mask


class WaitingByPoll:
    """The same where there is no epoll: all sockets are asked each time."""

    def __init__(self, sockets: Sockets) -> None:
        self._sockets = sockets

    def once(self, seconds: float) -> None:
        self._sockets.changed.clear()
        wasyncore.loop(timeout=seconds, use_poll=True, map=self._sockets, count=1)


def waiting(sockets: Sockets) -> Waiting | WaitingByPoll:
    """The best way to wait on this system."""
    return Waiting(sockets) if hasattr(select, "epoll") else WaitingByPoll(sockets)


def _is_idle(one: wasyncore.dispatcher) -> bool:
    """Whether it waits for a request, and for nothing else."""
    return isinstance(one, HTTPChannel) and not (
        one.requests or one.total_outbufs_len or one.will_close or one.close_when_flushed
    )


def _mask(one: wasyncore.dispatcher) -> int:
    wants = READ if one.readable() else 0
    return wants | WRITE if one.writable() and not one.accepting else wants
