"""Constraints as entries of a form."""

from typing import Any

from app.catalogue.constraints.models import Constraint, values_of
from app.catalogue.constraints.operators import Operator
from app.catalogue.constraints.words import GROUPS
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
OPERATORS = [
    (title, [(operator.value, words) for operator, words in entries.items()])
    for title, entries in GROUPS.items()
]
"""(group, [(operator, label)])"""


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
