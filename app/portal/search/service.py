"""Finds what an actor can see, by its name.

There is no index for this: all names are read. Both databases do that for 100,000 features in a few
milliseconds. They need no extension for it, and nothing has to be kept up to date.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from app.core.actor import Actor
from app.core.search import Hit, Kind, Searched
from app.portal.search import sources, suggestions
from app.portal.search.matching import Rank, rank
from app.portal.search.query import ParsedQuery, read
from app.portal.search.sources import PAGES

DISPLAY_LIMIT = 5
"""Hits of a kind, where all kinds are shown."""
FEW = 5
"""With fewer matches, descriptions of features are searched too, which takes longest."""


class PageEntry(NamedTuple):
    """A page or an action that the actor can open. ``words``: other words that find it."""

    hit: Hit
    words: str = ""

    @property
    def text(self) -> str:
        return f"{self.hit.name} {self.hit.about} {self.words}".lower()


@dataclass(frozen=True, slots=True)
class HitGroup:
    """The hits of one kind that are shown. ``has_more``: whether more than ``total`` match."""

    kind: Kind
    hits: list[Hit]
    total: int
    has_more: bool = False
    best: Rank = Rank.ELSEWHERE


@dataclass(frozen=True, slots=True)
class Results:
    """``suggestion``: a similar name, if nothing was found."""

    query: ParsedQuery
    groups: list[HitGroup]
    suggestion: str | None = None

    @property
    def total(self) -> int:
        return sum(group.total for group in self.groups)

    @property
    def has_more(self) -> bool:
        return any(group.has_more for group in self.groups)


def search(
    actor: Actor,
    typed: str,
    *,
    kind: str | None = None,
    limit: int = DISPLAY_LIMIT,
    offset: int = 0,
    pages: Sequence[PageEntry] = (),
) -> Results:
    """Return matches in groups by kind. Groups with exactly this name come first."""
    query = _checked(read(typed))
    if query.is_empty and not query.only_pages:
        return Results(query, [])
    part = slice(offset, offset + limit)
    searched = [source for source in _searched(query) if kind in (None, source.kind.name)]
    groups = [_group(actor, source, query, part) for source in searched]
    if kind not in (None, PAGES.name) or query.state is not None:
        pages = ()
    groups.append(_pages(query, pages, part))
    if sum(group.total for group in groups) < FEW:
        for at, source in enumerate(searched):
            if source.late:
                groups[at] = _group(actor, source, query, part, everywhere=True)
    found = [group for group in groups if group.total]
    found.sort(key=lambda group: group.best is not Rank.EXACT)
    if found or query.state is not None:
        return Results(query, found)
    titles = [entry.hit.name for entry in pages]
    return Results(query, [], suggestions.near(actor, query.text, searched, titles))


def kinds(actor: Actor) -> list[Kind]:
    """Return the kinds that the actor can search."""
    return [*(one.kind for one in sources.SEARCHED if one.visible(actor) is not None), PAGES]


def _checked(query: ParsedQuery) -> ParsedQuery:
    """Return the query with the exact name of the environment.

    If there is no such environment, ``on:…`` is a word like any other.
    """
    if query.state is None:
        return query
    is_on, environment = query.state
    name = sources.environments().get(environment.lower())
    return query.as_text() if name is None else replace(query, state=(is_on, name))


def _searched(query: ParsedQuery) -> list[Searched]:
    if query.only_pages:
        return []
    if query.state is not None:
        return [one for one in sources.SEARCHED if one.in_state is not None]
    return sources.SEARCHED


def _group(
    actor: Actor, source: Searched, query: ParsedQuery, part: slice, *, everywhere: bool = False
) -> HitGroup:
    found = sources.found(actor, source, query, everywhere=everywhere)
    total = min(len(found), sources.MAX_ROWS)
    best = found[0].rank if found else Rank.ELSEWHERE
    rows = [match.row for match in found[:total][part]]
    hits = source.hits(actor, rows) if rows else []
    return HitGroup(source.kind, hits, total, len(found) > sources.MAX_ROWS, best)


def _pages(query: ParsedQuery, pages: Sequence[PageEntry], part: slice) -> HitGroup:
    words = query.words
    ranked = [
        (rank(words, [entry.hit.name]), entry.hit)
        for entry in pages
        if all(word in entry.text for word in words)
    ]
    ranked.sort(key=lambda one: one[0])
    best = ranked[0][0] if ranked else Rank.ELSEWHERE
    return HitGroup(PAGES, [hit for _, hit in ranked[part]], len(ranked), best=best)
