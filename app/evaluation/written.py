"""Answers about many features, in the words of those who ask."""

import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from app.evaluation.reading import Reading

QUICK = 1
"""How hard answers are compressed: each is sent to one browser."""
ETAG_LENGTH = 32


@dataclass(frozen=True, slots=True)
class EvaluatedFeature:
    """A feature of the state. ``is_on``: in this environment, for some at least."""

    name: str
    key: bytes
    project: str
    is_on: bool
    has_impressions: bool
    has_payloads: bool
    reading: Reading


class View(Protocol):
    """How answers are written: a list of pieces between ``head`` and ``tail``.

    ``has_off``: also about features that are off in the environment.
    """

    name: str
    head: bytes
    tail: bytes
    has_off: bool

    def piece(self, feature: EvaluatedFeature, variant: bytes | None) -> bytes | None:
        """What is written about a feature; ``variant``: as JSON, None if it is off."""
        ...


class Written:
    """An answer about all features, put together when it is needed."""

    __slots__ = ("_view", "etag", "pieces")

    def __init__(self, view: View, pieces: Iterable[bytes | None]) -> None:
        self._view = view
        self.pieces = tuple(piece for piece in pieces if piece is not None)
        self.etag = sha256(self.body).hexdigest()[:ETAG_LENGTH]

    @property
    def body(self) -> bytes:
        return self._view.head + b",".join(self.pieces) + self._view.tail

    @property
    def compressed(self) -> bytes:
        return gzip.compress(self.body, QUICK, mtime=0)
