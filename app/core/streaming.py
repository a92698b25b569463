"""Responses that stay open: how a server offers them to applications."""

from collections.abc import Callable
from typing import Protocol

STREAM = "flagstaff.stream"
"""The key in a request's WSGI environment under which the server offers ``KeepOpen``.

An application that calls it returns no body: once the head of the response is sent, the server
calls back with the ``Stream`` for it. No thread is held. Other servers don't offer this.
"""

STREAM_HEADERS = (
    ("Content-Type", "text/event-stream"),
    ("Cache-Control", "private, no-cache, no-transform"),
    ("X-Accel-Buffering", "no"),  # nginx would keep events until it has a few kilobytes
)
COMMENT = b":\n\n"
"""A part of an event stream that its client ignores."""


class Stream(Protocol):
    """A response that stays open. Its methods never block, and any thread can call them."""

    @property
    def is_open(self) -> bool: ...

    @property
    def waiting(self) -> int:
        """How many bytes the client has not taken yet."""
        ...

    def send(self, data: bytes) -> None:
        """Send more; does nothing if the stream isn't open."""
        ...

    def end(self) -> None:
        """End the response, so that the client knows that it is complete."""
        ...


KeepOpen = Callable[[Callable[[Stream], None]], None]
