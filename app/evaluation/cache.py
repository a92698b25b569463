"""A cache that is limited by the size of its values."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class Cache(Generic[V]):
    """LRU cache. ``room``: limit of the sizes of all values, in bytes."""

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
        """Store a value. If there is no room, remove those that were not used for longest."""
        with self._lock:
            before = self._kept.pop(key, None)
            self._room += before[1] if before is not None else 0
            self._kept[key] = (value, size)
            self._room -= size
            while self._room < 0:
                self._room += self._kept.popitem(last=False)[1][1]
