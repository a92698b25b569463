"""Why a strategy chooses someone or doesn’t, in words.

Each line names a rule, and then the value that it was compared with.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, cast

from app.catalogue.constraints.models import Constraint
from app.catalogue.constraints.operators import Operator
from app.catalogue.constraints.words import LISTED, Phrase, Sentence, describe, moment
from app.catalogue.segments.models import Segment
from app.catalogue.strategies import types, words
from app.catalogue.strategies.models import Strategy
from app.evaluation.facts import ConstraintReason, SegmentReason, StrategyReason

COMPARED = {"userWithId": "userId", "remoteAddress": "remoteAddress"}
"""The context field that each of these types compares."""
OF_OLD = {"gradualRolloutUserId": "userId", "gradualRolloutSessionId": "sessionId"}
"""The stickiness of the legacy rollouts."""


class Mark(StrEnum):
    """Whether a rule is met; SKIP for one that did not count."""

    YES = "yes"
    NO = "no"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Line:
    """A rule, the value that it was compared with, and the rules that it consists of.

    ``feature``: the name of another feature, before the rule.
    """

    mark: Mark
    rule: Sentence
    value: str = ""
    inner: Sequence["Line"] = ()
    feature: str = ""


def of_strategy(reason: StrategyReason, number: int, given: Mapping[str, str]) -> Line:
    """``number``: of the strategy, from 1. ``given``: the values of the context."""
    sentence = _calm(words.describe(as_model(reason.strategy, reason.segments))[1:])
    name = Phrase(f"Strategy {number}", "strong")
    inner = [*_conditions(reason), *_own(reason, given)]
    if reason.is_paused:
        rule = [name, Phrase(", paused: "), *sentence]
        return Line(Mark.SKIP, rule, "applications don’t get it", inner)
    line = Line(_mark(reason.result), [name, Phrase(": "), *sentence], inner=inner)
    if len(inner) == 1 and not reason.constraints and not reason.segments:
        return replace(line, value=inner[0].value, inner=())
    return line


def obstacles(reason: StrategyReason, given: Mapping[str, str]) -> list[str]:
    """Rules that keep someone from getting the feature, each in a few words."""
    found = [_value_of(each) for each in reason.constraints if not each.is_met]
    found += [f"not in {each.segment.name}" for each in reason.segments if not each.is_met]
    if reason.chooses is False:
        found += [_why_not_chosen(reason, given)]
    if not reason.is_known:
        found += ["only applications know"]
    return found


def as_model(strategy: Mapping[str, Any], segments: Sequence[SegmentReason]) -> Strategy:
    """A model of the strategy, to describe it in a sentence; not stored."""
    return Strategy(
        name=strategy["name"],
        disabled=False,
        parameters=dict(strategy["parameters"]),
        constraints=list(strategy["constraints"]),
        segments=[Segment(name=each.segment.name) for each in segments],
        variants=[],
    )


def of_constraint(reason: ConstraintReason) -> Line:
    rule = _calm(describe(cast(Constraint, reason.constraint)))
    return Line(_mark(reason.is_met), rule, _compared(reason))


def _calm(sentence: Sentence) -> Sentence:
    """Without strong parts: among many lines, only names of strategies stand out."""
    return [Phrase(each.text) if each.kind == "strong" else each for each in sentence]


def _conditions(reason: StrategyReason) -> list[Line]:
    lines = [of_constraint(constraint) for constraint in reason.constraints]
    for segment in reason.segments:
        rule = [Phrase("in segment "), Phrase(segment.segment.name, "strong")]
        inner = [of_constraint(constraint) for constraint in segment.constraints]
        lines.append(Line(_mark(segment.is_met), rule, inner=inner))
    return lines


def _own(reason: StrategyReason, given: Mapping[str, str]) -> list[Line]:
    """The line about the strategy's type; none if it chooses everyone."""
    strategy = reason.strategy
    share = types.percent(strategy["name"], strategy["parameters"])
    if reason.chooses is None:
        rule = [Phrase("the type "), Phrase(strategy["name"], "strong")]
        return [Line(Mark.SKIP, rule, "only applications know who gets it")]
    if strategy["name"] == types.EVERYONE or (share == types.ALL and reason.chooses):
        return []
    rule = [Phrase(f"{share}% rollout")]
    if share is None:
        rule = _calm(words.describe(as_model({**strategy, "constraints": []}, []))[1:])
    mark = _mark(reason.chooses) if reason.are_conditions_met else Mark.SKIP
    return [Line(mark, rule, _place(reason, share, given))]


def _place(reason: StrategyReason, share: int | None, given: Mapping[str, str]) -> str:
    """Where someone falls in a rollout, or what a list was compared with."""
    name = reason.strategy["name"]
    if share is None:
        field = COMPARED.get(name)
        return _theirs(given.get(field)) if field else "compared with the host of this server"
    if share == 0:
        return "reaches no one"
    if reason.is_random:
        return "at random: the next check may differ"
    if reason.falls_at is None:
        return f"{_stickiness(reason)} isn’t set"
    falls = "falls" if reason.are_conditions_met else "would fall"
    return f"{falls} at {reason.falls_at} of 100"


def _why_not_chosen(reason: StrategyReason, given: Mapping[str, str]) -> str:
    strategy = reason.strategy
    share = types.percent(strategy["name"], strategy["parameters"])
    if share == 0:
        return "rollout is 0%"
    if share is not None:
        return "at random" if reason.is_random else _place(reason, share, given)
    field = COMPARED.get(strategy["name"], "the host")
    return _is(field, given.get(field))


def _stickiness(reason: StrategyReason) -> str:
    strategy = reason.strategy
    found: str = OF_OLD.get(strategy["name"]) or strategy["parameters"].get("stickiness", "userId")
    return found


def _compared(reason: ConstraintReason) -> str:
    constraint, value = reason.constraint, reason.value
    operator = Operator(constraint["operator"])
    if value is None:
        return _theirs(value)
    if operator in {Operator.DATE_AFTER, Operator.DATE_BEFORE}:
        return f"it’s {moment(value)}" if constraint["contextName"] == "currentTime" else value
    if operator in {Operator.IN, Operator.NOT_IN} and len(constraint["values"]) > LISTED:
        wants_it = (operator is Operator.IN) is not constraint["inverted"]
        return f"{value} {'is' if wants_it is reason.is_met else 'isn’t'} among them"
    return _theirs(value)


def _theirs(value: str | None) -> str:
    return "theirs isn’t set" if value is None else f"theirs is {value}"


def _value_of(reason: ConstraintReason) -> str:
    field, value = reason.constraint["contextName"], reason.value
    if field == "currentTime" and value is not None:
        return f"it’s {moment(value)}"
    return _is(field, value)


def _is(field: str, value: str | None) -> str:
    return f"{field} isn’t set" if value is None else f"{field} is {value}"


def _mark(result: bool | None) -> Mark:  # noqa: FBT001 - the result itself
    if result is None:
        return Mark.SKIP
    return Mark.YES if result else Mark.NO
