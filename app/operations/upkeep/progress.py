"""Progress and errors of long operations."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager


class OperationFailed(Exception):
    """An operation failed; the message tells the operator why in one line."""


Progress = Callable[[str, int], AbstractContextManager[Callable[[int], object]]]
"""Starts a part with its label and number of steps; yields a function that counts steps done."""


@contextmanager
def silent(_label: str, _length: int) -> Iterator[Callable[[int], object]]:
    """Report nothing."""
    yield lambda _steps: None
