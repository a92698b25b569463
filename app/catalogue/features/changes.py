"""Changes of features: grouped for a review, and compared with an earlier review."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from app.core.words import counted

ChangesByFeature = list[list[Any]]
"""[feature, [added], [removed]] for each feature that changes: texts, as JSON values."""


class ChangeGroup(NamedTuple):
    """Features with the same changes. ``marked``: names that differ from an earlier review."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    names: list[str]
    marked: set[str]


def grouped(
    facts: ChangesByFeature, unchanged: Collection[str] = (), marked: Collection[str] = ()
) -> list[ChangeGroup]:
    """Features grouped by their changes: large groups first, unchanged features last."""
    names: defaultdict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = defaultdict(list)
    for name, added, removed in facts:
        names[tuple(added), tuple(removed)].append(name)
    ordered = sorted(names.items(), key=lambda item: (-len(item[1]), item[0]))
    groups = [_group(added, removed, found, marked) for (added, removed), found in ordered]
    return [*groups, _group((), (), unchanged, marked)] if unchanged else groups


def differing(before: ChangesByFeature, now: ChangesByFeature) -> set[str]:
    """Features whose changes differ between two reviews."""
    old, new = ({name: change for name, *change in facts} for facts in (before, now))
    return {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}


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
