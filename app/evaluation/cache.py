"""Answers that are kept for those who ask again, as many as fit."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class Cache(Generic[V]):
    """Keeps what was asked for last. ``room``: for the sizes of all that is kept, in bytes."""

    def __init__(self, room: int) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._room = room

    def get(self, key: Hashable) -> V | None:
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, value: V, size: int) -> None:
        """Keep a value; what was not asked for longest makes room for it."""
        with self._lock:
            before = self._kept.pop(key, None)
            self._room += before[1] if before is not None else 0
            self._kept[key] = (value, size)
            self._room -= size
            while self._room < 0:
                self._room += self._kept.popitem(last=False)[1][1]
