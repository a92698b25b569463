"""Both sides of a change, as people read them: how it is, and how it would be."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.catalogue.constraints.words import Phrase, Sentence, all_of, told_all
from app.catalogue.segments.models import Segment
from app.catalogue.strategies import words
from app.catalogue.strategies.models import Strategy
from app.catalogue.strategies.words import Reach
from app.releases.change_requests import marking
from app.releases.change_requests.marking import Run
from app.releases.change_requests.models import Action, Change
from app.releases.change_requests.portraits import Portrait

Names = Mapping[int, str]
"""The names of segments by id."""

KINDS = {Reach.EVERYONE: "on", Reach.SOME: "some", Reach.NO_ONE: "none", Reach.OFF: "off"}


@dataclass(frozen=True, slots=True)
class Side:
    """``state``: whom it reaches, for a mark, with words. ``lines``: sentences; several are joined
    by “or” if they are strategies. ``note``: what there is instead.
    """

    state: tuple[str, str] | None = None
    lines: list[list[Run]] = field(default_factory=list)
    note: str = ""


Sides = tuple[Side, Side]


def sides(change: Change, before: Portrait, after: Portrait, names: Names) -> Sides:
    """What ``change`` is about in two portraits, told so that what differs is marked."""
    if before is None or after is None:
        return _whole(change, before, names), _whole(change, after, names)
    return _TELLERS[change.action](change, before, after, names)


def segment_ids(*portraits: Portrait) -> set[int]:
    """The segments that strategies in the portraits use."""
    return {
        id
        for portrait in portraits
        for strategy in (portrait or {}).get("strategies", ())
        for id in strategy["segments"]
    }


def differing(change: Change, before: Portrait, after: Portrait) -> list[marking.Field]:
    """The fields that differ: of the strategy, if the change is about one, or of all of it."""
    if change.action is Action.UPDATE_STRATEGY:
        found = _strategy_in(before, change), _strategy_in(after, change)
        if None not in found:
            return marking.fields(*found)
    return marking.fields(before or {}, after or {})


def _whole(change: Change, portrait: Portrait, names: Names) -> Side:
    if portrait is None:
        return Side(note="Deleted")
    return _TELLERS[change.action](change, portrait, portrait, names)[0]


def _states(_: Change, before: Any, after: Any, names: Names) -> Sides:
    return _state(before, names), _state(after, names)


def _state(portrait: Any, names: Names) -> Side:
    if portrait["archived"]:
        return Side(note="Archived. Applications get “off”")
    found = [_restored(each, names) for each in portrait["strategies"]]
    reach = words.reach(found, enabled=portrait["enabled"])
    if reach is Reach.OFF:
        return Side(state=("off", "Off"))
    live = [each for each in found if not each.disabled]
    if len(live) == 1:
        return Side(state=(KINDS[reach], words.summary(live[0])))
    return Side((KINDS[reach], "On"), [marking.unmarked(words.told(each)) for each in live])


def _strategies(change: Change, before: Any, after: Any, names: Names) -> Sides:
    """One strategy; with the state, if that changes too."""
    found = [_strategy_in(portrait, change) for portrait in (before, after)]
    told = [[] if each is None else _sentence(each, names) for each in found]
    runs = marking.marked(*told)
    missing = "Not added yet" if change.action is Action.ADD_STRATEGY else "Deleted"
    is_switched = before["enabled"] != after["enabled"]
    was, now = (
        Side(
            state=_short_state(portrait) if is_switched else None,
            lines=[line] if each is not None else [],
            note=missing if each is None else "",
        )
        for portrait, each, line in zip((before, after), found, runs, strict=True)
    )
    return was, now


def _short_state(portrait: Any) -> tuple[str, str]:
    return ("on", "On") if portrait["enabled"] else ("off", "Off")


def _orders(_: Change, before: Any, after: Any, names: Names) -> Sides:
    was, now = (
        Side(lines=[marking.unmarked(_sentence(each, names)) for each in portrait["strategies"]])
        for portrait in (before, after)
    )
    return was, now


def _variants(_: Change, before: Any, after: Any, __: Names) -> Sides:
    return _marked_sides(_split(before["variants"]), _split(after["variants"]), "No variants")


def _parents(_: Change, before: Any, after: Any, __: Names) -> Sides:
    was, now = (_dependency(portrait["parents"]) for portrait in (before, after))
    return _marked_sides(was, now, "Depends on no feature")


def _segments(_: Change, before: Any, after: Any, __: Names) -> Sides:
    return _marked_sides(_members(before), _members(after), "No constraints")


def _marked_sides(before: Sentence, after: Sentence, missing: str) -> Sides:
    was, now = marking.marked(before, after)
    return (
        Side(lines=[was] if before else [], note="" if before else missing),
        Side(lines=[now] if after else [], note="" if after else missing),
    )


def _members(segment: Any) -> Sentence:
    name = [Phrase(segment["name"], "strong"), Phrase(": ")]
    return [*name, *(told_all(segment["constraints"]) or [Phrase("everyone")])]


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
    """All that people can tell of a strategy, in one sentence."""
    strategy = _restored(snapshot, names)
    sentence = [Phrase("Paused: ")] if strategy.disabled else []
    sentence += words.told(strategy)
    if strategy.variants:
        sentence += [Phrase("; variants "), *_split(strategy.variants)]
    if strategy.title:
        sentence += [Phrase("; titled "), Phrase(strategy.title, "strong")]
    return sentence


def _restored(snapshot: Any, names: Names) -> Strategy:
    """The strategy that a portrait has as JSON; never saved."""
    given = {
        name: snapshot[name] for name in ("name", "title", "disabled", "parameters", "constraints")
    }
    segments = [Segment(name=names.get(id, f"number {id}")) for id in snapshot["segments"]]
    return Strategy(**given, segments=segments, variants=snapshot["variants"])


def _strategy_in(portrait: Any, change: Change) -> Any:
    wanted = (s for s in portrait["strategies"] if s["id"] == change.payload["id"])
    return next(wanted, None)


_TELLERS: dict[Action, Callable[[Change, Any, Any, Names], Sides]] = {
    Action.UPDATE_ENABLED: _states,
    Action.ADD_STRATEGY: _strategies,
    Action.UPDATE_STRATEGY: _strategies,
    Action.DELETE_STRATEGY: _strategies,
    Action.REORDER_STRATEGY: _orders,
    Action.PATCH_VARIANT: _variants,
    Action.ARCHIVE_FEATURE: _states,
    Action.ADD_DEPENDENCY: _parents,
    Action.DELETE_DEPENDENCY: _parents,
    Action.UPDATE_SEGMENT: _segments,
    Action.DELETE_SEGMENT: _segments,
}
