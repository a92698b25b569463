"""Prepared responses of the client API: plain and compressed, with an ETag of the content."""

import gzip
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

from app.delivery.sdk.state import DeliveredFeature, DeliveredState

MAX_ANSWERS = 200
"""Cached payloads of one state. There are seldom more different requests than tokens."""
COMPRESSION = 6
ETAG_LENGTH = 32


@dataclass(frozen=True, slots=True)
class FeatureQuery:
    """Which features are wanted. ``projects``: None for all. ``tags``: with any of these."""

    projects: tuple[str, ...] | None
    is_inlined: bool
    prefix: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Payload:
    body: bytes
    etag: str

    @cached_property
    def compressed(self) -> bytes:
        return gzip.compress(self.body, COMPRESSION, mtime=0)  # equal content, equal bytes


@dataclass(frozen=True, slots=True)
class Answers:
    """Payloads of one state. ``tagged``: returns the names of features with any of the tags."""

    state: DeliveredState
    tagged: Callable[[Iterable[str]], set[str]]
    _known: dict[FeatureQuery | tuple[str, bool], Payload] = field(default_factory=dict)

    def all(self, query: FeatureQuery) -> Payload:
        """Return the payload with all features that are wanted."""
        if (known := self._known.get(query)) is not None:
            return known
        return self._keep(query, self._make(query))

    def etag(self, query: FeatureQuery) -> str | None:
        """Return the ETag of a cached payload; None if it isn't cached."""
        known = self._known.get(query)
        return None if known is None else known.etag

    def one(self, name: str, query: FeatureQuery) -> Payload | None:
        """Return the payload of one feature; None if it isn't wanted."""
        if (known := self._known.get((name, query.is_inlined))) is not None:
            return known if self._is_wanted(self.state.features[name], query) else None
        feature = self.state.features.get(name)
        if feature is None or not self._is_wanted(feature, query):
            return None
        body = feature.inlined if query.is_inlined else feature.by_reference
        return self._keep((name, query.is_inlined), Payload(body, _digest(body)))

    def _keep(self, key: FeatureQuery | tuple[str, bool], payload: Payload) -> Payload:
        if len(self._known) >= MAX_ANSWERS:
            self._known.clear()
        self._known[key] = payload
        return payload

    def _is_wanted(self, feature: DeliveredFeature, query: FeatureQuery) -> bool:
        in_project = query.projects is None or feature.project in query.projects
        return in_project and feature.name.startswith(query.prefix)

    def _make(self, query: FeatureQuery) -> Payload:
        wanted = [f for f in self.state.features.values() if self._is_wanted(f, query)]
        if query.tags:
            tagged = self.tagged(query.tags)
            wanted = [feature for feature in wanted if feature.name in tagged]
        if query.is_inlined:
            features = b",".join(feature.inlined for feature in wanted)
        else:
            features = b",".join(feature.by_reference for feature in wanted)
        stated = _as_json(self.state.environment, query)
        parts = [b'{"version":2,"features":[', features, b'],"query":', stated]
        if not query.is_inlined:
            # A token must not learn the segments of other projects.
            used = sorted({id for feature in wanted for id in feature.segments})
            segments = b",".join(self.state.segments[id] for id in used)
            parts += [b',"segments":[', segments, b"]"]
        etag = _digest(b"".join(parts))
        meta = {"etag": f'"{etag}"', "queryHash": _digest(stated)[:8]}
        parts += [b',"meta":', json.dumps(meta).encode(), b"}"]
        return Payload(b"".join(parts), etag)


def _as_json(environment: str, query: FeatureQuery) -> bytes:
    """Return the query as JSON, in the format that SDKs read."""
    asked: dict[str, object] = {}
    if query.projects is not None:
        asked["project"] = list(query.projects)
    if query.prefix:
        asked["namePrefix"] = query.prefix
    if query.tags:
        asked["tag"] = [tag.split(":", 1) for tag in query.tags]
    asked |= {"environment": environment, "inlineSegmentConstraints": query.is_inlined}
    return json.dumps(asked, separators=(",", ":")).encode()


def _digest(content: bytes) -> str:
    """Digest of the content alone: equal in all processes, and after a restore or a move."""
    return sha256(content).hexdigest()[:ETAG_LENGTH]
