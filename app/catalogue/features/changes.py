"""What changes on which features: as a review groups it, and compares it with an earlier one."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from app.core.words import counted

PlannedChanges = list[list[Any]]
"""[feature, [what is added], [what is removed]] of each feature that changes; JSON can hold it."""


class ChangeGroup(NamedTuple):
    """Features with the same changes. ``marked``: those that an earlier review showed otherwise."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    names: list[str]
    marked: set[str]


def grouped(
    facts: PlannedChanges, unchanged: Collection[str] = (), marked: Collection[str] = ()
) -> list[ChangeGroup]:
    """The features by their changes, large groups first and those without changes last."""
    names: defaultdict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = defaultdict(list)
    for name, added, removed in facts:
        names[tuple(added), tuple(removed)].append(name)
    ordered = sorted(names.items(), key=lambda item: (-len(item[1]), item[0]))
    groups = [_group(added, removed, found, marked) for (added, removed), found in ordered]
    return [*groups, _group((), (), unchanged, marked)] if unchanged else groups


def differing(before: PlannedChanges, now: PlannedChanges) -> set[str]:
    """The features with other changes than before."""
    changes = [{name: change for name, *change in facts} for facts in (before, now)]
    names = {name for found in changes for name in found}
    return {name for name in names if changes[0].get(name) != changes[1].get(name)}


def verdict(changing: int, total: int) -> tuple[str, str]:
    """How many features change, and how many don't."""
    same = total - changing
    rest = f"{counted(same, 'feature is', 'features are')} already set." if same else ""
    if not changing:
        return "Nothing to change.", rest
    return f"{changing:,} of {counted(total, 'feature')} will change.", rest


def _group(
    added: tuple[str, ...], removed: tuple[str, ...], names: Iterable[str], marked: Collection[str]
) -> ChangeGroup:
    return ChangeGroup(added, removed, sorted(names), set(names).intersection(marked))
