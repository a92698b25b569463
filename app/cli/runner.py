"""waitress with an end and with patience that ends: it drains, and no client holds it up.

By itself waitress drops what is queued when it is told to stop, cuts off what is being sent, and
counts a client's idle time anew with every byte.
"""

import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from types import FrameType

import waitress
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import BaseWSGIServer

from app.cli.threads import changes

RECEIVE_SECONDS = 20.0
"""From a request's first byte, or the opening of a connection, to the request's last byte."""
STALL_SECONDS = 60.0
"""How long a client may take none of an answer that waits for it."""
IDLE_SECONDS = 60
"""How long a connection may stay open between two requests."""
DRAIN_SECONDS = 30.0
"""How long what is under way may take to end once the server was told to stop."""
GREETING_SECONDS = 1.0
"""How long a connection may be silent at first when the server ends: its request is on the way."""
PASS_SECONDS = 0.25
HOUR = 3_600.0
ACCEPTED_LAST = 1_024

Servers = dict[int, wasyncore.dispatcher]


class Parser(HTTPRequestParser):  # type: ignore[misc] # untyped
    """Refuses what two servers in a row could understand differently."""

    def parse_header(self, header_plus: bytes) -> None:
        lines = header_plus.split(b"\r\n")[1:]
        if any(line[:1] in {b" ", b"\t"} for line in lines):
            raise ParsingError("A header must stand on one line")
        named = Counter(line.partition(b":")[0].lower() for line in lines if line)
        if named[b"host"] > 1:
            raise ParsingError("There must be one Host")
        lengths = named[b"content-length"] + named[b"transfer-encoding"]
        if lengths > 1:
            raise ParsingError("Send one Content-Length, or one Transfer-Encoding")
        kinds = [line.lower() for line in lines if line.lower().startswith(b"transfer-encoding:")]
        if any(line.partition(b":")[2].strip(b" \t") != b"chunked" for line in kinds):
            raise ParsingError("The one Transfer-Encoding that is understood here is chunked")
        super().parse_header(header_plus)
        if self.version not in {"1.0", "1.1"}:
            raise ParsingError("Speak HTTP/1.0 or HTTP/1.1")
        if self.version == "1.1" and not named[b"host"]:
            raise ParsingError("There must be a Host")
        if self.version == "1.0" and named[b"transfer-encoding"]:
            raise ParsingError("HTTP/1.0 has no Transfer-Encoding")


class Channel(HTTPChannel):  # type: ignore[misc] # untyped
    """A connection that knows since when it has been waiting for the rest of a request."""

    parser_class = Parser
    receiving_since: float | None

    def __init__(self, *args: object, **kwargs: object) -> None:
        self.receiving_since = time.monotonic()
        super().__init__(*args, **kwargs)

    def service(self) -> None:
        is_change = changes(self)
        try:
            super().service()
        finally:
            if is_change:
                self.server.task_dispatcher.end_change()

    def received(self, data: bytes) -> bool:
        begins = self.request is None
        taken: bool = super().received(data)
        if self.request is None:
            self.receiving_since = None
        elif begins:
            self.receiving_since = time.monotonic()
        return taken

    @property
    def is_busy(self) -> bool:
        """Whether a request is being received, worked on or answered, or about to come."""
        if self.requests or self.request is not None or self.total_outbufs_len:
            return True
        since = self.receiving_since
        return since is not None and time.monotonic() - since < GREETING_SECONDS

    @property
    def is_too_slow(self) -> bool:
        since = self.receiving_since
        if since is not None and not self.requests:
            return time.monotonic() - since > RECEIVE_SECONDS
        return bool(self.total_outbufs_len) and time.time() - self.last_activity > STALL_SECONDS


class Runner:
    """Serves until SIGTERM or SIGINT, then ends what is under way; a second signal ends at once."""

    def __init__(
        self, server: waitress.server.BaseWSGIServer, every_hour: Callable[[], None]
    ) -> None:
        """``every_hour`` is called once in an hour, and at the end."""
        self._sockets: Servers = getattr(server, "_map", None) or server.map
        self._tasks = server.task_dispatcher
        self._is_ending = False
        self._every_hour = every_hour
        self._next_hour = time.monotonic() + HOUR

    def run(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        while not self._is_ending:
            self._pass()
        self._refuse_new()
        deadline = time.monotonic() + DRAIN_SECONDS
        while self._hang_up_idle() and time.monotonic() < deadline:
            self._pass()
        self._tasks.shutdown()
        self._every_hour()
        wasyncore.close_all(self._sockets, ignore_all=True)

    def _pass(self) -> None:
        wasyncore.loop(timeout=PASS_SECONDS, use_poll=True, map=self._sockets, count=1)
        for channel in self._channels():
            if channel.is_too_slow:
                channel.will_close = True
        if time.monotonic() > self._next_hour:
            self._next_hour += HOUR
            self._every_hour()

    def _refuse_new(self) -> None:
        """Take what has connected already, then close the door."""
        for listener in [one for one in self._sockets.values() if isinstance(one, BaseWSGIServer)]:
            for _ in range(ACCEPTED_LAST):
                before = len(self._sockets)
                listener.handle_accept()
                if len(self._sockets) == before:
                    break
            # Not its own close(): that would take the pipe away by which threads wake this loop.
            wasyncore.dispatcher.close(listener)
        wasyncore.loop(timeout=0, use_poll=True, map=self._sockets, count=1)

    def _hang_up_idle(self) -> bool:
        """Close connections on which nothing is under way; whether there are others."""
        channels = self._channels()
        for channel in channels:
            if not channel.is_busy:
                channel.will_close = True
        return bool(channels)

    def _channels(self) -> list[Channel]:
        return [one for one in self._sockets.values() if isinstance(one, Channel)]

    def _end(self, _number: int, _frame: FrameType | None) -> None:
        if self._is_ending:
            sys.exit(1)
        self._is_ending = True
