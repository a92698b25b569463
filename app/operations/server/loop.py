"""The event loop of one process: it drains before it ends, and no client holds it up.

waitress itself drops queued requests when it stops, and cuts off responses.
"""

import time
from collections.abc import Callable

import waitress
from waitress import wasyncore
from waitress.server import BaseWSGIServer

from app.operations.server.connections import Channel
from app.operations.server.sockets import Sockets, waiting

IDLE_SECONDS = 60
"""How long a connection may stay open between two requests."""
DRAIN_SECONDS = 30.0
"""How long requests may take to end once the server stops."""
PASS_SECONDS = 0.25
ACCEPTED_LAST = 1_024
"""Most connections accepted from the backlog once the server stops."""
ALWAYS_SPOOLED = 10_000_000
"""Waiting responses up to so many bytes are kept without a look at the disk."""


class Loop:
    """Serves until ``end`` is called, then completes the requests in progress."""

    def __init__(
        self,
        server: waitress.server.BaseWSGIServer,
        sockets: Sockets,
        each_pass: Callable[[], None],
        most_spooled: Callable[[], int],
    ) -> None:
        """``each_pass`` is called several times a second.

        ``most_spooled``: returns how many bytes of responses may wait on the disk for clients.
        """
        self._sockets = sockets
        self._waiting = waiting(sockets)
        self._checked_at = 0.0
        self._dispatcher = server.task_dispatcher
        self._is_ending = False
        self._deadline: float | None = None
        self._each_pass = each_pass
        self._most_spooled = most_spooled

    def end(self) -> None:
        self._is_ending = True

    def run(self) -> None:
        self._dispatcher.run(self._pass)
        self._each_pass()
        wasyncore.close_all(self._sockets, ignore_all=True)

    def _pass(self, waits: bool) -> None:  # noqa: FBT001 - its caller only passes it on
        if self._is_ending and self._has_ended():
            self._dispatcher.shutdown()
            return
        self._waiting.once(PASS_SECONDS if waits else 0)
        now = time.monotonic()
        if now >= self._checked_at + PASS_SECONDS:
            self._checked_at = now
            self._check_slow_clients()
        self._each_pass()

    def _has_ended(self) -> bool:
        """Whether all requests are answered, or have had the time that they get at the end."""
        if self._deadline is None:
            self._stop_listening()
            self._deadline = time.monotonic() + DRAIN_SECONDS
        return not self._close_idle() or time.monotonic() >= self._deadline

    def _check_slow_clients(self) -> None:
        behind: list[Channel] = []
        for channel in self._channels():
            if channel.falls_behind():
                channel.abort()
            elif channel.total_outbufs_len:
                behind.append(channel)
        self._cut_off_largest(behind)

    def _cut_off_largest(self, waiting: list[Channel]) -> None:
        """Keep responses that wait for slow clients, in files, from filling the disk."""
        total = sum(channel.total_outbufs_len for channel in waiting)
        most = total if total <= ALWAYS_SPOOLED else self._most_spooled()
        for channel in sorted(waiting, key=lambda channel: -channel.total_outbufs_len):
            if total <= most:
                return
            total -= channel.total_outbufs_len
            channel.abort()

    def _stop_listening(self) -> None:
        """Accept the connections in the backlog, then close the listening sockets."""
        for listener in [one for one in self._sockets.values() if isinstance(one, BaseWSGIServer)]:
            for _ in range(ACCEPTED_LAST):
                before = len(self._sockets)
                listener.handle_accept()
                if len(self._sockets) == before:
                    break
            # Not its own close(), which would also close the pipe by which threads wake this loop.
            wasyncore.dispatcher.close(listener)
        wasyncore.loop(timeout=0, use_poll=True, map=self._sockets, count=1)

    def _close_idle(self) -> bool:
        """End streams, and close idle connections. Return whether there are connections at all."""
        channels = self._channels()
        for channel in channels:
            if channel.stream is not None:
                channel.stream.end()
            elif not channel.is_busy:
                channel.will_close = True
        self._sockets.changed.update(self._sockets)  # a closing connection waits for other events
        return bool(channels)

    def _channels(self) -> list[Channel]:
        return [one for one in self._sockets.values() if isinstance(one, Channel)]
