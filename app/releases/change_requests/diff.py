"""The diff of a change: both sides as sentences, with the phrases that differ marked."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from app.catalogue.constraints.words import Phrase, Sentence, all_of, describe_all
from app.catalogue.features.delivered import Document
from app.catalogue.segments.models import Segment
from app.catalogue.strategies import words
from app.catalogue.strategies.models import Strategy
from app.catalogue.strategies.service import blank
from app.core.words import counted
from app.releases.change_requests.models import PLAN, Action, Change
from app.releases.change_requests.snapshots import SubjectSnapshot

Names = Mapping[int, str]
"""The names of segments by id."""

JOINTS = {", ", " or ", " and "}
"""Phrases that only join two values."""


class DiffSpan(NamedTuple):
    """Consecutive phrases of a sentence. ``is_changed``: the other sentence lacks them."""

    phrases: Sentence
    is_changed: bool


class Field(NamedTuple):
    """A field of a snapshot as JSON texts; None where it is missing."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class DiffSide:
    """``state``: (kind, label) of the rollout. ``lines``: sentences; several strategies are joined
    by “or”. ``others``: sentences about all strategies. ``note``: text shown if there are no lines.
    """

    state: tuple[str, str] | None = None
    lines: list[list[DiffSpan]] = field(default_factory=list)
    others: list[list[DiffSpan]] = field(default_factory=list)
    note: str = ""


Sides = tuple[DiffSide, DiffSide]


def sides(change: Change, before: SubjectSnapshot, after: SubjectSnapshot, names: Names) -> Sides:
    """Describe the subject of ``change`` in both snapshots, with the differences marked."""
    if before is None or after is None:
        return _whole(change, before, names), _whole(change, after, names)
    return _DESCRIBERS[change.action](change, before, after, names)


def segment_ids(*snapshots: SubjectSnapshot) -> set[int]:
    """Ids of the segments that strategies in the snapshots use."""
    return {
        id
        for snapshot in snapshots
        for strategy in (snapshot or {}).get("strategies", ())
        for id in strategy.get("segments", ())
    }


def segments_in(*documents: Document | None) -> set[int]:
    """Ids of the segments that strategies in the documents use."""
    return {
        segment["id"]
        for document in documents
        for part in (document or {}, *_later(document))
        for strategy in part.get("strategies") or ()
        for segment in strategy["segments"]
    }


def documents(before: Document | None, after: Document | None, names: Names) -> Sides:
    """Describe what applications get of a feature, with the differences marked."""
    was, now = _strategies(before, names), _strategies(after, names)
    if len(was) == len(now):
        pairs = [marked(*pair) for pair in zip(was, now, strict=True)]
        left, right = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    else:
        left, right = _lacking(was, now), _lacking(now, was)
    was, now = _others(before, names), _others(after, names)
    return _side(before, left, _lacking(was, now)), _side(after, right, _lacking(now, was))


def _lacking(sentences: list[Sentence], others: list[Sentence]) -> list[list[DiffSpan]]:
    """Sentences, marked as a whole if the others lack them."""
    return [[DiffSpan(each, is_changed=each not in others)] for each in sentences]


def _side(
    document: Document | None, lines: list[list[DiffSpan]], others: list[list[DiffSpan]]
) -> DiffSide:
    state = ("off", "Off") if document is None else None
    return DiffSide(state=state, lines=lines, others=others)


def _strategies(document: Document | None, names: Names) -> list[Sentence]:
    return [_of_document(strategy, names) for strategy in (document or {}).get("strategies", ())]


def _others(document: Document | None, names: Names) -> list[Sentence]:
    """A sentence for each other part of a document."""
    if document is None:
        return []
    sentences: list[Sentence] = []
    if document["variants"]:
        sentences.append([Phrase("Variants: "), *_split(document["variants"])])
    sentences += [
        _dependency([{**rule, "parent": rule["feature"]}]) for rule in document["dependencies"]
    ]
    if document["impressionData"]:
        sentences.append([Phrase("With impression data")])
    return sentences + [_of_step(*each, names) for each in enumerate(_later(document), 2)]


def _later(document: Document | None) -> list[Any]:
    """The steps after the first one of the release that an outcome starts."""
    found: list[Any] = (document or {}).get(PLAN, {}).get("steps", [])
    return found[1:]


def _of_step(number: int, step: Any, names: Names) -> Sentence:
    """``Step 2, 25%: on for 25% of users``, with what its segments contain."""
    sentence = [Phrase(f"Step {number}, {step['name']}: ")]
    for place, strategy in enumerate(step["strategies"] or ()):
        sentence += [Phrase(" or for " if place else "on for "), *_of_document(strategy, names)[1:]]
    return sentence


def _of_document(strategy: Any, names: Names) -> Sentence:
    used = strategy["segments"]
    plain = {"title": None, "disabled": False, "segments": [segment["id"] for segment in used]}
    restored = _restored({**strategy, **plain}, names)
    sentence = words.describe(restored)
    for segment, named in zip(used, restored.segments, strict=True):
        members = describe_all(segment["constraints"]) or [Phrase("everyone")]
        sentence += [Phrase("; in "), Phrase(named.name, "strong"), Phrase(": "), *members]
    if strategy["variants"]:
        sentence += [Phrase("; variants "), *_split(strategy["variants"])]
    return sentence


def differing(change: Change, before: SubjectSnapshot, after: SubjectSnapshot) -> list[Field]:
    """Fields that differ: of the strategy if the change edits one, else of the whole snapshot."""
    if change.action is Action.UPDATE_STRATEGY:
        strategies = _strategy_in(before, change), _strategy_in(after, change)
        if None not in strategies:
            return fields(*strategies)
    return fields(before or {}, after or {})


def _whole(change: Change, snapshot: SubjectSnapshot, names: Names) -> DiffSide:
    if snapshot is None:
        return DiffSide(note="Deleted")
    # Compared with itself, so that nothing is marked as changed.
    return _DESCRIBERS[change.action](change, snapshot, snapshot, names)[0]


def _describe_states(_: Change, before: Any, after: Any, names: Names) -> Sides:
    return _state(before, names), _state(after, names)


def _state(snapshot: Any, names: Names) -> DiffSide:
    if snapshot["archived"]:
        return DiffSide(note="Archived. Applications get “off”")
    strategies = [_restored(each, names) for each in snapshot["strategies"]]
    now = words.short(strategies, enabled=snapshot["enabled"])
    if now.mark == "off":
        return DiffSide(state=(now.mark, now.word))
    active = [strategy for strategy in strategies if not strategy.disabled]
    if len(active) == 1:
        return DiffSide(state=(now.mark, words.summary(active[0])))
    return DiffSide((now.mark, "On"), [unmarked(words.describe(each)) for each in active])


def _describe_strategies(change: Change, before: Any, after: Any, names: Names) -> Sides:
    """Describe one strategy, with the state of the feature if that changes too."""
    strategies = [_strategy_in(snapshot, change) for snapshot in (before, after)]
    sentences = [[] if each is None else _sentence(each, names) for each in strategies]
    missing = "Not added yet" if change.action is Action.ADD_STRATEGY else "Deleted"
    is_switched = before["enabled"] != after["enabled"]
    was, now = (
        DiffSide(
            state=_short_state(snapshot) if is_switched else None,
            lines=[] if strategy is None else [spans],
            note=missing if strategy is None else "",
        )
        for snapshot, strategy, spans in zip(
            (before, after), strategies, marked(*sentences), strict=True
        )
    )
    return was, now


def _short_state(snapshot: Any) -> tuple[str, str]:
    return ("on", "On") if snapshot["enabled"] else ("off", "Off")


def _describe_orders(_: Change, before: Any, after: Any, names: Names) -> Sides:
    was, now = (
        DiffSide(lines=[unmarked(_sentence(each, names)) for each in snapshot["strategies"]])
        for snapshot in (before, after)
    )
    return was, now


def _describe_variants(_: Change, before: Any, after: Any, __: Names) -> Sides:
    return _marked_sides(_split(before["variants"]), _split(after["variants"]), "No variants")


def _describe_parents(_: Change, before: Any, after: Any, __: Names) -> Sides:
    was, now = (_dependency(snapshot["parents"]) for snapshot in (before, after))
    return _marked_sides(was, now, "Depends on no feature")


def _describe_impressions(_: Change, before: Any, after: Any, __: Names) -> Sides:
    return _marked_sides(_impressions(before), _impressions(after), "")


def _impressions(snapshot: Any) -> Sentence:
    with_or_without = "With" if snapshot["impressionData"] else "Without"
    return [Phrase(with_or_without, "strong"), Phrase(" impression data")]


def _describe_segments(_: Change, before: Any, after: Any, __: Names) -> Sides:
    return _marked_sides(_members(before), _members(after), "No constraints")


def _describe_project(_: Change, before: Any, after: Any, __: Names) -> Sides:
    return _marked_sides(_project(before), _project(after), "")


def _project(snapshot: Any) -> Sentence:
    if snapshot["archived"]:
        return [Phrase("The project is archived")]
    if not snapshot["used"]:
        return [Phrase("The project does not use this environment")]
    number = snapshot["requiredApprovals"]
    approvals = counted(number, "approval") if number else "no approval"
    return [Phrase("Changes need "), Phrase(approvals, "strong")]


def _marked_sides(before: Sentence, after: Sentence, missing: str) -> Sides:
    was, now = marked(before, after)
    return (
        DiffSide(lines=[was] if before else [], note="" if before else missing),
        DiffSide(lines=[now] if after else [], note="" if after else missing),
    )


def _members(segment: Any) -> Sentence:
    name = [Phrase(segment["name"], "strong"), Phrase(": ")]
    return [*name, *(describe_all(segment["constraints"]) or [Phrase("everyone")])]


def _dependency(parents: list[Any]) -> Sentence:
    if not parents:
        return []
    [rule] = parents
    sentence = [Phrase("Depends on "), Phrase(rule["parent"], "field")]
    if not rule["enabled"]:
        return [*sentence, Phrase(" being off")]
    if rule.get("variants"):
        return [*sentence, Phrase(" in variant "), *all_of(rule["variants"])]
    return sentence


def _split(variants: list[Any]) -> Sentence:
    sentence: Sentence = []
    for share in words.shares(variants):
        sentence += [Phrase(", ")] if sentence else []
        sentence += [Phrase(share.name, "field"), Phrase(" "), Phrase(share.percent, "strong")]
    return sentence


def _sentence(snapshot: Any, names: Names) -> Sentence:
    """Everything about a strategy in one sentence: pause, audience, variants and title."""
    strategy = _restored(snapshot, names)
    sentence = [Phrase("Paused: ")] if strategy.disabled else []
    sentence += words.describe(strategy)
    if strategy.variants:
        sentence += [Phrase("; variants "), *_split(strategy.variants)]
    if strategy.title:
        sentence += [Phrase("; titled "), Phrase(strategy.title, "strong")]
    return sentence


def described(fields: Mapping[str, Any], names: Names) -> Strategy:
    """The strategy of a payload, to describe it in a sentence; never saved."""
    return _restored({"disabled": False, **blank(), **fields}, names)


def _restored(snapshot: Any, names: Names) -> Strategy:
    """Rebuild a strategy from its JSON snapshot; never saved."""
    given = {
        name: snapshot[name] for name in ("name", "title", "disabled", "parameters", "constraints")
    }
    # A segment without a name was deleted after the snapshot.
    segments = [Segment(name=names.get(id, f"number {id}")) for id in snapshot["segments"]]
    return Strategy(**given, segments=segments, variants=snapshot["variants"])


def _strategy_in(snapshot: Any, change: Change) -> Any:
    id = change.payload["id"]
    return next((strategy for strategy in snapshot["strategies"] if strategy["id"] == id), None)


_DESCRIBERS: dict[Action, Callable[[Change, Any, Any, Names], Sides]] = {
    Action.UPDATE_ENABLED: _describe_states,
    Action.ADD_STRATEGY: _describe_strategies,
    Action.UPDATE_STRATEGY: _describe_strategies,
    Action.DELETE_STRATEGY: _describe_strategies,
    Action.REORDER_STRATEGY: _describe_orders,
    Action.PATCH_VARIANT: _describe_variants,
    Action.ARCHIVE_FEATURE: _describe_states,
    Action.ADD_DEPENDENCY: _describe_parents,
    Action.DELETE_DEPENDENCY: _describe_parents,
    Action.UPDATE_IMPRESSION_DATA: _describe_impressions,
    Action.ADD_RELEASE_PLAN: _describe_states,
    Action.START_MILESTONE: _describe_states,
    Action.UPDATE_SEGMENT: _describe_segments,
    Action.DELETE_SEGMENT: _describe_segments,
    Action.UPDATE_APPROVALS: _describe_project,
    Action.REMOVE_ENVIRONMENT: _describe_project,
    Action.ARCHIVE_PROJECT: _describe_project,
}
"""Functions that describe both sides of an action’s subject."""


def marked(before: Sentence, after: Sentence) -> tuple[list[DiffSpan], list[DiffSpan]]:
    """Both sentences as spans, with the phrases marked that the other one lacks."""
    was, now = _significant(before), _significant(after)
    matcher = SequenceMatcher(
        None, [before[n] for n in was], [after[n] for n in now], autojunk=False
    )
    removed, added = set(was), set(now)
    for block in matcher.get_matching_blocks():
        removed -= set(was[block.a : block.a + block.size])
        added -= set(now[block.b : block.b + block.size])
    return _spans(before, removed), _spans(after, added)


def unmarked(sentence: Sentence) -> list[DiffSpan]:
    return [DiffSpan(sentence, is_changed=False)]


def fields(before: Any, after: Any) -> list[Field]:
    """Fields that differ, with paths like ``strategies[0].parameters.rollout``."""
    was, now = dict(_leaves(before, "")), dict(_leaves(after, ""))
    return [
        Field(path, was.get(path), now.get(path))
        for path in {**was, **now}
        if was.get(path) != now.get(path)
    ]


def _significant(sentence: Sentence) -> list[int]:
    """Indexes of phrases other than joints."""
    return [place for place, phrase in enumerate(sentence) if phrase.text not in JOINTS]


def _spans(sentence: Sentence, changed: set[int]) -> list[DiffSpan]:
    spans: list[DiffSpan] = []
    for place, phrase in enumerate(sentence):
        # A joint counts as changed if the value after it is.
        is_changed = (place + 1 if phrase.text in JOINTS else place) in changed
        if spans and spans[-1].is_changed is is_changed:
            spans[-1].phrases.append(phrase)
        else:
            spans.append(DiffSpan([phrase], is_changed))
    return spans


def _leaves(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for name, member in value.items():
            yield from _leaves(member, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and any(isinstance(member, dict) for member in value):
        for number, member in enumerate(value):
            yield from _leaves(member, f"{path}[{number}]")
    elif path:
        yield path, json.dumps(value, ensure_ascii=False)
