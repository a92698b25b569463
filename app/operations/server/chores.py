"""Short tasks that a process repeats every second, in a thread of their own."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from flask import Flask

from app.core.locks import lock_if_free
from app.core.logs import LOGGER, reason
from app.operations.server.background_thread import BackgroundThread

SECONDS = 1.0
PAUSE_SECONDS = 60.0
"""How long until a chore that failed is tried again."""

Chore = Callable[[], object]


def every(seconds: float, chore: Chore) -> Chore:
    """Limit a chore to one run in so many seconds; calls in between do nothing."""
    not_before = 0.0

    def do_if_due() -> None:
        nonlocal not_before
        if time.monotonic() >= not_before:
            not_before = time.monotonic() + seconds
            chore()

    return do_if_due


class Chores(BackgroundThread):
    """Runs chores in an application context during the block, and once more at its end.

    They never take long. A failure is logged, and the others go on.
    """

    def __init__(
        self,
        app: Flask,
        *,
        own: dict[str, Chore],
        shared: dict[str, Chore],
        at_end: dict[str, Chore],
        lock: Path,
    ) -> None:
        """All by their name in the log.

        ``own``: what each process does. ``shared``: what one of them is enough for, that which
        holds the lock on the file ``lock``; when it ends, another takes over. ``at_end``: runs once
        at the end, without the pauses of ``every`` or after a failure.
        """
        super().__init__("chores", wait_seconds=PAUSE_SECONDS)
        self._app, self._own, self._shared, self._at_end = app, own, shared, at_end
        self._not_before = dict.fromkeys([*own, *shared], 0.0)
        self._file = lock
        self._lock: int | None = None

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        self._do_all()
        for name, chore in self._at_end.items():
            self._do(name, chore)
        if self._lock is not None:
            os.close(self._lock)

    def _run(self) -> None:
        while not self._end.wait(SECONDS):
            self._do_all()

    def _do_all(self) -> None:
        for name, chore in (self._own | (self._shared if self._does_shared() else {})).items():
            if time.monotonic() >= self._not_before[name]:
                self._do(name, chore)

    def _does_shared(self) -> bool:
        """Whether this process holds the lock, or none can: the database lets all do it as well."""
        try:
            if self._lock is None:
                self._lock = lock_if_free(self._file)
        except OSError:  # the folder is missing, full or read-only
            return True
        return self._lock is not None

    def _do(self, name: str, chore: Chore) -> None:
        try:
            with self._app.app_context():
                chore()
        except Exception as error:  # noqa: BLE001 - no error may stop the other chores
            self._not_before[name] = time.monotonic() + PAUSE_SECONDS
            LOGGER.warning("%s failed: %s", name, reason(error))
