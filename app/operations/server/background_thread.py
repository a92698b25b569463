"""A thread that works beside the requests."""

import threading
from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager

from app.core.logs import LOGGER, reason


class BackgroundThread(AbstractContextManager[None]):
    """Works during the block. At its end, ``_end`` is set, and the thread is waited for."""

    def __init__(self, name: str, *, wait_seconds: float) -> None:
        self._end = threading.Event()
        self._wait_seconds = wait_seconds
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join(self._wait_seconds)

    def _repeat(
        self, work: Callable[[], object], doing: str, *, pause: float, fault_pause: float
    ) -> None:
        """Work with pauses, in seconds, until the end. A failure is logged."""
        next_pause = pause
        while not self._end.wait(next_pause):
            next_pause = pause
            try:
                work()
            except Exception as error:  # noqa: BLE001 - the next attempt may succeed
                LOGGER.warning("%s failed: %s", doing, reason(error))
                next_pause = fault_pause

    @abstractmethod
    def _run(self) -> None:
        """Work until ``_end`` is set."""
