"""Explains why a context gets a feature, or doesn't.

Nothing is evaluated here. Each strategy, segment, constraint and rollout becomes a feature of its
own in a made-up state, and the engine evaluates these.
"""

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from app.evaluation.engine import Verdict
from app.evaluation.facts import (
    BUILT_IN,
    ConstraintReason,
    Explanation,
    Facts,
    FeatureFacts,
    FeatureResult,
    ParentReason,
    SegmentFacts,
    SegmentReason,
    StrategyReason,
)
from app.evaluation.person import Person
from app.evaluation.probes import (
    SHARES,
    Probes,
    child,
    child_name,
    delivered,
    engine,
    is_random,
    reaching,
    segments_of,
    settled,
)

NO_VARIANT = "disabled"
MAX_PERCENT = 100
_FIXED = ("0", "100")
"""Percentages that reach no one and everyone, so there is nothing to search for."""
_OFF = Verdict(is_on=False, variant=NO_VARIANT, payload=None)
Key = TypeVar("Key", bound=Hashable)


class Answers:
    """Evaluates features of one environment. Their parents must be among them."""

    def __init__(
        self, features: Iterable[FeatureFacts], segments: Mapping[int, SegmentFacts]
    ) -> None:
        self._features = {each.name: each for each in features}
        state = [delivered(each) for each in self._features.values()]
        state += [child(each) for each in self._features.values() if each.parents]
        used = {
            id for each in self._features.values() for one in each.active for id in segments_of(one)
        }
        self._engine = engine(state, [segments[id] for id in used])

    def is_on(self, name: str, context: Person) -> bool:
        """Whether the feature is on. Takes a third of the time of ``answer``."""
        return self._engine.variant_if_on(name.encode(), context.as_json) is not None

    def answer(self, name: str, context: Person) -> FeatureResult:
        feature = self._features[name]
        found = self._ask(name, context)
        return FeatureResult(
            is_on=found.is_on,
            is_enabled=feature.is_enabled,
            variant=found.variant,
            payload=found.payload,
            parent=self._parent(feature, context) if feature.parents else None,
            problem=self._engine.problems.get(name),
        )

    def _parent(self, feature: FeatureFacts, context: Person) -> ParentReason:
        [rule] = feature.parents
        parent = self._ask(rule["feature"], context)
        return ParentReason(
            feature=rule["feature"],
            needs_on=rule["enabled"],
            variants=rule.get("variants") or (),
            is_on=parent.is_on,
            variant=parent.variant,
            is_met=self._ask(child_name(feature), context).is_on,
        )

    def _ask(self, name: str, context: Person) -> Verdict:
        return self._engine.verdict(name, context.as_json) or _OFF


class Reasons(Generic[Key]):
    """Explains features, which callers name by a key of any type.

    Parts that several features share, such as a segment, are added to the made-up state once.
    """

    def __init__(
        self, features: Mapping[Key, FeatureFacts], segments: Mapping[int, SegmentFacts]
    ) -> None:
        self._features, self._segments = features, segments
        self._probes = Probes()
        self._parts = {
            key: [self._split(feature, each) for each in feature.strategies]
            for key, feature in features.items()
        }
        self._engine = engine(self._probes.state, segments.values())

    def explain(self, answers: Sequence[tuple[Key, FeatureResult, Person]]) -> list[Explanation]:
        """Return the explanation of each answer, in their order."""
        rollouts = {
            (parts.rollout, context): None
            for key, _, context in answers
            for parts in self._parts[key]
            if parts.rollout
        }
        falls = _lowest_percentages(list(rollouts))
        return [
            Explanation(
                answer,
                [
                    self._strategy(one, parts, context, falls.get((parts.rollout or "", context)))
                    for one, parts in zip(
                        self._features[key].strategies, self._parts[key], strict=True
                    )
                ],
            )
            for key, answer, context in answers
        ]

    def _split(self, feature: FeatureFacts, strategy: Facts) -> "_Parts":
        whole = settled(feature.name, strategy)
        is_known = strategy["name"] in BUILT_IN
        if not is_known:  # the engine can still evaluate its constraints and segments
            whole |= {"name": "default"}
        chooses = {key: whole[key] for key in ("name", "parameters")}
        is_split = whole["parameters"].get(SHARES.get(whole["name"], "")) not in {None, *_FIXED}
        return _Parts(
            whole=self._probes.feature(whole),
            chooses=self._probes.feature(chooses) if is_known else None,
            rollout=json.dumps(reaching(chooses, 0)) if is_split else None,
            constraints=[self._probes.conditions([each]) for each in strategy["constraints"]],
            segments={id: self._segment(id) for id in segments_of(strategy)},
        )

    def _segment(self, id: int) -> tuple[str, list[str]]:
        constraints = self._segments[id].constraints
        every = [self._probes.conditions([each]) for each in constraints]
        return self._probes.conditions(constraints), every

    def _strategy(
        self, strategy: Facts, parts: "_Parts", context: Person, falls_at: int | None
    ) -> StrategyReason:
        whole = self._ask(parts.whole, context)
        is_open = parts.chooses is None and whole.is_on
        return StrategyReason(
            strategy=strategy,
            result=None if is_open or strategy.get("disabled") else whole.is_on,
            constraints=self._constraints(strategy["constraints"], parts.constraints, context),
            segments=[
                SegmentReason(
                    self._segments[id],
                    self._ask(name, context).is_on,
                    self._constraints(self._segments[id].constraints, every, context),
                )
                for id, (name, every) in parts.segments.items()
            ],
            chooses=None if parts.chooses is None else self._ask(parts.chooses, context).is_on,
            falls_at=falls_at,
            is_random=is_random(strategy, context),
            variant=NO_VARIANT if is_open else whole.variant,
            payload=None if is_open else whole.payload,
        )

    def _constraints(
        self, constraints: Sequence[Facts], names: Sequence[str], context: Person
    ) -> list[ConstraintReason]:
        return [
            ConstraintReason(
                constraint,
                self._ask(name, context).is_on,
                context.values.get(constraint["contextName"]),
            )
            for constraint, name in zip(constraints, names, strict=True)
        ]

    def _ask(self, name: str, context: Person) -> Verdict:
        return self._engine.verdict(name, context.as_json) or _OFF


def _lowest_percentages(rollouts: Sequence[tuple[str, Person]]) -> dict[tuple[str, Person], int]:
    """Return the lowest percentage at which each rollout, as JSON, reaches the context.

    Rollouts that never do are left out. One binary search for all needs seven states, however many
    rollouts there are.
    """
    low = dict.fromkeys(rollouts, 1)
    high = dict.fromkeys(rollouts, MAX_PERCENT + 1)
    while undecided := [each for each in rollouts if low[each] < high[each]]:
        probes = Probes()
        middles = {each: (low[each] + high[each]) // 2 for each in undecided}
        names = {
            each: probes.feature(reaching(json.loads(each[0]), middles[each])) for each in undecided
        }
        asked = engine(probes.state, ())
        for each, middle in middles.items():
            found = asked.verdict(names[each], each[1].as_json)
            if found and found.is_on:
                high[each] = middle
            else:
                low[each] = middle + 1
    return {each: percent for each, percent in low.items() if percent <= MAX_PERCENT}


@dataclass(frozen=True, slots=True)
class _Parts:
    """Names of the made-up features for a strategy. ``rollout``: as JSON."""

    whole: str
    chooses: str | None
    rollout: str | None
    constraints: Sequence[str]
    segments: Mapping[int, tuple[str, Sequence[str]]]
