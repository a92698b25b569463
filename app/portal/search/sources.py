"""Searches the tables that the rooms declare, for rows that an actor can see."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.access import search as access
from app.accounts.tokens.models import HINT_LENGTH
from app.catalogue import search as catalogue
from app.catalogue.environments.models import Environment
from app.core.actor import Actor
from app.core.db import db, rows
from app.core.search import Kind, Searched
from app.delivery import search as delivery
from app.portal.search.matching import Rank, matches, rank, starts
from app.portal.search.query import ParsedQuery
from app.releases import search as releases

MAX_ROWS = 500
"""Limit of the rows of a kind that are counted and can be shown."""

PAGES = Kind(15, "pages", "Pages and actions")
SEARCHED = sorted(
    (*access.SEARCHED, *catalogue.SEARCHED, *delivery.SEARCHED, *releases.SEARCHED),
    key=attrgetter("kind.place"),
)
KINDS = [*(one.kind.name for one in SEARCHED), PAGES.name]
"""What can be found, in the order in which it is shown."""


class Match(NamedTuple):
    """A row that matches. ``order``: what it is sorted by."""

    row: Any
    rank: Rank
    order: tuple[Any, ...]


def found(
    actor: Actor, source: Searched, asked: ParsedQuery, *, everywhere: bool = False
) -> list[Match]:
    """Return up to MAX_ROWS + 1 matching rows that the actor can see, the best first.

    ``everywhere``: also in texts that are searched late, such as descriptions. Rows are read in any
    order and ranked here. If more than MAX_ROWS match, only some are read, since to sort all would
    take ten times as long. Names that equal the text or start with the words are read first.
    """
    visible = source.visible(actor)
    if visible is None:
        return []
    texts = () if source.late and not everywhere else source.beside
    condition = matches(asked.words, (*source.names, *texts))
    if source.hint is not None:
        condition = sa.or_(condition, source.hint == asked.text[-HINT_LENGTH:])
    query = sa.select(*source.columns, *source.names).where(condition, visible)
    if asked.state is not None and source.in_state is not None:
        query = query.where(source.in_state(*asked.state))
    read = rows(query.limit(MAX_ROWS + 1))
    if len(read) > MAX_ROWS:
        is_exact = sa.or_(*(name == asked.text for name in source.names))  # uses the index
        better = (is_exact, starts(asked.words, source.names))
        first = [row for narrower in better for row in rows(query.where(narrower).limit(MAX_ROWS))]
        read = list(dict.fromkeys([*first, *read]))
    ranked = [_ranked(source, asked, row) for row in read]
    return sorted(ranked, key=lambda match: match.order)[: MAX_ROWS + 1]


def _ranked(source: Searched, asked: ParsedQuery, row: Any) -> Match:
    names = [name for name in row[len(source.columns) :] if name]
    is_hit = source.hint is not None and row.hint == asked.text[-HINT_LENGTH:]
    how = Rank.EXACT if is_hit else rank(asked.words, names)
    is_archived = source.archived_at is not None and row.archived_at is not None
    return Match(row, how, (how, is_archived, len(names[0]), names[0]))


def names_with(actor: Actor, source: Searched, pieces: Sequence[str], limit: int) -> list[str]:
    """Return names with any of the pieces that the actor can see.

    Those with more pieces come first, then shorter ones.
    """
    visible = source.visible(actor)
    if visible is None:
        return []
    found: list[str] = []
    for name in source.names:
        has = [matches([piece], [name]) for piece in pieces]
        number = sum((sa.case((one, 1), else_=0) for one in has), start=sa.literal(0))
        query = sa.select(name).where(sa.or_(*has), visible)
        query = query.order_by(number.desc(), sa.func.length(name), name).limit(limit)
        found += db.session.scalars(query)
    return found


def environments() -> dict[str, str]:
    """Return the names of all environments by their lower-case form."""
    return {name.lower(): name for name in db.session.scalars(sa.select(Environment.name))}
