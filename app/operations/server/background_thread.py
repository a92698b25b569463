"""A thread that works beside the requests."""

import threading
from abc import abstractmethod
from contextlib import AbstractContextManager


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

    @abstractmethod
    def _run(self) -> None:
        """Work until ``_end`` is set."""
