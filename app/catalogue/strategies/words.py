"""Strategies as people read them: ``On for 25% of users, by userId, where country is NO``."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from app.catalogue.constraints.words import Phrase, Sentence, all_of, any_of, describe_all, plain
from app.catalogue.strategies import types
from app.catalogue.strategies.models import Strategy, Variant

WHOLE, GAP, HUES = 1_000, 6, 8


class RolloutState(StrEnum):
    """Who a feature reaches in an environment."""

    EVERYONE = "everyone"
    SOME = "some"
    NO_ONE = "no one"
    OFF = "off"


def describe(strategy: Strategy) -> Sentence:
    """One strategy; the first phrase is “On for”."""
    sentence = [Phrase("On for "), *_who(strategy)]
    comma = "" if plain(sentence[1:]) == "everyone" else ","
    if strategy.constraints:
        sentence += [Phrase(f"{comma} where "), *describe_all(strategy.constraints)]
        comma = ","
    if strategy.segments:
        which = "segment" if len(strategy.segments) == 1 else "segments"
        names = all_of([segment.name for segment in strategy.segments])
        sentence += [Phrase(f"{comma} in {which} "), *names]
    return sentence


def summary(strategy: Strategy) -> str:
    """The sentence as plain text."""
    return ("Paused: " if strategy.disabled else "") + plain(describe(strategy))


def together(strategies: Sequence[Strategy]) -> str:
    """All strategies in one sentence: ``On for everyone in segment Staff, or for 5% of users``."""
    active = [summary(each) for each in strategies if not each.disabled]
    first, *others = active or ["On for no one"]
    return first + "".join(f", or {each.removeprefix('On ')}" for each in others)


def share(strategies: Sequence[Strategy]) -> int:
    """The largest share of all users that a strategy gives the feature to, in percent."""
    shares = [
        types.ALL if each.name == types.EVERYONE else types.percent(each.name, each.parameters)
        for each in strategies
        if not (each.disabled or _is_limited(each))
    ]
    return max((found for found in shares if found is not None), default=0)


def reached(strategies: Sequence[Strategy]) -> str:
    """People with the feature: ``everyone``, ``25% of users``, ``everyone in segment Staff``."""
    active = [each for each in strategies if not each.disabled]
    most = share(active)
    if most == types.ALL:
        return "everyone"
    if most:
        return f"{most}% of users"
    rest = [each for each in active if types.percent(each.name, each.parameters) != 0]
    return plain(describe(rest[0])[1:]) if rest else "no one"


def reach(strategies: Sequence[Strategy], *, enabled: bool) -> RolloutState:
    """Who these strategies reach together."""
    if not enabled:
        return RolloutState.OFF
    shares = [
        (types.percent(strategy.name, strategy.parameters), _is_limited(strategy), strategy.name)
        for strategy in strategies
        if not strategy.disabled
    ]
    if any(
        share == types.ALL or (share is None and name == types.EVERYONE)
        for share, is_limited, name in shares
        if not is_limited
    ):
        return RolloutState.EVERYONE
    return RolloutState.NO_ONE if all(share == 0 for share, _, _ in shares) else RolloutState.SOME


class ShortState(NamedTuple):
    """``word``: ``On``, ``Off``, ``25%``, ``Segment``, ``2 strategies``.

    ``mark``: how ``.state`` draws it. ``share``: the percentage, where it is the word.
    """

    word: str
    mark: str
    share: int | None = None


_PLAIN = {
    RolloutState.OFF: ShortState("Off", "off"),
    RolloutState.EVERYONE: ShortState("On", "on"),
    RolloutState.NO_ONE: ShortState("0%", "none", 0),
}


def short(strategies: Sequence[Strategy], *, enabled: bool) -> ShortState:
    """The state in a word or two, for lists."""
    reached = reach(strategies, enabled=enabled)
    if reached is not RolloutState.SOME:
        return _PLAIN[reached]
    active = [strategy for strategy in strategies if not strategy.disabled]
    shares = {types.percent(strategy.name, strategy.parameters) for strategy in active}
    share = shares.pop() if len(shares) == 1 else None
    if share not in {None, types.ALL}:
        return ShortState(f"{share}%", "some", share)
    if len(active) > 1:
        return ShortState(f"{len(active)} strategies", "some")
    for one, limits in (("Segment", active[0].segments), ("Constraint", active[0].constraints)):
        if limits:
            return ShortState(one if len(limits) == 1 else f"{len(limits)} {one.lower()}s", "some")
    return ShortState("1 strategy", "some")


class Share(NamedTuple):
    """A part of a bar that is 1,000 wide, such as a variant."""

    name: str
    percent: str
    start: int
    width: int
    hue: int


def shares(variants: Sequence[Variant]) -> list[Share]:
    """Variants as parts of one bar."""
    return bar([(variant["name"], variant["weight"]) for variant in variants])


def bar(parts: Sequence[tuple[str, int]]) -> list[Share]:
    """Parts of one bar, from (name, weight) pairs that add up to at most WHOLE."""
    drawn, start = [], 0
    for place, (name, weight) in enumerate(parts):
        percent = f"{weight / 10:.1f}".removesuffix(".0") + "%"
        gap = GAP if start + weight < WHOLE else 0
        drawn.append(Share(name, percent, start, max(weight - gap, 0), place % HUES + 1))
        start += weight
    return drawn


def _is_limited(strategy: Strategy) -> bool:
    return bool(strategy.constraints or strategy.segments)


def _who(strategy: Strategy) -> Sentence:
    parameters, name = strategy.parameters, strategy.name
    share = types.percent(name, parameters)
    if name == types.EVERYONE or share == types.ALL:
        return [Phrase("everyone", "strong")]
    if share is not None:
        return _share(share, _stickiness(name, parameters.get("stickiness", "default")))
    if name == "userWithId":
        return [
            Phrase("userId", "field"),
            Phrase(" "),
            *_any_of(parameters["userIds"]),
        ]
    if name == "remoteAddress":
        return [Phrase("the address "), *_any_of(parameters["IPs"])]
    if name == "applicationHostname":
        return [Phrase("the host "), *_any_of(parameters["hostNames"])]
    return [Phrase("the people that "), Phrase(name, "strong"), Phrase(" chooses")]


def _any_of(list: str) -> Sentence:
    return any_of(types.listed(list))


def _share(share: int, stickiness: str) -> Sentence:
    if stickiness == "random":
        return [Phrase(f"{share}%", "strong"), Phrase(" of requests, at random")]
    start = [Phrase(f"{share}%", "strong"), Phrase(" of users, by ")]
    if stickiness == "default":
        return [*start, Phrase("userId", "field"), Phrase(" or "), Phrase("sessionId", "field")]
    return [*start, Phrase(stickiness, "field")]


def _stickiness(name: str, chosen: str) -> str:
    of_old = {
        "gradualRolloutUserId": "userId",
        "gradualRolloutSessionId": "sessionId",
        "gradualRolloutRandom": "random",
    }
    return of_old.get(name, chosen)
