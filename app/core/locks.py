"""Locks that all processes on this machine share: files, locked with flock(2).

The kernel releases the locks of a process that dies. Each holder opens the file itself, because
forked processes would share the lock of a file that was open before the fork.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows, where one process serves
    fcntl = None  # type: ignore[assignment] # mypy looks at it as Linux does


class WriterQueue:
    """One writer at a time, first come, first served among the processes.

    SQLite's own writers sleep and retry, and some starve. There are two files: the holder of the
    first is next in line for the second. So a process that has just written can't overtake another
    one that is waiting.
    """

    def __init__(self, database: Path) -> None:
        self._here = threading.Lock()
        self._next = database.with_name(f"{database.name}-next")
        self._writer = database.with_name(f"{database.name}-writer")

    def acquire(self, seconds: float) -> int | None:
        """Wait for the lock. Return what to release; None after so long behind other threads.

        The wait for other processes has no limit.
        """
        if not self._here.acquire(timeout=seconds):
            return None
        try:
            with locked(self._next):
                return _lock(self._writer)
        except BaseException:
            self._here.release()
            raise

    def release(self, lock: int) -> None:
        os.close(lock)
        self._here.release()

    def is_busy(self) -> bool:
        """Whether a writer would have to wait now."""
        if self._here.locked():
            return True
        lock = lock_if_free(self._writer)
        if lock is None:
            return True
        os.close(lock)
        return False


class Slots:
    """At most ``number`` holders at a time, over all processes that share the folder."""

    def __init__(self, name: str, number: int) -> None:
        self._name, self._number = name, number
        self._here = threading.BoundedSemaphore(number)
        self.folder: Path | None = None
        """If None, the limit is for this process alone."""

    @contextmanager
    def hold(self) -> Iterator[bool]:
        """Hold a slot for the block. Yields whether one was free; never waits."""
        if not self._here.acquire(blocking=False):
            yield False
            return
        try:
            slot = self._free_slot()
            try:
                yield slot is not None
            finally:
                if slot is not None:
                    os.close(slot)
        finally:
            self._here.release()

    def _free_slot(self) -> int | None:
        if self.folder is None:
            return os.open(os.devnull, os.O_RDONLY)  # only to be closed; the semaphore counts
        for number in range(self._number):
            slot = lock_if_free(self.folder / f".{self._name}.{number}.lock")
            if slot is not None:
                return slot
        return None


def _open(file: Path) -> int:
    return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _lock(file: Path) -> int:
    handle = _open(file)
    if fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
        except BaseException:
            os.close(handle)
            raise
    return handle


def lock_if_free(file: Path) -> int | None:
    """The lock on ``file``, to be closed; None if another holder has it."""
    handle = _open(file)
    if fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return None
    return handle


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Wait for the lock on ``file``, then hold it for the block."""
    handle = _lock(file)
    try:
        yield
    finally:
        with suppress(OSError):
            os.close(handle)
