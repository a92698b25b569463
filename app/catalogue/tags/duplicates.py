"""Tags of one type that are spelled nearly alike, so that one of them may be a mistake."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import NamedTuple

import sqlalchemy as sa
from rapidfuzz.distance import OSA

from app.catalogue.tags import service
from app.catalogue.tags.models import Tag, TagName
from app.core.actor import Actor
from app.core.db import db
from app.core.words import nfc

COMPARED = 5_000
"""Limit for the tags that are compared."""
LONG = 5
"""Minimum length of words in which one other letter is more likely a typo than another word."""
MANY = 20
"""If so many words differ in one letter, it is on purpose."""

_digits = re.compile(r"\d+")
_punctuation = re.compile(r"[\W_]+")


class NameDifference(StrEnum):
    CASE = "case"
    PUNCTUATION = "punctuation"
    PLURAL = "plural"
    LETTER = "letter"


class Used(NamedTuple):
    """A tag, and how many features have it."""

    id: int
    tag: TagName
    used: int


@dataclass(frozen=True, slots=True)
class Pair:
    """``less`` is the one that is used less, so it is the one to merge into ``more``."""

    less: Used
    more: Used
    difference: NameDifference


def pairs(actor: Actor) -> list[Pair]:
    """All pairs, sorted from the least difference. Only features that the actor can see count."""
    found = service.search(actor, limit=COMPARED, offset=0, sort="-used").items
    return pairs_in(Used(row.id, TagName(row.type, row.value), row.used) for row in found)


def likely() -> list[Pair]:
    """Pairs that certainly mean the same word, among the COMPARED oldest tags. Uses count as 0."""
    query = sa.select(Tag.id, Tag.type, Tag.value).order_by(Tag.id).limit(COMPARED)
    found = db.session.execute(query)
    tags = (Used(id, TagName(type, value), 0) for id, type, value in found)
    return pairs_in(tags, guesses=False)


def pairs_in(tags: Iterable[Used], *, guesses: bool = True) -> list[Pair]:
    """The pairs among these tags. ``guesses``: also those that differ in a letter."""
    words: defaultdict[tuple[str, str], list[Used]] = defaultdict(list)
    for each in tags:
        words[each.tag.type, _word(each.tag.value)].append(each)
    found = [pair for spellings in words.values() for pair in _with_main(spellings)]
    if guesses:
        mains = {key: max(spellings, key=_weight) for key, spellings in words.items()}
        found += [
            _pair(mains[one], mains[other], NameDifference.LETTER) for one, other in _typos(mains)
        ]
    order = list(NameDifference)
    return sorted(
        found, key=lambda pair: (order.index(pair.difference), -pair.more.used, pair.less.tag)
    )


def _with_main(spellings: list[Used]) -> Iterator[Pair]:
    """Pair each spelling of a word with the one that is used most."""
    main = max(spellings, key=_weight)
    for each in spellings:
        if each is not main:
            yield _pair(each, main, _difference(each.tag.value, main.tag.value))


def _typos(words: Iterable[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Pairs of words of one type that differ in one letter: added, missing, other or swapped.

    Deleting at most one letter from each word of a pair can leave the same text. So only words that
    share such a text are compared, not all with all.
    """
    left: defaultdict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    for type, word in words:
        if len(word) >= LONG:
            for rest in {word, *(word[:place] + word[place + 1 :] for place in range(len(word)))}:
                left[type, rest].add((type, word))
    groups = (sorted(near) for near in left.values() if len(near) < MANY)
    seen = {pair for near in groups for pair in combinations(near, 2)}
    for one, other in sorted(seen):
        # Words like team1 and team2 differ on purpose.
        is_number = _digits.sub("", one[1]) == _digits.sub("", other[1])
        if not is_number and OSA.distance(one[1], other[1], score_cutoff=1) <= 1:
            yield one, other


def _pair(one: Used, other: Used, difference: NameDifference) -> Pair:
    less, more = sorted((one, other), key=_weight)
    return Pair(less, more, difference)


def _weight(each: Used) -> tuple[int, int]:
    """Sort key: the tag with more uses ranks higher, and of two with as many the older one."""
    return each.used, -each.id


def _difference(one: str, other: str) -> NameDifference:
    if _folded(one) == _folded(other):
        return NameDifference.CASE
    if _plain(one) == _plain(other):
        return NameDifference.PUNCTUATION
    return NameDifference.PLURAL


def _folded(value: str) -> str:
    return nfc(value).casefold()


def _plain(value: str) -> str:
    return _punctuation.sub("", _folded(value))


def _word(value: str) -> str:
    """The value without case, punctuation and plural ending, which make no other word of it."""
    plain = _plain(value) or _folded(value)
    if len(plain) < LONG or plain.endswith("ss"):
        return plain
    return f"{plain[:-3]}y" if plain.endswith("ies") else plain.removesuffix("s")
