"""A plan in words, for the command line and for pages."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import zip_longest
from typing import Any

from app.catalogue.segments.models import Segment
from app.catalogue.strategies.models import Strategy
from app.catalogue.strategies.words import summary, together
from app.core.words import counted, lasting, spoken
from app.exchange.documents.documents import Item, Kind, place_of
from app.exchange.documents.plans import Choice, Difference, Entry, Plan, Status

MAX_CHARACTERS = 200
"""Longer values are cut."""
_SIGNS = {Status.NEW: "+", Status.DIFFERENT: "~", Status.IMPOSSIBLE: "!"}


def lines(plan: Plan) -> Iterator[str]:
    """The plan in lines: one for each thing, then its changes, indented."""
    for entry in plan.reported:
        yield from _lines(entry)


def summary_of(plan: Plan) -> str:
    """``3 to create, 1 to change. 12 are the same.``"""
    written = plan.written
    new = sum(entry.current is None for entry in written)
    parts = [f"{new:,} to create", f"{len(written) - new:,} to change"]
    same = sum(entry.status is Status.SAME for entry in plan.entries)
    kept = sum(entry.status is Status.DIFFERENT and not entry.is_written for entry in plan.entries)
    faulty = [e for e in plan.entries if e.status is Status.IMPOSSIBLE and not e.is_written]
    sentences = [f"{', '.join(parts)}.", f"{counted(same, 'is', 'are')} the same."]
    if kept:
        sentences.append(f"{counted(kept, 'differs', 'differ')} and stay as they are here.")
    if faulty:
        sentences.append(f"{len(faulty):,} can’t be done.")
    if proposed := proposals(plan.entries):
        sentences.append(f"Needs approval: {proposed}.")
    return " ".join(sentences)


def refusal(faults: Sequence[tuple[Kind, str, str]]) -> str:
    """Why nothing of a file was applied. ``faults``: of things, by kind and name."""
    first = "; ".join(f"{kind.one} {name}: {fault}" for kind, name, fault in faults[:3])
    return f"{counted(len(faults), 'thing')} of the file can’t be applied, so none was: {first}"


def proposals(entries: Iterable[Entry]) -> str:
    """What needs approval, and where; empty if nothing does."""
    places: Counter[tuple[str, str]] = Counter()
    lowered = []
    for entry in entries:
        for environment in entry.proposed if entry.item else ():
            if entry.kind is Kind.PROJECTS:
                lowered.append(f"fewer approvals in {environment} of {entry.name}")
            else:
                places[(entry.item or {})["project"], environment] += 1
    features = [
        f"{counted(number, 'feature')} in {environment} of {project}"
        for (project, environment), number in sorted(places.items())
    ]
    return spoken([*lowered, *features])


def value(found: Any) -> str:
    """A value of a document, as short as it can be read."""
    if found is None or found in ("", [], {}):
        return "nothing"
    if isinstance(found, bool):
        return "yes" if found else "no"
    text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}…"


def difference(found: Difference) -> str:
    """``production/enabled: no → yes``, ``step 2, strategy 1, rollout: 5 → 10``."""
    if found.path.startswith("milestones/"):
        in_words = {1: step, 3: _in_step}.get(found.path.count("/"), value)
        here, there = (value(None) if each is None else in_words(each) for each in found[1:])
        return f"{place_of(found.path)}: {here} → {there}"
    path = found.path.removeprefix("environments/")
    return f"{path}: {value(found.here)} → {value(found.there)}"


def in_short(kind: Kind, item: Item | None, other: Item | None) -> str:
    """A short text about a thing where it differs from the other one."""
    if item is None or other is None:
        return ""
    if kind is Kind.FEATURES:
        if item["project"] != other["project"]:
            return f"in project {item['project']}"
        for name in sorted({*item["environments"], *other["environments"]}):
            if item["environments"].get(name) != other["environments"].get(name):
                return f"{state(item['environments'].get(name))} in {name}"
    if kind is Kind.RELEASE_TEMPLATES:
        pairs = zip_longest(item["milestones"], other["milestones"])
        for number, (own, others) in enumerate(pairs, start=1):
            if own != others:
                return f"step {number}: {step(own)}"
    keys = [key for key in item if item[key] != other.get(key)]
    return "; ".join(f"{key}: {value(item[key])}" for key in keys[:2])


def state(found: Item | None) -> str:
    """``on, 25% of people``."""
    if found is None:
        return "off"
    whom = spoken(strategy(each) for each in found["strategies"] if not each["disabled"])
    return " · ".join(filter(None, ("on" if found["enabled"] else "off", whom)))


def step(found: Item | None) -> str:
    """``25%: On for 25% of users, for 1 day``."""
    if found is None:
        return "nothing"
    condition, wait = found["transitionCondition"], ""
    if condition is not None:
        wait = f", for {lasting(timedelta(minutes=condition['intervalMinutes']))}"
        wait += " and until someone starts the next step" if condition["manual"] else ""
    return f"{found['name']}: {together([*map(_model, found['strategies'])])}{wait}"


def _in_step(found: Any) -> str:
    """A strategy of a step, or another value at that depth."""
    return (
        together([_model(found)]) if isinstance(found, dict) and "name" in found else value(found)
    )


def strategy(item: Item) -> str:
    return summary(_model(item | {"segments": []}))


def _model(item: Item) -> Strategy:
    """The strategy, to describe it; not stored."""
    fields = ("name", "title", "parameters", "constraints", "variants")
    segments = [Segment(name=name, constraints=[]) for name in item["segments"]]
    values = {key: item[key] for key in fields}
    return Strategy(disabled=item.get("disabled", False), segments=segments, **values)


def choice(found: Choice, entry: Entry, source: str) -> str:
    """The label of a choice’s button. ``source``: the name of the other side."""
    match found:
        case Choice.TAKE:
            return f"Use {source}’s" if entry.current else "Import"
        case Choice.KEEP:
            return "Keep what’s here"
        case Choice.SWITCHED_OFF:
            return "Import switched off, without what doesn’t fit"
        case Choice.RENAME:
            return f"Import as {entry.new_name if entry.name == entry.was else entry.name}"
    return "Leave out"


def _lines(entry: Entry) -> Iterator[str]:
    sign = _SIGNS.get(entry.status, " ")
    where = f" in {entry.item['project']}" if entry.kind is Kind.FEATURES and entry.item else ""
    yield f"{sign} {entry.kind.one} {entry.name}{where}"
    for fault in entry.faults:
        yield f"    {fault}"
    for found in entry.differences if entry.is_written else ():
        yield f"    {difference(found)}"
    for environment in entry.proposed:
        yield f"    {environment}: needs approval"
