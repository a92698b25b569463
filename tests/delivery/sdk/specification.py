"""The cases that all SDKs must answer alike, given to Flagstaff through its admin API."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

FOLDER = (
    Path(__file__).parents[2] / "sdks/node_modules/@unleash/client-specification/specifications"
)
PROJECT = "/api/admin/projects/default"
ENVIRONMENT = "production"
WEIGHTS = 1_000

Call = Callable[[str, str, Any], int]
"""Sends a request to the admin API; its status."""


@dataclass(frozen=True, slots=True)
class Case:
    """A question, and what the specification says about it."""

    description: str
    feature: str
    context: dict[str, Any]
    expected: Any
    is_about_variant: bool

    @property
    def question(self) -> dict[str, Any]:
        return {
            "feature": self.feature,
            "context": self.context,
            "variant": self.is_about_variant,
        }


def names() -> list[str]:
    """The files of the specification, in their order."""
    found: list[str] = json.loads((FOLDER / "index.json").read_text())
    return found


class Specification:
    """One file: a state, and cases about it."""

    def __init__(self, name: str) -> None:
        self._content = json.loads((FOLDER / name).read_text())

    @property
    def cases(self) -> Iterator[Case]:
        for kind, is_about_variant in (("tests", False), ("variantTests", True)):
            for test in self._content.get(kind, ()):
                yield Case(
                    test["description"],
                    test["toggleName"],
                    test["context"],
                    test["expectedResult"],
                    is_about_variant,
                )

    @cached_property
    def state(self) -> dict[str, Any]:
        """Features and segments; of a stream of changes, all that it ever has."""
        state: dict[str, Any] = self._content["state"]
        if "events" not in state:
            return state
        features: dict[str, Any] = {}
        segments: dict[int, Any] = {}
        for event in state["events"]:
            for feature in event.get("features", [event["feature"]] if "feature" in event else []):
                features[feature["name"]] = feature
            for segment in event.get("segments", [event["segment"]] if "segment" in event else []):
                segments[segment["id"]] = segment
        return {"features": list(features.values()), "segments": list(segments.values())}

    @property
    def removed(self) -> list[str]:
        """Features that are removed at the end."""
        events = self._content["state"].get("events", ())
        return [event["featureName"] for event in events if event["type"] == "feature-removed"]

    @property
    def last_state(self) -> dict[str, Any]:
        """What a stream of changes leads to."""
        kept = [one for one in self.state["features"] if one["name"] not in self.removed]
        return self.state | {"features": kept}

    def give(self, call: Call) -> set[str]:
        """Make the state by the admin API; the features that it refuses."""
        for field in sorted(_fields(self.state)):
            call("POST", "/api/admin/context", {"name": field, "stickiness": True})
        segments = {}
        for number, segment in enumerate(self.state.get("segments", ()), 1):
            body = {"name": f"segment {segment['id']}", "constraints": segment["constraints"]}
            if call("POST", "/api/admin/segments", body) == 201:
                segments[segment["id"]] = number
        refused = set()
        for feature in self.state["features"]:
            created = call("POST", f"{PROJECT}/features", {"name": feature["name"]}) == 201
            if not created or not _strategies(feature, segments, call):
                refused.add(feature["name"])
        children = {one["name"] for one in self.state["features"] if one.get("dependencies")}
        for feature in sorted(self.state["features"], key=lambda one: _depth(one, children)):
            if not _dependencies(feature, call):
                refused.add(feature["name"])
        for name in self.removed:
            assert call("DELETE", f"{PROJECT}/features/{name}", None) == 202
        return refused


def _fields(part: Any) -> set[str]:
    """The context fields that are named anywhere in a state."""
    if isinstance(part, list):
        return set().union(*map(_fields, part))
    if not isinstance(part, dict):
        return set()
    own = {part[key] for key in ("contextName", "stickiness") if key in part}
    return own.union(*map(_fields, part.values()))


def _strategies(feature: dict[str, Any], segments: dict[int, int], call: Call) -> bool:
    """Whether all that is in the feature was taken."""
    place = f"{PROJECT}/features/{feature['name']}/environments/{ENVIRONMENT}"
    statuses = []
    for strategy in feature.get("strategies") or ():
        body = {
            "name": strategy["name"],
            "parameters": strategy.get("parameters") or {},
            "constraints": strategy.get("constraints") or [],
            "segments": [segments.get(id, 999) for id in strategy.get("segments") or ()],
            "variants": _variants(strategy.get("variants") or []),
        }
        statuses.append(call("POST", f"{place}/strategies", body))
    if variants := feature.get("variants"):
        statuses.append(call("PUT", f"{place}/variants", _variants(variants)))
    if feature["enabled"]:
        statuses.append(call("POST", f"{place}/on", None))
    return all(status == 200 for status in statuses)


def _depth(feature: dict[str, Any], children: set[str]) -> int:
    """1 for features whose parents have parents, which come too late to be tied to them."""
    return int(any(one["feature"] in children for one in feature.get("dependencies") or ()))


def _dependencies(feature: dict[str, Any], call: Call) -> bool:
    parents = feature.get("dependencies") or []
    path = f"{PROJECT}/features/{feature['name']}/dependencies"
    return len(parents) < 2 and all(call("POST", path, parent) == 200 for parent in parents)


def _variants(variants: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same shares with weights that add up to 1,000, the last one with what is left."""
    total = sum(variant["weight"] for variant in variants) or 1
    return [
        variant
        | {
            "weight": variant["weight"] * WEIGHTS // total,
            "weightType": "variable" if variant is variants[-1] else "fix",
        }
        for variant in variants
    ]
