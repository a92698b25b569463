"""Answers and their reasons, as people read them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.catalogue.constraints.words import Phrase, Sentence, any_of
from app.catalogue.strategies.reasons import Line, Mark, obstacles, of_strategy
from app.core.words import counted
from app.evaluation.explain import NO_VARIANT
from app.evaluation.facts import Explanation, FeatureFacts, ParentReason

LONGEST_VALUE = 40


def lines(
    explanation: Explanation, facts: FeatureFacts, environment: str, given: Mapping[str, str]
) -> list[Line]:
    """Return the reasons in the order in which SDKs evaluate them."""
    answer = explanation.answer
    found = [_state(facts, environment)]
    if answer.problem:
        found.append(Line(Mark.NO, [Phrase("SDKs can’t read it, so it’s off for everyone")]))
    if answer.parent:
        found.append(_parent(answer.parent))
    is_hindered = any(line.mark is Mark.NO for line in found)
    for number, reason in enumerate(explanation.strategies, 1):
        line = of_strategy(reason, number, given)
        found.append(replace(line, mark=Mark.SKIP) if is_hindered else line)
    return found


def short(explanation: Explanation, given: Mapping[str, str]) -> str:
    """Return the variant, or what keeps this person from getting the feature, in a few words."""
    answer = explanation.answer
    if answer.is_on:
        return answer.variant if answer.variant != NO_VARIANT else ""
    if answer.parent and not answer.parent.is_met:
        return f"{answer.parent.feature} is {'on' if answer.parent.is_on else 'off'}"
    if not answer.is_enabled:
        return ""
    if answer.problem:
        return "SDKs can’t read it"
    found = [obstacles(each, given) for each in explanation.strategies if not each.is_paused]
    nearest = min((each for each in found if each), key=len, default=[""])
    return nearest[0]


def is_for_everyone(explanation: Explanation) -> bool:
    """Whether the feature is on unconditionally, so that there is no reason to show."""
    if not explanation.answer.is_on or explanation.answer.parent:
        return False
    found = [of_strategy(each, 1, {}) for each in explanation.strategies if each.result]
    return any(not line.inner and not line.value for line in found)


def called(person: Mapping[str, str]) -> str:
    """Return a name for a person: ``user 311``, or another value of the context."""
    if "userId" in person:
        return f"user {_cut(person['userId'])}"
    if "sessionId" in person:
        return f"session {_cut(person['sessionId'])}"
    first = next(iter(person.items()), None)
    return f"someone with {first[0]} {_cut(first[1])}" if first else "someone unknown"


def described(person: Mapping[str, str], people: Sequence[Mapping[str, str]]) -> str:
    """Return the values that differ from other people's: ``userId 1, country NO``."""
    differing = [
        name for name in person if any(other.get(name) != person[name] for other in people)
    ]
    return ", ".join(f"{name} {_cut(person[name])}" for name in differing or person) or "someone"


def _cut(value: str) -> str:
    return value if len(value) <= LONGEST_VALUE else f"{value[:LONGEST_VALUE]}…"


def _state(facts: FeatureFacts, environment: str) -> Line:
    if facts.is_enabled:
        return Line(Mark.YES, [Phrase(f"It’s on in {environment}")])
    if facts.enabled:
        return Line(Mark.NO, [Phrase(f"It has no strategy that counts in {environment}")])
    return Line(Mark.NO, [Phrase(f"It’s off in {environment}")])


def _parent(parent: ParentReason) -> Line:
    rule: Sentence = [Phrase(", which it depends on")]
    value = "it must be off" if not parent.needs_on else ""
    if parent.variants:
        rule += [Phrase(" in the variant "), *any_of(parent.variants)]
        if parent.is_on:
            value = f"theirs is {'none' if parent.variant == NO_VARIANT else parent.variant}"
    rule += [Phrase(f", is {'on' if parent.is_on else 'off'} for them")]
    mark = Mark.YES if parent.is_met else Mark.NO
    return Line(mark, rule, value, feature=parent.feature)


def verdict(person: Mapping[str, str], number: int, of: int, where: str) -> tuple[str, str]:
    """Return ``User 311 gets 23 of 41 features``, and the rest of the sentence."""
    name = called(person)
    return f"{name[:1].upper()}{name[1:]} gets {number:,} of {counted(of, 'feature')}", where


def verdict_on_one(
    person: Mapping[str, str], feature: str, where: str, *, is_on: bool
) -> tuple[str, str]:
    name = called(person)
    return f"{name[:1].upper()}{name[1:]} {'gets' if is_on else 'doesn’t get'} {feature}", where


def verdict_on_many(people: int, number: int, of: int, project: str, where: str) -> tuple[str, str]:
    verb = "is" if number == 1 else "are"
    rest = f"{project}{verb} on for at least one of {people} people {where}"
    return f"{number:,} of {counted(of, 'feature')}", rest


def difference(
    one: Mapping[str, str], other: Mapping[str, str], number: int, of: int, where: str
) -> tuple[str, str]:
    verb = "differs" if number == 1 else "differ"
    found = f"{number:,} of {counted(of, 'feature')} {verb}"
    return found, f"between {called(one)} and {called(other)} {where}"
