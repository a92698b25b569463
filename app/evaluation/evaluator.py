"""Evaluates all features of an environment for a context, and remembers known contexts."""

import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from app.evaluation.cache import Cache
from app.evaluation.context import Context
from app.evaluation.engine import Engine, StateRefused
from app.evaluation.reading import DEFAULT, DEFAULT_FIELDS, RANDOM, Reading
from app.evaluation.written import EvaluatedFeature, View, Written

ROOM = 16_000_000
"""Bytes for the contexts that are known, for each environment."""
OVERHEAD = 600
"""What keeping one context takes besides its text and pieces, about."""
POINTER = 8
NO_CONTEXT = b"{}"
MOST_SELECTIONS = 200
FOREVER = datetime.max.replace(tzinfo=UTC)

Projects = tuple[str, ...] | None


class _Selection(NamedTuple):
    """Features of some projects. ``asked``: the places of those whose answers contexts decide.

    ``pieces``: what is written about the others, for everyone.
    """

    features: Sequence[EvaluatedFeature]
    asked: Sequence[int]
    pieces: Sequence[bytes | None]


class _Kept(NamedTuple):
    """What is known for a context. ``changing``: the places of pieces that are random."""

    until: datetime
    pieces: Sequence[bytes | None]
    changing: Sequence[int]
    written: Written | None


class Evaluator:
    """The features of one environment. They never change; after a change, make another one.

    ``problems``: why features are off that the engine could not compile, by their names.

    Raises:
        StateRefused: when the engine can't read ``state``, the JSON that SDKs get.

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
        self._known: Cache[_Kept] = Cache(ROOM)

    def all(self, view: View, projects: Projects, given: Mapping[str, Any]) -> Written:
        """The answer about the features of some projects, None for all, for a context.

        Raises:
            Invalid: if the context can't be evaluated.

        """
        context = Context.of(given, self._fields)
        key, now = (view.name, projects, context.text), datetime.now(UTC)
        kept = self._known.get(key)
        if kept is None or now >= kept.until:
            kept = self._evaluate(view, projects, context, now)
            size = OVERHEAD + len(context.text) + POINTER * len(kept.pieces)
            self._known.put(key, kept, size)
        if kept.written is not None:
            return kept.written
        chosen, text = self._select(view, projects).features, context.at(now, with_session=True)
        return Written(view, self._ask(view, chosen, kept.pieces, kept.changing, text))

    def one(
        self, name: str, projects: Projects, given: Mapping[str, Any]
    ) -> tuple[EvaluatedFeature, Mapping[str, Any] | None] | None:
        """A feature with its variant for a context, which is None if the feature is off for it.

        None if there is no such feature in these projects.

        Raises:
            Invalid: if the context can't be evaluated.

        """
        feature = self.features.get(name)
        if feature is None or not (projects is None or feature.project in projects):
            return None
        text = Context.of(given, self._fields).at(datetime.now(UTC), with_session=True)
        variant = self._engine.variant_if_on(feature.key, text) if feature.is_on else None
        return feature, None if variant is None else json.loads(variant)

    def _evaluate(self, view: View, projects: Projects, context: Context, now: datetime) -> _Kept:
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
        if changing:
            return _Kept(until, pieces, changing, None)
        written = Written(view, pieces)
        return _Kept(until, written.pieces, (), written)

    def _ask(
        self,
        view: View,
        chosen: Sequence[EvaluatedFeature],
        pieces: Sequence[bytes | None],
        places: Sequence[int],
        text: bytes,
    ) -> list[bytes | None]:
        """The pieces; those at some places are what the engine says now about these features."""
        variants = self._engine.variants_if_on([chosen[place].key for place in places], text)
        known, found = self._pieces.setdefault(view.name, {}), list(pieces)
        for place, variant in zip(places, variants, strict=True):
            key = chosen[place].key, variant
            try:
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
        found = self._selections[key] = _Selection(chosen, asked, pieces)
        return found

    def _missing(self, context: Context) -> frozenset[str]:
        """What features stick to that this context does not have."""
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
        """When the answer may be another one, if the context does not say what time it is."""
        place = bisect_left(self._dates, now)
        return self._dates[place] if place < len(self._dates) else FOREVER


def unreadable(state: bytes) -> dict[str, str]:
    """Which features make the engine refuse a state, and why."""
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
    own = {one["name"]: Reading.of(one, segments) for one in state["features"]}
    found = {}
    for one in state["features"]:
        name, reading = one["name"], own[one["name"]]
        if parents := one.get("dependencies"):
            reading = Reading.of(one, segments)
            for parent in parents:
                reading.include(own.get(parent["feature"], Reading()))
        has_payloads = any("payload" in variant for variant in _variants(one))
        found[name] = EvaluatedFeature(
            name,
            name.encode(),
            one["project"],
            one["enabled"],
            bool(one.get("impressionData")),
            has_payloads,
            reading,
        )
    return found


def _variants(feature: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = list(feature.get("variants") or ())
    for strategy in feature.get("strategies") or ():
        found += strategy.get("variants") or ()
    return found
