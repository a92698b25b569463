"""Answer a repeated request on a connection with the last response.

Applications that poll send identical requests every few seconds, and nearly always nothing has
changed. The SDK API says with each answer how to check that. If the response still holds, the
request is neither parsed nor dispatched again.
"""

import re
import time
from collections.abc import Callable
from functools import lru_cache

from waitress.utilities import build_http_date

_around_date = re.compile(rb"(?<=\r\nDate: )[^\r]+").split


class Repeat:
    """A response that was sent on a connection, and the request."""

    __slots__ = ("_after", "_asked", "_before", "_holds")

    def __init__(self, asked: bytes, head: bytes, holds: Callable[[], bool]) -> None:
        self._asked, self._holds = asked, holds
        self._before, self._after = _around_date(head)

    def answer(self, asked: bytes) -> bytes | None:
        """The response with the current date, if the request is identical and it still holds."""
        if asked != self._asked or not self._holds():
            return None
        return self._before + _date(int(time.time())) + self._after


@lru_cache(maxsize=1)
def _date(seconds: int) -> bytes:
    date: str = build_http_date(seconds)
    return date.encode()
