"""What an event changed, field by field, in words."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from app.catalogue.constraints.words import describe, moment, plain
from app.core.events import words
from app.core.events.models import Event
from app.core.events.words import Naming, ValueChange
from app.core.words import humanize, spoken

LISTED = 20
"""Values of a list that are named. Of longer lists, what was added and what was removed."""

_is_time = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z").fullmatch


class Change(NamedTuple):
    """A field before and after, in words; None where there was nothing."""

    label: str
    before: str | None
    after: str | None


def changes(event: Event, naming: Naming, segments: Mapping[int, str]) -> list[Change]:
    """What differs between before and after. ``segments``: their names, by id."""
    return [
        change
        for difference in words.differences(event)
        if difference.field != "id" and (event.pre_data or difference.after)
        for change in _changes(difference, naming, segments)
    ]


def segment_ids(event: Event) -> set[int]:
    """The segments that the strategy of an event uses, before and after."""
    data = [part.get("segments") for part in (event.pre_data, event.data) if part]
    return {id for ids in data for id in ids or () if isinstance(id, int)}


def _changes(
    difference: ValueChange, naming: Naming, segments: Mapping[int, str]
) -> Iterator[Change]:
    field, (before, after) = difference.field, difference[1:3]
    label = difference.label
    if difference.inside == "members":
        label = naming.names.get(int(field), f"account {field}")
    if field == "segments":
        before, after = (_named(value, segments) for value in (before, after))
    if isinstance(before, list) and isinstance(after, list):
        yield from _long(label, before, after)
    was, now = (_in_words(field, value) for value in (before, after))
    if was == now and was:  # such as variants with another payload
        was, now = (_fully(field, value) for value in (before, after))
    if was != now:
        yield Change(label, was, now)


def _long(label: str, before: list[Any], after: list[Any]) -> Iterator[Change]:
    """What was added to a long list and removed from it, also to the values of a constraint."""
    for former in before:
        for present in after:
            if _is_same_constraint(former, present):
                yield from _long(present["contextName"], former["values"], present["values"])
    if max(len(before), len(after)) > LISTED:
        for word, those, others in (("added", after, before), ("removed", before, after)):
            if found := [value for value in those if value not in others]:
                yield Change(f"{label} {word}", None, spoken(map(_item, found), LISTED))


def _is_same_constraint(former: Any, present: Any) -> bool:
    """Whether both are constraints that differ in their values alone."""
    return (
        isinstance(former, dict)
        and isinstance(present, dict)
        and "values" in former
        and "values" in present
        and former | {"values": []} == present | {"values": []}
    )


def _in_words(field: str, value: Any) -> str | None:
    if value in (None, "", [], {}):
        return None
    if isinstance(value, list):
        is_long = len(value) > LISTED
        return f"{len(value):,} values" if is_long else spoken(map(_item, value), LISTED)
    if isinstance(value, str) and _is_time(value):
        return moment(value)
    return words.short(field, value) or _fully(field, value)


def _item(value: Any) -> str:
    """A value of a list."""
    match value:
        case {"contextName": _, "operator": _}:
            return plain(describe(value))
        case {"name": name, "weight": int(weight)}:
            return f"{name} {weight / 10:g}%"
        case {"type": type, "value": text, **rest} if not rest:
            return f"{type}:{text}"
        case {"name": name}:
            return str(name)
        case {"value": text}:
            return str(text)
    return str(_fully("", value))


def _fully(field: str, value: Any) -> str | None:
    """Everything in a value, without the marks of a data structure."""
    if isinstance(value, dict):
        parts = [(key, _fully(key, inner)) for key, inner in value.items()]
        return ", ".join(f"{humanize(key)} {text}" for key, text in parts if text)
    if isinstance(value, list):
        return spoken([_fully(field, inner) for inner in value], LISTED)
    return words.short(field, value) or (None if value in (None, "") else str(value))


def _named(ids: list[int] | None, segments: Mapping[int, str]) -> list[str]:
    return [segments.get(id, f"segment {id}") for id in ids or ()]
