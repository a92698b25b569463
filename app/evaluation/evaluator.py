"""Evaluates all features of an environment for a context, and caches the result."""

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from operator import attrgetter
from threading import Lock
from typing import Any, NamedTuple

from cachetools import LRUCache

from app.evaluation.context import Context
from app.evaluation.engine import Engine, StateRefused
from app.evaluation.reading import DEFAULT, DEFAULT_FIELDS, RANDOM, Reading
from app.evaluation.written import EvaluatedFeature, View, Written

ROOM = 16_000_000
"""Size of the cache of one environment, in bytes."""
OVERHEAD = 600
"""Approximate bytes of a cached context, besides its text and pieces."""
POINTER = 8
NO_CONTEXT = b"{}"
MOST_SELECTIONS = 200
FOREVER = datetime.max.replace(tzinfo=UTC)

Projects = tuple[str, ...] | None
_Key = tuple[str, Projects, bytes]


class _Selection(NamedTuple):
    """Features of some projects. ``asked``: indexes of those whose result depends on the context.

    ``pieces``: the output of all others, by the same indexes, which is equal for everyone.
    """

    features: Sequence[EvaluatedFeature]
    asked: Sequence[int]
    pieces: Sequence[bytes | None]


class _CacheEntry(NamedTuple):
    """Result for a context, valid ``until``. ``changing``: indexes of pieces that are random.

    ``written``: None if any piece is random. ``size``: in bytes.
    """

    size: int
    until: datetime
    pieces: Sequence[bytes | None]
    changing: Sequence[int]
    written: Written | None


class Evaluator:
    """The features of one environment. They never change; after a change, make another one.

    ``problems``: why the engine could not compile a feature, by name. Such a feature is off.

    Raises:
        StateRefused: if the engine can't read ``state``, the JSON that SDKs get.

    """

    def __init__(self, state: bytes) -> None:
        self._engine = Engine(state)
        self.problems = self._engine.problems
        self.features = _features(json.loads(state))
        on = [feature.reading for feature in self.features.values() if feature.is_on]
        self._fields = frozenset[str]().union(*(reading.fields for reading in on))
        self._sticky = frozenset[str]().union(*(reading.random_without for reading in on))
        self._dates = sorted(frozenset[datetime]().union(*(reading.dates for reading in on)))
        self._selections: dict[tuple[str, Projects], _Selection] = {}
        self._pieces: dict[str, dict[tuple[bytes, bytes | None], bytes | None]] = {}
        self._cache: LRUCache[_Key, _CacheEntry] = LRUCache(ROOM, attrgetter("size"))
        self._cache_lock = Lock()

    def all(self, view: View, projects: Projects, given: Mapping[str, Any]) -> Written:
        """Evaluate the features of ``projects`` (None for all) for a context.

        Raises:
            Invalid: if the context can't be evaluated.

        """
        context = Context.of(given, self._fields)
        key, now = (view.name, projects, context.text), datetime.now(UTC)
        with self._cache_lock:
            entry = self._cache.get(key)
        if entry is None or now >= entry.until:
            entry = self._evaluate(view, projects, context, now)
            with self._cache_lock, suppress(ValueError):  # it is larger than the cache
                self._cache[key] = entry
        if entry.written is not None:
            return entry.written
        chosen, text = self._select(view, projects).features, context.at(now, with_session=True)
        return Written(view, self._ask(view, chosen, entry.pieces, entry.changing, text))

    def one(
        self, name: str, projects: Projects, given: Mapping[str, Any]
    ) -> tuple[EvaluatedFeature, Mapping[str, Any] | None] | None:
        """Evaluate one feature. Return it with its variant, which is None if the feature is off.

        Return None if there is no such feature in ``projects``.

        Raises:
            Invalid: if the context can't be evaluated.

        """
        feature = self.features.get(name)
        if feature is None or not (projects is None or feature.project in projects):
            return None
        text = Context.of(given, self._fields).at(datetime.now(UTC), with_session=True)
        variant = self._engine.variant_if_on(feature.key, text) if feature.is_on else None
        return feature, None if variant is None else json.loads(variant)

    def _evaluate(
        self, view: View, projects: Projects, context: Context, now: datetime
    ) -> _CacheEntry:
        selection, missing = self._select(view, projects), self._missing(context)
        chosen = selection.features
        changing = [
            place
            for place in selection.asked
            if not missing.isdisjoint(chosen[place].reading.random_without)
        ]
        text = context.at(now)
        pieces = self._ask(view, chosen, selection.pieces, selection.asked, text)
        until = FOREVER if "currentTime" in context.fields else self._next_date(now)
        written = None if changing else Written(view, pieces)
        kept = pieces if written is None else written.pieces
        size = OVERHEAD + len(context.text) + POINTER * len(kept)
        return _CacheEntry(size, until, kept, changing, written)

    def _ask(
        self,
        view: View,
        chosen: Sequence[EvaluatedFeature],
        pieces: Sequence[bytes | None],
        places: Sequence[int],
        text: bytes,
    ) -> list[bytes | None]:
        """Return a copy of ``pieces``, in which those at ``places`` are evaluated now."""
        variants = self._engine.variants_if_on([chosen[place].key for place in places], text)
        known, found = self._pieces.setdefault(view.name, {}), list(pieces)
        for place, variant in zip(places, variants, strict=True):
            key = chosen[place].key, variant
            try:  # not ``get``, since a known piece can be None
                found[place] = known[key]
            except KeyError:
                found[place] = known[key] = view.piece(chosen[place], variant)
        return found

    def _select(self, view: View, projects: Projects) -> _Selection:
        key = view.name, projects
        if (known := self._selections.get(key)) is not None:
            return known
        if len(self._selections) >= MOST_SELECTIONS:
            self._selections.clear()
        chosen = [
            feature
            for feature in self.features.values()
            if (feature.is_on or view.has_off) and (projects is None or feature.project in projects)
        ]
        on = [place for place, feature in enumerate(chosen) if feature.is_on]
        fixed = [place for place in on if chosen[place].reading.is_fixed]
        asked = [place for place in on if not chosen[place].reading.is_fixed]
        off = [None if feature.is_on else view.piece(feature, None) for feature in chosen]
        pieces = self._ask(view, chosen, off, fixed, NO_CONTEXT)
        selection = self._selections[key] = _Selection(chosen, asked, pieces)
        return selection

    def _missing(self, context: Context) -> frozenset[str]:
        """Return the stickiness for which this context has no value, so that chance decides."""
        return frozenset(
            name
            for name in self._sticky
            if name == RANDOM
            or (
                context.fields.isdisjoint(DEFAULT_FIELDS)
                if name == DEFAULT
                else name not in context.fields
            )
        )

    def _next_date(self, now: datetime) -> datetime:
        """Return when the result can change, for a context without a time."""
        place = bisect_left(self._dates, now)
        return self._dates[place] if place < len(self._dates) else FOREVER


def unreadable(state: bytes) -> dict[str, str]:
    """Return which features make the engine refuse a state, and why."""
    content = json.loads(state)
    problems = {}
    for feature in content["features"]:
        alone = {"version": 2, "features": [feature], "segments": content["segments"]}
        try:
            Engine(json.dumps(alone).encode())
        except StateRefused as refused:
            problems[feature["name"]] = str(refused)
    return problems


def _features(state: Mapping[str, Any]) -> dict[str, EvaluatedFeature]:
    segments = {segment["id"]: segment for segment in state.get("segments", ())}
    own = {feature["name"]: Reading.of(feature, segments) for feature in state["features"]}
    features = {}
    for feature in state["features"]:
        name, reading = feature["name"], own[feature["name"]]
        if parents := feature.get("dependencies"):
            # A copy, since ``include`` changes it and others may depend on this feature.
            reading = Reading.of(feature, segments)
            for parent in parents:
                reading.include(own.get(parent["feature"], Reading()))
        has_payloads = any("payload" in variant for variant in _variants(feature))
        features[name] = EvaluatedFeature(
            name,
            name.encode(),
            feature["project"],
            feature["enabled"],
            bool(feature.get("impressionData")),
            has_payloads,
            reading,
        )
    return features


def _variants(feature: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = list(feature.get("variants") or ())
    for strategy in feature.get("strategies") or ():
        found += strategy.get("variants") or ()
    return found
