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
class EvaluationRequest:
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
    _known: dict[EvaluationRequest | tuple[str, bool], Payload] = field(default_factory=dict)

    def all(self, question: EvaluationRequest) -> Payload:
        """Return the payload with all features that the question asks for."""
        if (known := self._known.get(question)) is not None:
            return known
        return self._keep(question, self._make(question))

    def etag(self, question: EvaluationRequest) -> str | None:
        """Return the ETag of a cached payload; None if it isn't cached."""
        known = self._known.get(question)
        return None if known is None else known.etag

    def one(self, name: str, question: EvaluationRequest) -> Payload | None:
        """Return the payload of one feature; None if the question doesn't include it."""
        if (known := self._known.get((name, question.is_inlined))) is not None:
            return known if self._is_wanted(self.state.features[name], question) else None
        feature = self.state.features.get(name)
        if feature is None or not self._is_wanted(feature, question):
            return None
        body = feature.inlined if question.is_inlined else feature.by_reference
        return self._keep((name, question.is_inlined), Payload(body, _digest(body)))

    def _keep(self, key: EvaluationRequest | tuple[str, bool], payload: Payload) -> Payload:
        if len(self._known) >= MAX_ANSWERS:
            self._known.clear()
        self._known[key] = payload
        return payload

    def _is_wanted(self, feature: DeliveredFeature, question: EvaluationRequest) -> bool:
        in_project = question.projects is None or feature.project in question.projects
        return in_project and feature.name.startswith(question.prefix)

    def _make(self, question: EvaluationRequest) -> Payload:
        wanted = [f for f in self.state.features.values() if self._is_wanted(f, question)]
        if question.tags:
            tagged = self.tagged(question.tags)
            wanted = [feature for feature in wanted if feature.name in tagged]
        if question.is_inlined:
            features = b",".join(feature.inlined for feature in wanted)
        else:
            features = b",".join(feature.by_reference for feature in wanted)
        query = _query(self.state.environment, question)
        parts = [b'{"version":2,"features":[', features, b'],"query":', query]
        if not question.is_inlined:
            # A token must not learn the segments of other projects.
            used = sorted({id for feature in wanted for id in feature.segments})
            segments = b",".join(self.state.segments[id] for id in used)
            parts += [b',"segments":[', segments, b"]"]
        etag = _digest(b"".join(parts))
        meta = {"etag": f'"{etag}"', "queryHash": _digest(query)[:8]}
        parts += [b',"meta":', json.dumps(meta).encode(), b"}"]
        return Payload(b"".join(parts), etag)


def _query(environment: str, question: EvaluationRequest) -> bytes:
    """Return the question as JSON, in the format that SDKs read."""
    asked: dict[str, object] = {}
    if question.projects is not None:
        asked["project"] = list(question.projects)
    if question.prefix:
        asked["namePrefix"] = question.prefix
    if question.tags:
        asked["tag"] = [tag.split(":", 1) for tag in question.tags]
    asked |= {"environment": environment, "inlineSegmentConstraints": question.is_inlined}
    return json.dumps(asked, separators=(",", ":")).encode()


def _digest(content: bytes) -> str:
    """Digest of the content alone: equal in all processes, and after a restore or a move."""
    return sha256(content).hexdigest()[:ETAG_LENGTH]
