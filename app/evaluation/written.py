"""Responses about many features, in the format of each API."""

import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from app.evaluation.reading import Reading

QUICK = 1
"""Level of gzip. It is low, since each response is sent to one browser only."""
ETAG_LENGTH = 32


@dataclass(frozen=True, slots=True)
class EvaluatedFeature:
    """A feature of the state. ``is_on``: in this environment, for some contexts at least."""

    name: str
    key: bytes
    project: str
    is_on: bool
    has_impressions: bool
    has_payloads: bool
    reading: Reading


class View(Protocol):
    """The format of a response: pieces between ``head`` and ``tail``.

    ``has_off``: include features that are off in the environment.
    """

    name: str
    head: bytes
    tail: bytes
    has_off: bool

    def piece(self, feature: EvaluatedFeature, variant: bytes | None) -> bytes | None:
        """Return the output for a feature, None to leave it out.

        ``variant``: as JSON; None if the feature is off.
        """
        ...


class Written:
    """A response about all features. Responses in a cache share pieces; ``body`` joins them."""

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
