"""Prepared responses of the client API: plain and compressed, with an ETag of the content."""

import gzip
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256

from app.delivery.sdk import deltas
from app.delivery.sdk.state import DeliveredFeature, DeliveredState

MAX_ANSWERS = 200
"""Cached payloads of one state. There are seldom more different requests than tokens."""
MOST_PAST = 20
"""Earlier states that are kept for clients that ask what has changed since."""
COMPRESSION = 6
ETAG_LENGTH = 32


@dataclass(frozen=True, slots=True)
class FeatureQuery:
    """Which features are wanted. ``projects``: None for all. ``tags``: with any of these."""

    projects: tuple[str, ...] | None
    is_inlined: bool
    prefix: str = ""
    tags: tuple[str, ...] = ()

    def wants(self, feature: DeliveredFeature) -> bool:
        """Whether a feature is wanted, whatever its tags are."""
        in_project = self.projects is None or feature.project in self.projects
        return in_project and feature.name.startswith(self.prefix)


@dataclass(frozen=True)
class Payload:
    body: bytes
    etag: str

    @cached_property
    def compressed(self) -> bytes:
        return gzip.compress(self.body, COMPRESSION, mtime=0)  # equal content, equal bytes


_Key = FeatureQuery | tuple[str, bool] | tuple[FeatureQuery, str]


@dataclass(frozen=True, slots=True)
class Past:
    """An earlier state. ``etags``: of the payloads that were made of it."""

    state: DeliveredState
    etags: Mapping[_Key, str]


@dataclass(frozen=True, slots=True)
class Answers:
    """Payloads of one state. ``tagged``: returns the names of features with any of the tags.

    ``past``: the states before, oldest first.
    """

    state: DeliveredState
    tagged: Callable[[Iterable[str]], set[str]]
    past: tuple[Past, ...] = ()
    _known: dict[_Key, Payload] = field(default_factory=dict)

    def followed_by(self, state: DeliveredState) -> "Answers":
        """Return the payloads of the next state. They know this one as their past."""
        state, known = state.sharing(self.state), self._known.copy()
        payloads: dict[_Key, Payload] = {
            query: payload
            for query, payload in known.items()
            if isinstance(query, FeatureQuery) and not query.tags  # the past doesn't know the tags
        }
        if state.has_content_of(self.state):
            return Answers(state, self.tagged, self.past, payloads)
        etags = {query: payload.etag for query, payload in payloads.items()}
        past = (*self.past, Past(self.state, etags))[-MOST_PAST:]
        return Answers(state, self.tagged, past)

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
            return known if query.wants(self.state.features[name]) else None
        feature = self.state.features.get(name)
        if feature is None or not query.wants(feature):
            return None
        body = feature.inlined if query.is_inlined else feature.by_reference
        return self._keep((name, query.is_inlined), Payload(body, _digest(body)))

    def delta(self, query: FeatureQuery, etag: str) -> Payload:
        """Return the events that lead from the payload with this ETag to the present one.

        Without an event if that is the present one, with one for all features if it isn't known.
        """
        now = self.all(query).etag
        if etag == now:
            return Payload(deltas.NONE, now)
        before = self._at(query, etag)
        key = query, etag if before is not None else ""
        if (known := self._known.get(key)) is not None:
            return known
        wanted = self.wanted(query)
        if before is None:
            return self._keep(key, Payload(deltas.hydration(self.state, wanted), now))
        had = [feature for feature in before.features.values() if query.wants(feature)]
        return self._keep(key, Payload(deltas.changes(before, had, self.state, wanted), now))

    def _at(self, query: FeatureQuery, etag: str) -> DeliveredState | None:
        """Return the state in which a payload had this ETag; None if it isn't known."""
        found = (past.state for past in reversed(self.past) if past.etags.get(query) == etag)
        return next(found, None)

    def _keep(self, key: _Key, payload: Payload) -> Payload:
        if len(self._known) >= MAX_ANSWERS:
            self._known.clear()
        self._known[key] = payload
        return payload

    def wanted(self, query: FeatureQuery) -> list[DeliveredFeature]:
        """Return the features that are wanted, by name."""
        wanted = [feature for feature in self.state.features.values() if query.wants(feature)]
        if query.tags:
            tagged = self.tagged(query.tags)
            wanted = [feature for feature in wanted if feature.name in tagged]
        return wanted

    def _make(self, query: FeatureQuery) -> Payload:
        wanted = self.wanted(query)
        if query.is_inlined:
            features = b",".join(feature.inlined for feature in wanted)
        else:
            features = b",".join(feature.by_reference for feature in wanted)
        stated = _as_json(self.state.environment, query)
        parts = [b'{"version":2,"features":[', features, b'],"query":', stated]
        if not query.is_inlined:
            # A token must not learn the segments of other projects.
            segments = b",".join(self.state.segments_of(wanted).values())
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
