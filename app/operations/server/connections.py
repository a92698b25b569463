"""Connections of waitress that refuse ambiguous requests and detect clients that are too slow.

waitress itself restarts a client's idle time with every byte.
"""

import socket
import struct
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from waitress.buffers import OverflowableBuffer
from waitress.channel import ClientDisconnected, HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.task import WSGITask

from app.core.streaming import STREAM, Stream
from app.operations.server.repeats import Repeat
from app.web.http import AGAIN, PEER

RECEIVE_SECONDS = 20.0
"""From a request's first byte, or the opening of a connection, to the request's last byte."""
STALL_SECONDS = 60.0
LEAST_BYTES = 16_384
"""How much of a waiting response a client must take in STALL_SECONDS."""
RESET = struct.pack("ii", 1, 0)
"""For SO_LINGER: closing resets the connection."""
BUFFER_BYTES = 65_536
"""How much the kernel keeps of a stream for a client that reads slowly; it doubles this."""
LOST_SECONDS = 60.0
"""A stream ends if its client has not confirmed what it got for so long."""
GREETING_SECONDS = 1.0
"""How long the ending server waits for the first request of a new connection."""


class Parser(HTTPRequestParser):  # type: ignore[misc] # untyped
    """Refuses requests that a proxy and this server could parse differently (request smuggling).

    ``whole``: the bytes of the request, if they arrived alone and in one piece.
    """

    whole: bytes | None = None
    _has_begun = False

    def received(self, data: bytes) -> int:
        used: int = super().received(data)
        is_whole = self.completed and not self._has_begun and used == len(data)
        self.whole = bytes(data) if is_whole else None
        self._has_begun = True
        return used

    def parse_header(self, header_plus: bytes) -> None:
        lines = header_plus.split(b"\r\n")[1:]
        if any(line[:1] in {b" ", b"\t"} for line in lines):
            raise ParsingError("Write each header on one line")
        named = Counter(line.partition(b":")[0].lower() for line in lines if line)
        if named[b"host"] > 1:
            raise ParsingError("Send one Host header")
        lengths = named[b"content-length"] + named[b"transfer-encoding"]
        if lengths > 1:
            raise ParsingError("Send one Content-Length, or one Transfer-Encoding")
        kinds = [line.lower() for line in lines if line.lower().startswith(b"transfer-encoding:")]
        if any(line.partition(b":")[2].strip(b" \t") != b"chunked" for line in kinds):
            raise ParsingError("Use Transfer-Encoding: chunked, the only one supported here")
        super().parse_header(header_plus)
        if self.version not in {"1.0", "1.1"}:
            raise ParsingError("Use HTTP/1.0 or HTTP/1.1")
        if self.version == "1.1" and not named[b"host"]:
            raise ParsingError("Send a Host header")
        if self.version == "1.0" and named[b"transfer-encoding"]:
            raise ParsingError("HTTP/1.0 has no Transfer-Encoding")


class Task(WSGITask):  # type: ignore[misc] # untyped
    """A response that keeps the connection open wherever HTTP/1.1 does.

    waitress itself closes it after every response without a length, even if the status allows no
    body. Applications that poll get a 304 nearly every time.
    """

    _holds: Callable[[], bool] | None = None
    _on_open: Callable[[Stream], None] | None = None

    def get_environment(self) -> dict[str, Any]:
        environ: dict[str, Any] = super().get_environment()
        if self.request.whole is not None:
            environ[AGAIN] = self._again_while
        environ[STREAM] = self._keep_open
        # Read before waitress replaces the address by that of the client behind the proxy.
        environ[PEER] = self.channel.addr[0]
        return environ

    def build_response_header(self) -> bytes:
        head: bytes = super().build_response_header()
        if self._holds is not None and not self.close_on_finish:
            self.channel.repeat = Repeat(self.request.whole, head, self._holds)
        return head

    def _again_while(self, holds: Callable[[], bool]) -> None:
        self._holds = holds

    def _keep_open(self, on_open: Callable[[Stream], None]) -> None:
        self._on_open = on_open

    def finish(self) -> None:
        if self._on_open is None:
            super().finish()
            self.channel.forget_sent()
            return
        self.write(b"")
        self.close_on_finish = False  # the stream's end closes the connection
        self.channel.stream = OpenResponse(self.channel, is_chunked=self.chunked_response)
        self._on_open(self.channel.stream)

    def set_close_on_finish(self) -> None:
        is_asked_to = self.request.headers.get("CONNECTION", "").lower() == "close"
        if self.version == "1.1" and not self.has_body and not is_asked_to:
            return
        super().set_close_on_finish()


class OpenResponse:
    """The ``Stream`` on a connection. waitress sends what is written from any thread."""

    __slots__ = ("_channel", "_is_chunked")

    def __init__(self, channel: "Channel", *, is_chunked: bool) -> None:
        self._channel, self._is_chunked = channel, is_chunked
        with suppress(OSError, AttributeError):  # not every system has the second
            channel.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
            # Otherwise the kernel tries for a quarter of an hour to reach a client that is gone.
            milliseconds = int(1_000 * LOST_SECONDS)
            channel.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)

    @property
    def is_open(self) -> bool:
        channel = self._channel
        is_ending = channel.will_close or channel.close_when_flushed
        return bool(channel.connected) and not is_ending

    @property
    def waiting(self) -> int:
        waiting: int = self._channel.total_outbufs_len
        return waiting

    def send(self, data: bytes) -> None:
        self._write(b"%X\r\n%b\r\n" % (len(data), data) if self._is_chunked else data)

    def end(self) -> None:
        self._write(b"0\r\n\r\n" if self._is_chunked else b"", is_last=True)

    def _write(self, data: bytes, *, is_last: bool = False) -> None:
        with self._channel.outbuf_lock, suppress(ClientDisconnected):
            if self.is_open:
                self._channel.write_soon(data)
                self._channel.forget_sent()
                self._channel.close_when_flushed = is_last


class Channel(HTTPChannel):  # type: ignore[misc] # untyped
    """A connection that knows how long it has been waiting for the rest of a request."""

    parser_class = Parser
    task_class = Task
    receiving_since: float | None
    repeat: Repeat | None = None
    """The last response, if it may answer the next request too."""
    stream: OpenResponse | None = None
    """The response that stays open, if the last request asked for one."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        self.receiving_since = time.monotonic()
        self._sent = 0
        self._pace: tuple[float, int] | None = None
        super().__init__(*args, **kwargs)

    def received(self, data: bytes) -> bool:
        if self.stream is not None:  # nothing can be answered on this connection any more
            self.will_close = True
            return False
        is_first = self.request is None
        if is_first and self.repeat is not None and not self.requests:
            answer = self.repeat.answer(data)
            if answer is not None:
                self.write_soon(answer)
                return True
            self.repeat = None
        taken: bool = super().received(data)
        if self.request is None:
            self.receiving_since = None
        elif is_first:
            self.receiving_since = time.monotonic()
        return taken

    def handle_write(self) -> None:
        if self.stream is None:
            super().handle_write()
        else:
            with self.outbuf_lock:  # waitress takes it only while there is a request
                super().handle_write()
        self.forget_sent()

    def forget_sent(self) -> None:
        """Free what was sent. waitress keeps up to 16 MB of it while the connection is open."""
        with self.outbuf_lock:
            if not self.total_outbufs_len and self.outbufs[-1].buf is not None:
                self.outbufs.pop().close()
                self.outbufs.append(OverflowableBuffer(self.adj.outbuf_overflow))
                self.current_outbuf_count = 0

    @property
    def is_busy(self) -> bool:
        """Whether a request is being received, handled or answered, or is about to come."""
        if self.requests or self.request is not None or self.total_outbufs_len:
            return True
        since = self.receiving_since
        return since is not None and time.monotonic() - since < GREETING_SECONDS

    def send(self, data: bytes, do_close: bool = True) -> int:  # noqa: FBT001, FBT002 - waitress calls it so
        sent: int = super().send(data, do_close)
        self._sent += sent
        return sent

    def falls_behind(self) -> bool:
        """Whether the client is too slow to send its request or to take the response."""
        now, since = time.monotonic(), self.receiving_since
        if since is not None and not self.requests:
            return now - since > RECEIVE_SECONDS
        if not self.total_outbufs_len:
            self._pace = None
            return False
        if self._pace is None or self._sent - self._pace[1] >= LEAST_BYTES:
            self._pace = now, self._sent
        return now - self._pace[0] > STALL_SECONDS

    def abort(self) -> None:
        """Close at once, and let the kernel drop what the client has not taken.

        waitress itself closes only once the socket can be written to, and that never happens if the
        client reads nothing.
        """
        with suppress(OSError):
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.handle_close()
