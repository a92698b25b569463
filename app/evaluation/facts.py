"""Features, strategies and segments as SDKs read them, and results with their reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Facts = Mapping[str, Any]
"""A constraint, strategy, variant or dependency as SDKs read it."""

BUILT_IN = frozenset(
    {
        "default",
        "flexibleRollout",
        "userWithId",
        "remoteAddress",
        "applicationHostname",
        "gradualRolloutUserId",
        "gradualRolloutSessionId",
        "gradualRolloutRandom",
    }
)
"""Types of strategies that the engine can evaluate. Only applications can evaluate others."""


@dataclass(frozen=True, slots=True)
class SegmentFacts:
    id: int
    name: str
    constraints: Sequence[Facts]


@dataclass(frozen=True, slots=True)
class FeatureFacts:
    """A feature in an environment.

    ``strategies``: also those that are ``disabled``, in their order, with the ids of their
    ``segments``. ``parents``: what it depends on.
    """

    name: str
    enabled: bool
    strategies: Sequence[Facts]
    variants: Sequence[Facts] = ()
    parents: Sequence[Facts] = ()

    @property
    def active(self) -> list[Facts]:
        """The strategies that SDKs get."""
        return [each for each in self.strategies if not each.get("disabled")]

    @property
    def is_enabled(self) -> bool:
        """Whether SDKs get it as on: never without an active strategy."""
        return bool(self.enabled and self.active)

    @property
    def sticky_by(self) -> set[str]:
        """The stickiness of its variants."""
        lists = [self.variants, *(each.get("variants", ()) for each in self.strategies)]
        return {variant["stickiness"] for variants in lists for variant in variants}


@dataclass(frozen=True, slots=True)
class ParentReason:
    """Result of a parent feature. ``is_met``: whether it satisfies the dependency."""

    feature: str
    needs_on: bool
    variants: Sequence[str]
    is_on: bool
    variant: str
    is_met: bool


@dataclass(frozen=True, slots=True)
class FeatureResult:
    """Result of a feature for a context.

    ``parent``: None if it depends on none. ``problem``: why the engine can't read the feature; it
    is off for everyone then.
    """

    is_on: bool
    is_enabled: bool
    variant: str
    payload: Mapping[str, str] | None
    parent: ParentReason | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class ConstraintReason:
    """``value``: the value of the context that was compared; None if there is none."""

    constraint: Facts
    is_met: bool
    value: str | None


@dataclass(frozen=True, slots=True)
class SegmentReason:
    segment: SegmentFacts
    is_met: bool
    constraints: Sequence[ConstraintReason]


@dataclass(frozen=True, slots=True)
class StrategyReason:
    """A strategy, with the result of each of its parts.

    ``result``: None if only applications know it, or if the strategy is paused. ``chooses``: the
    result of its type and parameters alone, such as a rollout; None if the engine doesn't know the
    type. ``falls_at``: the lowest percentage at which a rollout reaches the context; None without a
    rollout, or if it never does. ``is_random``: the next check can have another result.
    """

    strategy: Facts
    result: bool | None
    constraints: Sequence[ConstraintReason]
    segments: Sequence[SegmentReason]
    chooses: bool | None
    falls_at: int | None
    is_random: bool
    variant: str
    payload: Mapping[str, str] | None

    @property
    def is_paused(self) -> bool:
        return bool(self.strategy.get("disabled"))

    @property
    def is_known(self) -> bool:
        """Whether the engine knows this type of strategy."""
        return self.strategy["name"] in BUILT_IN

    @property
    def are_conditions_met(self) -> bool:
        return all(each.is_met for each in self.constraints) and all(
            each.is_met for each in self.segments
        )


@dataclass(frozen=True, slots=True)
class Explanation:
    answer: FeatureResult
    strategies: Sequence[StrategyReason]

    @property
    def result(self) -> bool | None:
        """The result of all strategies together; None if only applications know it."""
        results = [each.result for each in self.strategies if not each.is_paused]
        if True in results:
            return True
        return None if None in results else False
