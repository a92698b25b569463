"""Sample people who show what a strategy would do before it is saved.

They are made from the values in the strategy. The engine decides whether they get the feature.
"""

import ipaddress
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.catalogue.constraints.models import Constraint, values_of
from app.catalogue.constraints.operators import Operator
from app.catalogue.constraints.words import Phrase, Sentence, plain
from app.catalogue.context.models import ContextField
from app.catalogue.strategies import reasons, types
from app.catalogue.strategies.models import Strategy
from app.core.clock import in_text
from app.evaluation.explain import NO_VARIANT, Answers, Reasons
from app.evaluation.facts import FeatureFacts, SegmentFacts, StrategyReason
from app.evaluation.person import Person

DISPLAY_LIMIT, LEGAL = 3, 8
"""How many people, and how many of the legal values of a field are tried."""
PEOPLE = ("1042", "88", *map(str, range(1, 60)))
LAST = "311"
OTHERS = ("other", "203.0.113.7", "0", "1000000", "0.0.1", "999.0.0")
"""Values that match few constraints."""
NAME = "sample"


@dataclass(frozen=True, slots=True)
class Sample:
    """``is_on``: None if only applications can evaluate the strategy."""

    described: str
    is_on: bool | None
    why: Sentence


def samples(strategy: Strategy, group: str, fields: Mapping[str, ContextField]) -> list[Sample]:
    """At most DISPLAY_LIMIT people with different outcomes. ``group``: the groupId."""
    ask = _Asker([strategy], group)
    inside, outside = _values(ask, _candidates(strategy, fields))
    sticky = _sticky_field(strategy)
    people = [{sticky: id} | inside for id in PEOPLE]
    people += [{sticky: LAST} | inside | {field: value} for field, value in outside.items()]
    outcomes: dict[object, Sample] = {}
    for person, reason in ask.explain(people):
        sample = Sample(_described(person), reason.result, _why(person, reason))
        outcomes.setdefault(_outcome(reason), sample)
    on = [each for each in outcomes.values() if each.is_on]
    rest = [each for each in outcomes.values() if not each.is_on]
    kept = max(1, DISPLAY_LIMIT - len(rest)) if on else 0  # leaves room for people without it
    return [*on[:kept], *rest][:DISPLAY_LIMIT]


def first_chosen(
    steps: Sequence[Sequence[Strategy]],
    group: str,
    fields: Mapping[str, ContextField],
    limit: int,
) -> list[tuple[str, int | None, str]]:
    """People who get a feature at different steps: (who, the first such step from 1, why).

    ``steps``: the strategies of each.
    """
    strategies = [each for step in steps for each in step if not each.disabled]
    people: dict[str, Mapping[str, str]] = {}
    for strategy in strategies:
        ask, sticky = _Asker([strategy], group), _sticky_field(strategy)
        inside, _ = _values(ask, _candidates(strategy, fields))
        for person in [{sticky: id} | inside for id in PEOPLE]:
            people.setdefault(_described(person), person)
    found: dict[str, tuple[int, str]] = {}
    for number, step in enumerate(steps, 1):
        asked = {who: person for who, person in people.items() if who not in found}
        active = [each for each in step if not each.disabled]
        for who, reason in zip(asked, _Asker(active, group).choices(asked.values()), strict=True):
            if reason is not None:
                found[who] = number, _in_short(reason)
    by_step: dict[int | None, tuple[str, int | None, str]] = {}
    for who in people:
        first, why = found.get(who, (None, "not in any step"))
        by_step.setdefault(first, (who, first, why))
    chosen = sorted(by_step.values(), key=lambda each: each[1] or len(steps) + 1)
    if len(chosen) <= limit:
        return chosen
    return [chosen[place * (len(chosen) - 1) // (limit - 1)] for place in range(limit)]


class _Asker:
    """Evaluates strategies as those of a feature that is on."""

    def __init__(self, strategies: Sequence[Strategy], group: str) -> None:
        facts = [
            {
                "name": strategy.name,
                "parameters": {"groupId": group} | strategy.parameters,
                "constraints": strategy.constraints,
                "segments": [segment.id for segment in strategy.segments],
                "variants": strategy.variants,
            }
            for strategy in strategies
        ]
        self._feature = FeatureFacts(NAME, enabled=True, strategies=facts)
        self._sticky_by = frozenset(self._feature.sticky_by)
        segments = {
            each.id: SegmentFacts(each.id, each.name, each.constraints)
            for strategy in strategies
            for each in strategy.segments
        }
        self._answers = Answers([self._feature], segments)
        self._reasons = Reasons({NAME: self._feature}, segments)

    def explain(
        self, people: Iterable[Mapping[str, str]]
    ) -> Iterator[tuple[Mapping[str, str], StrategyReason]]:
        """Each person with the reason of the first strategy."""
        for person, strategies in self._explain(people):
            yield person, strategies[0]

    def choices(self, people: Iterable[Mapping[str, str]]) -> Iterator[StrategyReason | None]:
        """For each person the reason of the first strategy that chooses them, if one does."""
        for _, strategies in self._explain(people):
            yield next((each for each in strategies if each.result), None)

    def _explain(
        self, people: Iterable[Mapping[str, str]]
    ) -> Iterator[tuple[Mapping[str, str], Sequence[StrategyReason]]]:
        asked = [Person(person, self._sticky_by) for person in people]
        answers = [(NAME, self._answers.answer(NAME, each), each) for each in asked]
        for context, explanation in zip(asked, self._reasons.explain(answers), strict=True):
            yield context.given, explanation.strategies


def _values(
    ask: _Asker, candidates: Mapping[str, Sequence[str]]
) -> tuple[dict[str, str], dict[str, str]]:
    """By field: a value that meets every constraint on it, and one that doesn’t if there is one."""
    pairs = [(field, value) for field, values in candidates.items() for value in values]
    inside: dict[str, str] = {}
    outside: dict[str, str] = {}
    found = ask.explain([{field: value} for field, value in pairs])
    for (field, value), (_, reason) in zip(pairs, found, strict=True):
        (inside if _meets(reason, field) else outside).setdefault(field, value)
    return {field: values[0] for field, values in candidates.items()} | inside, outside


def _meets(reason: StrategyReason, field: str) -> bool:
    of_segments = [result for segment in reason.segments for result in segment.constraints]
    results = [*reason.constraints, *of_segments]
    return all(each.is_met for each in results if each.constraint["contextName"] == field)


def _candidates(strategy: Strategy, fields: Mapping[str, ContextField]) -> dict[str, list[str]]:
    """Values to try by field: some are likely to meet the constraints, others aren’t."""
    of_segments = [
        constraint for segment in strategy.segments for constraint in segment.constraints
    ]
    candidates: dict[str, list[str]] = {}
    for constraint in [*strategy.constraints, *of_segments]:
        candidates.setdefault(constraint["contextName"], []).extend(_around(constraint))
    for name, values in candidates.items():
        legal = fields[name].values[:LEGAL] if name in fields else []
        others = () if name == "currentTime" else legal or OTHERS
        candidates[name] = list(dict.fromkeys([*values, *others]))
    return candidates


def _around(constraint: Constraint) -> list[str]:
    """Values at the boundary of a constraint."""
    operator, value = Operator(constraint["operator"]), values_of(constraint)[0]
    if operator is Operator.IN_CIDR:
        with suppress(ValueError):
            return [str(ipaddress.ip_network(value, strict=False)[0])]
    if operator.startswith("NUM_"):
        number = float(value)
        return [value, f"{number + 1:g}", f"{number - 1:g}"]
    if operator.startswith("SEMVER_"):
        return [value, f"{int(value.partition('.')[0]) + 1}.0.0"]
    if operator.startswith("DATE_"):
        return [value, *_days_beside(datetime.fromisoformat(value))]
    return [value.strip("^$")] if operator is Operator.REGEX else [value]


def _days_beside(at: datetime) -> Iterator[str]:
    for day in (timedelta(days=1), timedelta(days=-1)):
        with suppress(OverflowError):  # beyond the first and the last year
            yield in_text(at + day)


def _sticky_field(strategy: Strategy) -> str:
    """The context field that decides which people get the feature."""
    name = reasons.OF_OLD.get(strategy.name) or strategy.parameters.get("stickiness", "default")
    return "userId" if name in {"default", "random"} else str(name)


def _described(person: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in person.items())


def _in_short(reason: StrategyReason) -> str:
    """Why a strategy chooses someone: ``in segment Staff``, ``at 17 of 100``."""
    if reason.segments:
        return f"in segment {reason.segments[0].segment.name}"
    if reason.constraints:
        return plain(reasons.of_constraint(reason.constraints[0]).rule)
    return f"at {reason.falls_at} of 100" if reason.falls_at is not None else "everyone gets it"


def _outcome(reason: StrategyReason) -> object:
    """A key that is equal for people whose answers have equal reasons."""
    if reason.result:
        return reason.variant
    unmet = [place for place, each in enumerate(reason.constraints) if not each.is_met]
    out_of = [each.segment.id for each in reason.segments if not each.is_met]
    return (reason.result, tuple(unmet), tuple(out_of), reason.chooses)


def _why(person: Mapping[str, str], reason: StrategyReason) -> Sentence:
    unmet = _unmet(reason)
    if unmet:
        return unmet
    found = _by_type(person, reason)
    if reason.variant != NO_VARIANT:
        found += [Phrase(". Gets "), Phrase(reason.variant, "strong")]
    return found


def _unmet(reason: StrategyReason) -> Sentence:
    """The first constraint or segment that isn’t met, if there is one."""
    for constraint in reason.constraints:
        if not constraint.is_met:
            line = reasons.of_constraint(constraint)
            return [*line.rule, Phrase(f" · {line.value}")]
    missing = [each.segment.name for each in reason.segments if not each.is_met]
    return [Phrase("Not in segment "), Phrase(missing[0], "strong")] if missing else []


def _by_type(person: Mapping[str, str], reason: StrategyReason) -> Sentence:
    """The reason that the type gives, where all conditions are met."""
    share = types.percent(reason.strategy["name"], reason.strategy["parameters"])
    if reason.chooses is None:
        return [Phrase("Only applications know what this type does")]
    if reason.is_random:
        return [Phrase("At random: the next check may differ")]
    if reason.falls_at is not None:
        end = "within" if reason.result else "the rollout stops at"
        return [Phrase(f"Falls at {reason.falls_at} of 100; {end} {share}%")]
    if reason.chooses:
        return [Phrase("Meets all of it")]
    text = reasons.obstacles(reason, person)[0]
    return [Phrase(text[:1].upper() + text[1:])]
