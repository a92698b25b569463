"""The people who are asked about: one, or several where a value has commas."""

from collections.abc import Mapping
from itertools import product
from math import prod

from app.core.errors import Invalid

MOST_PEOPLE = 100
ONE_VALUE = frozenset({"currentTime"})
"""Fields without commas between values."""


def people(given: Mapping[str, str], path: str = "/context") -> list[dict[str, str]]:
    """Every combination of the values, in their order. Empty values are left out.

    Raises:
        Invalid: for more than MOST_PEOPLE.

    """
    values = {name: _values(name, value) for name, value in given.items()}
    some = {name: each for name, each in values.items() if each}
    number = prod(map(len, some.values()))
    if number > MOST_PEOPLE:
        raise Invalid.at(
            path,
            f"These values make {number:,} combinations. Leave at most {MOST_PEOPLE}: each comma "
            "multiplies them.",
        )
    return [dict(zip(some, each, strict=True)) for each in product(*some.values())]


def _values(name: str, value: str) -> list[str]:
    parts = [value] if name in ONE_VALUE else value.split(",")
    return list(dict.fromkeys(part.strip() for part in parts if part.strip()))
