"""Two people changed the same thing: what each of them wants, side by side."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Side(NamedTuple):
    """One part that differs, in words; ``is_mine`` says whether the later one has changed it."""

    part: str
    label: str
    original: str
    theirs: str
    mine: str
    is_mine: bool


def sides(
    labels: Mapping[str, str],
    seen: Mapping[str, Any],
    present: Mapping[str, Any],
    wanted: Mapping[str, Any],
) -> list[Side]:
    """The parts in which ``present`` and ``wanted`` differ, both having begun as ``seen``."""
    return [
        Side(
            part,
            label,
            in_words(seen[part]),
            in_words(theirs),
            in_words(mine),
            mine != seen[part],
        )
        for part, label in labels.items()
        if (theirs := present[part]) != (mine := wanted[part])
    ]


def in_words(value: Any) -> str:
    """A value of a form for people's eyes."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        value = [f"{name}: {number}" for name, number in sorted(value.items())]
    if isinstance(value, list):
        value = ", ".join(value)
    return str(value) or "nothing"
