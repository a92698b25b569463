"""Constraints as strategies and segments store them, and as SDKs read them."""

from typing import NotRequired, TypedDict

MAX_CONSTRAINTS = 30
MAX_VALUES = 250


class Constraint(TypedDict):
    """A condition on a context field. ``values`` or ``value``: what the operator compares with."""

    contextName: str
    operator: str
    values: NotRequired[list[str]]
    value: NotRequired[str]
    inverted: bool
    caseInsensitive: bool


def values_of(constraint: Constraint) -> list[str]:
    """The values that the field is compared with; one if the operator takes no list."""
    return constraint.get("values") or [constraint.get("value", "")]
