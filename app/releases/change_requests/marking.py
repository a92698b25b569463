"""What differs between two sentences, and between two portraits."""

import json
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from app.catalogue.constraints.words import Sentence

JOINTS = {", ", " or ", " and "}


class Run(NamedTuple):
    """Phrases in a row that both sentences have, or that only this one has."""

    phrases: Sentence
    is_changed: bool


class Field(NamedTuple):
    """A field of a portrait as JSON texts; None where it is missing."""

    path: str
    before: str | None
    after: str | None


def marked(before: Sentence, after: Sentence) -> tuple[list[Run], list[Run]]:
    """Both sentences, each with the phrases that the other one lacks."""
    was, now = _telling(before), _telling(after)
    matcher = SequenceMatcher(
        None, [before[n] for n in was], [after[n] for n in now], autojunk=False
    )
    gone, new = set(was), set(now)
    for block in matcher.get_matching_blocks():
        gone -= set(was[block.a : block.a + block.size])
        new -= set(now[block.b : block.b + block.size])
    return _runs(before, gone), _runs(after, new)


def unmarked(sentence: Sentence) -> list[Run]:
    return [Run(sentence, is_changed=False)]


def fields(before: Any, after: Any) -> list[Field]:
    """The fields that differ, by their paths, like ``strategies[0].parameters.rollout``."""
    was, now = dict(_leaves(before, "")), dict(_leaves(after, ""))
    return [
        Field(path, was.get(path), now.get(path))
        for path in {**was, **now}
        if was.get(path) != now.get(path)
    ]


def _telling(sentence: Sentence) -> list[int]:
    """The places of phrases that say something, and don’t only join two values."""
    return [place for place, phrase in enumerate(sentence) if phrase.text not in JOINTS]


def _runs(sentence: Sentence, changed: set[int]) -> list[Run]:
    runs: list[Run] = []
    for place, phrase in enumerate(sentence):
        # What joins two values counts as changed with the value that it leads to.
        is_changed = (place + 1 if phrase.text in JOINTS else place) in changed
        if runs and runs[-1].is_changed is is_changed:
            runs[-1].phrases.append(phrase)
        else:
            runs.append(Run([phrase], is_changed))
    return runs


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for name, each in value.items():
            yield from _leaves(each, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        for number, each in enumerate(value):
            yield from _leaves(each, f"{path}[{number}]")
    elif path:
        yield path, json.dumps(value, ensure_ascii=False)
