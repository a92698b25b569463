"""A client of event streams, as browsers and SDKs read them."""

import http.client
import json
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import pytest

from tests.support.machines import SECONDS
from tests.support.servers import Server

BROKEN_OFF = "the response broke off"


class Event(NamedTuple):
    name: str
    id: str
    data: Any


class StreamClient:
    """Reads a stream in a thread, line by line. ``status``: of the response."""

    def __init__(
        self, server: Server, path: str, *, address: str = "127.0.0.1", **headers: str
    ) -> None:
        connection = http.client.HTTPConnection(
            "127.0.0.1", server.port, timeout=SECONDS, source_address=(address, 0)
        )
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET", path, headers=sent)
        assert connection.sock is not None
        self._socket = connection.sock  # http.client forgets it, since the server closes it
        self._answer = connection.getresponse()
        self.status, self.headers = self._answer.status, self._answer.headers
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

        self.retry = int(self.line().removeprefix("retry: ")) if self.status == 200 else 0

    def line(self) -> str:
        """The next line."""
        line = self._lines.get(timeout=SECONDS)
        assert line is not None, "the stream has ended"
        return line

    def event(self) -> Event:
        """The next event; comments and the time to come back are left out."""
        fields: dict[str, str] = {}
        deadline = time.monotonic() + SECONDS
        while True:
            line = self.line()
            assert time.monotonic() < deadline, "no event came in time"
            name, _, value = line.partition(": ")
            if line == "" and "data" in fields:
                return Event(fields["event"], fields["id"], json.loads(fields["data"]))
            fields[name] = value

    def wait_for_end(self) -> None:
        """Wait until the server has ended the response, and fail if the response breaks off."""
        while (line := self._lines.get(timeout=SECONDS)) is not None:
            assert line != BROKEN_OFF

    def close(self) -> None:
        with suppress(OSError):  # the server has closed it
            self._socket.shutdown(socket.SHUT_RDWR)
        self._reader.join()
        self._answer.close()
        self._socket.close()

    def _read(self) -> None:
        try:
            while line := self._answer.readline():
                self._lines.put(line.decode().rstrip("\n"))
            self._lines.put(None)
        except (OSError, http.client.HTTPException, ValueError):
            self._lines.put(BROKEN_OFF)


@pytest.fixture
def open_stream() -> Iterator[Callable[..., StreamClient]]:
    """Opens streams, and closes them at the end."""
    opened: list[StreamClient] = []

    def begin(server: Server, path: str, **more: str) -> StreamClient:
        opened.append(StreamClient(server, path, **more))
        return opened[-1]

    yield begin
    for stream in opened:
        stream.close()
