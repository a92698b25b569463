"""Constraints as people read them: ``country is NO or SE``."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from app.catalogue.constraints.models import Constraint
from app.catalogue.constraints.operators import Operator

LISTED = 5


class Phrase(NamedTuple):
    """A part of a sentence; ``kind`` says how a page writes it."""

    text: str
    kind: Literal["plain", "strong", "field"] = "plain"


Sentence = list[Phrase]

VERBS = {
    Operator.IN: ("is", "isn’t"),
    Operator.NOT_IN: ("isn’t", "is"),
    Operator.STR_STARTS_WITH: ("starts with", "doesn’t start with"),
    Operator.STR_ENDS_WITH: ("ends with", "doesn’t end with"),
    Operator.STR_CONTAINS: ("contains", "doesn’t contain"),
    Operator.NUM_EQ: ("is", "isn’t"),
    Operator.NUM_GT: ("is more than", "isn’t more than"),
    Operator.NUM_GTE: ("is at least", "isn’t at least"),
    Operator.NUM_LT: ("is less than", "isn’t less than"),
    Operator.NUM_LTE: ("is at most", "isn’t at most"),
    Operator.DATE_AFTER: ("from", "until"),
    Operator.DATE_BEFORE: ("until", "from"),
    Operator.SEMVER_EQ: ("is version", "isn’t version"),
    Operator.SEMVER_GT: ("is after version", "isn’t after version"),
    Operator.SEMVER_GTE: ("is version", "isn’t version"),
    Operator.SEMVER_LT: ("is before version", "isn’t before version"),
    Operator.SEMVER_LTE: ("is version", "isn’t version"),
    Operator.REGEX: ("matches the pattern", ""),
    Operator.IN_CIDR: ("is in the network", "isn’t in the network"),
}
"""(verb, verb of the inverted constraint)"""

GROUPS = {
    "Values": {Operator.IN: "is one of", Operator.NOT_IN: "is none of"},
    "Text": {
        Operator.STR_STARTS_WITH: "starts with",
        Operator.STR_ENDS_WITH: "ends with",
        Operator.STR_CONTAINS: "contains",
        Operator.REGEX: "matches the pattern",
    },
    "Number": {
        Operator.NUM_EQ: "equals",
        Operator.NUM_GT: "is more than",
        Operator.NUM_GTE: "is at least",
        Operator.NUM_LT: "is less than",
        Operator.NUM_LTE: "is at most",
    },
    "Date": {Operator.DATE_AFTER: "is after", Operator.DATE_BEFORE: "is before"},
    "Version": {
        Operator.SEMVER_EQ: "is version",
        Operator.SEMVER_GT: "is after version",
        Operator.SEMVER_GTE: "is version … or later",
        Operator.SEMVER_LT: "is before version",
        Operator.SEMVER_LTE: "is version … or earlier",
    },
    "Address": {Operator.IN_CIDR: "is in the network"},
}
"""The operators to choose from, by what they compare."""

ENDINGS = {Operator.SEMVER_GTE: " or later", Operator.SEMVER_LTE: " or earlier"}


def describe(constraint: Constraint) -> Sentence:
    """A constraint as part of a sentence: field, verb, values."""
    operator = Operator(constraint["operator"])
    verb = VERBS[operator][constraint["inverted"]]
    sentence = [Phrase(constraint["contextName"], "field"), Phrase(f" {verb} ")]
    if len(constraint.get("values", ())) > LISTED:
        if operator in {Operator.IN, Operator.NOT_IN}:
            sentence[-1] = Phrase(" is one of " if verb == "is" else " is none of ")
        sentence.append(Phrase(f"{len(constraint['values'])} values", "strong"))
    elif "values" in constraint:
        sentence += any_of(constraint["values"])
    elif operator in {Operator.DATE_AFTER, Operator.DATE_BEFORE}:
        sentence.append(Phrase(moment(constraint["value"]), "strong"))
    else:
        sentence.append(Phrase(constraint["value"], "strong"))
    ending = ENDINGS.get(operator, "") + (
        ", ignoring case" if constraint["caseInsensitive"] else ""
    )
    return [*sentence, Phrase(ending)] if ending else sentence


def describe_all(constraints: Sequence[Constraint]) -> Sentence:
    """Constraints joined by “and”."""
    sentence: Sentence = []
    for constraint in constraints:
        sentence += [Phrase(" and ")] if sentence else []
        sentence += describe(constraint)
    return sentence


def plain(sentence: Sentence) -> str:
    return "".join(phrase.text for phrase in sentence)


def any_of(values: Sequence[str]) -> Sentence:
    """``1, 2 or 3``, or ``one of 12 values``."""
    if len(values) > LISTED:
        return [Phrase("one of "), Phrase(f"{len(values):,} values", "strong")]
    return _joined(values, " or ")


def all_of(values: Sequence[str]) -> Sentence:
    """``A, B and C``."""
    return _joined(values, " and ")


def _joined(values: Sequence[str], last: str) -> Sentence:
    sentence: Sentence = []
    for place, value in enumerate(values):
        if place:
            sentence.append(Phrase(last if place == len(values) - 1 else ", "))
        sentence.append(Phrase(value, "strong"))
    return sentence


def moment(value: str) -> str:
    """Format an ISO time in UTC as ``24 Nov 2026, 07:00 UTC``."""
    at = datetime.fromisoformat(value)
    return f"{at.day} {at:%b %Y, %H:%M} UTC"
