"""The same request on the same connection, answered as before without a thread.

Applications that poll ask the same every few seconds, byte for byte, and nearly always nothing has
changed. The application in front says how to find out whether that is so; then what was parsed
and written before is not parsed and written again.
"""

import re
import time
from collections.abc import Callable
from functools import lru_cache

from waitress.utilities import build_http_date

_around_date = re.compile(rb"(?<=\r\nDate: )[^\r]+").split


class Repeat:
    """An answer that was sent on a connection, and what was asked."""

    __slots__ = ("_after", "_asked", "_before", "_holds")

    def __init__(self, asked: bytes, head: bytes, holds: Callable[[], bool]) -> None:
        self._asked, self._holds = asked, holds
        self._before, self._after = _around_date(head)

    def answer(self, asked: bytes) -> bytes | None:
        """The same answer of now, if the same is asked and it still holds."""
        if asked != self._asked or not self._holds():
            return None
        return self._before + _date(int(time.time())) + self._after


@lru_cache(maxsize=1)
def _date(seconds: int) -> bytes:
    date: str = build_http_date(seconds)
    return date.encode()
