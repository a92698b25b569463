"""Made-up features that let the engine evaluate single parts of real ones."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.evaluation.engine import Engine
from app.evaluation.facts import Facts, FeatureFacts, SegmentFacts
from app.evaluation.person import Person, sticky, sticky_variant

SHARES = {
    "flexibleRollout": "rollout",
    "gradualRolloutUserId": "percentage",
    "gradualRolloutSessionId": "percentage",
}
"""The parameter with the percentage, by type of rollout."""


@dataclass(frozen=True, slots=True)
class Probes:
    """Collects made-up features, each of them once."""

    names: dict[str, str] = field(default_factory=dict)
    state: list[Facts] = field(default_factory=list)

    def feature(self, *strategies: Facts) -> str:
        """Return the name of the feature with these strategies; add it if it is missing."""
        key = json.dumps(strategies)
        if key not in self.names:
            self.names[key] = name = str(len(self.names))
            self.state.append({"name": name, "enabled": True, "strategies": strategies})
        return self.names[key]

    def conditions(self, constraints: Sequence[Facts]) -> str:
        """Return the name of the feature that is on if the constraints are met."""
        return self.feature({"name": "default", "parameters": {}, "constraints": constraints})


def engine(features: Sequence[Facts], segments: Iterable[SegmentFacts]) -> Engine:
    found = [{"id": s.id, "name": s.name, "constraints": s.constraints} for s in segments]
    return Engine(json.dumps({"version": 2, "features": features, "segments": found}).encode())


def delivered(feature: FeatureFacts) -> dict[str, Any]:
    """Return the feature as SDKs get it, but without random stickiness (see ``sticky``)."""
    return {
        "name": feature.name,
        "enabled": feature.is_enabled,
        "strategies": [settled(feature.name, each) for each in feature.active],
        "variants": _settled_variants(feature.variants),
        "dependencies": feature.parents,
    }


def child_name(feature: FeatureFacts) -> str:
    return f"/{feature.name}"


def child(feature: FeatureFacts) -> dict[str, Any]:
    """Return a made-up feature that is on if the parent satisfies the dependency."""
    everyone = {"name": "default", "parameters": {}}
    return {
        "name": child_name(feature),
        "enabled": True,
        "strategies": [everyone],
        "dependencies": feature.parents,
    }


def settled(feature: str, strategy: Facts) -> dict[str, Any]:
    """Return the strategy as SDKs get it, but without random stickiness and with a group.

    Without a group, the engine would use the name of the made-up feature.
    """
    name, parameters = strategy["name"], {"groupId": feature} | strategy["parameters"]
    if name == "gradualRolloutRandom":
        name = "flexibleRollout"
        parameters |= {"rollout": parameters["percentage"], "stickiness": "random"}
    if name == "flexibleRollout":
        parameters |= {"stickiness": sticky(parameters.get("stickiness", "default"))}
    return {
        "name": name,
        "parameters": parameters,
        "constraints": strategy["constraints"],
        "segments": segments_of(strategy),
        "variants": _settled_variants(strategy.get("variants", ())),
    }


def _settled_variants(variants: Sequence[Facts]) -> list[Facts]:
    return [
        {**variant, "stickiness": sticky_variant(variant["stickiness"])} for variant in variants
    ]


def reaching(rollout: Facts, percent: int) -> Facts:
    """Return the rollout with another percentage."""
    share = {SHARES[rollout["name"]]: str(percent)}
    return {**rollout, "parameters": rollout["parameters"] | share}


def is_random(strategy: Facts, context: Person) -> bool:
    if strategy["name"] == "flexibleRollout":
        return context.is_random(strategy["parameters"].get("stickiness", "default"))
    return bool(strategy["name"] == "gradualRolloutRandom")


def segments_of(strategy: Facts) -> Sequence[int]:
    found: Sequence[int] = strategy.get("segments", ())
    return found
