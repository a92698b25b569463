"""Constraints as entries of a form."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from app.catalogue.constraints.models import Constraint, values_of
from app.catalogue.constraints.operators import Operator, problem
from app.catalogue.constraints.words import GROUPS
from app.core.words import counted, spoken
from app.web.parts import Inputs, PartKind

KIND = PartKind(
    path="constraints",
    title="Constraint",
    empty={
        "contextName": "",
        "operator": Operator.IN.value,
        "values": "",
        "inverted": False,
        "caseInsensitive": False,
    },
    main="values",
)
MAX_BOXES = 50
"""Legal values up to here have a check box each."""
_TYPED = {
    "Values": ("Values, one per line", ""),
    "Text": ("Text, one per line", ""),
    "Number": ("Number", "For example 18 or 9.5."),
    "Date": ("Date and time", "For example 2026-12-24T18:00:00Z."),
    "Version": ("Version", "For example 5.2.0."),
    "Address": ("Networks, one per line", "For example 10.0.0.0/8."),
}
"""Label and example of values to type, by the group of operators."""
_ONLY = {
    "currentTime": {"Date"},
    "remoteAddress": {"Values", "Text", "Address"},
    "appName": {"Values", "Text"},
    "environment": {"Values", "Text"},
    "sessionId": {"Values", "Text"},
    "userId": {"Values", "Text", "Number"},
}
"""The groups of operators that fit fields with a meaning of their own."""


class Offered(NamedTuple):
    """What fits the field and the operator of a constraint.

    ``operators``: (group, [(operator, label)]). ``values``: (value, whether it is legal) of check
    boxes; None: to be typed, under ``label``.
    """

    operators: list[tuple[str, list[tuple[str, str]]]]
    values: list[tuple[str, bool]] | None
    label: str
    hint: str
    takes_list: bool
    can_ignore_case: bool


def offered(inputs: Inputs, legal: Mapping[str, Sequence[str]]) -> Offered:
    """``legal``: the legal values of each field; empty: any. Without a field, it is the first."""
    field = inputs["contextName"] or next(iter(legal), "")
    allowed, operator = legal.get(field) or (), _operator(inputs["operator"])
    group = next(title for title, entries in GROUPS.items() if operator in entries)
    fitting = _ONLY.get(field) or _groups_for(allowed)
    chosen = [line.strip() for line in inputs["values"].splitlines() if line.strip()]
    values, (label, hint) = None, _TYPED[group]
    if operator is Operator.REGEX:
        label = "Pattern"
    if allowed and operator in {Operator.IN, Operator.NOT_IN}:
        hint = f"{field} has {counted(len(allowed), 'legal value')}."
        if len(allowed) <= MAX_BOXES:
            values = [(value, True) for value in allowed]
            values += [(value, False) for value in chosen if value not in allowed]
        else:
            hint += f" For example {spoken(allowed[:3])}."
    return Offered(
        [
            (title, [(each.value, words) for each, words in entries.items()])
            for title, entries in GROUPS.items()
            if title in fitting or title == group
        ],
        values,
        label,
        hint,
        operator.takes_list,
        operator.can_ignore_case or inputs["caseInsensitive"],
    )


def _groups_for(allowed: Sequence[str]) -> set[str]:
    """The groups of operators that fit these legal values, or any value."""
    if not allowed:
        return set(GROUPS)
    fitting = {"Values", "Text"}
    for group, operator in (("Number", Operator.NUM_EQ), ("Version", Operator.SEMVER_EQ)):
        if all(problem(operator, value) is None for value in allowed):
            fitting.add(group)
    return fitting


def _operator(name: str) -> Operator:
    return Operator(name) if name in set(Operator) else Operator.IN


def as_inputs(constraint: Constraint) -> Inputs:
    return {
        "contextName": constraint["contextName"],
        "operator": constraint["operator"],
        "values": "\n".join(values_of(constraint)),
        "inverted": constraint["inverted"],
        "caseInsensitive": constraint["caseInsensitive"],
    }


def as_json(inputs: Inputs) -> dict[str, Any]:
    """A constraint as clients send it."""
    known = inputs["operator"] in set(Operator)
    takes_list = known and Operator(inputs["operator"]).takes_list
    text = inputs["values"].strip()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return {
        "contextName": inputs["contextName"],
        "operator": inputs["operator"],
        "inverted": inputs["inverted"],
        "caseInsensitive": inputs["caseInsensitive"],
        **({"values": lines} if takes_list else {"value": text}),
    }
