"""What a server writes some time after its answer: visits, usage, the first contact of a token."""

import time
from collections.abc import Callable

WITHIN = 20
"""Seconds. Each process writes once a second, later on a busy machine."""


def await_written(
    is_there: Callable[[], object], look_again: Callable[[], object] = lambda: None
) -> None:
    deadline = time.monotonic() + WITHIN
    while not is_there():
        assert time.monotonic() < deadline, "it has not been written in time"
        time.sleep(0.2)
        look_again()
