"""Search by name: each room declares its searchable tables and how it shows hits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.clock import utcnow
from app.core.words import counted

LONGEST_ABOUT = 80
ARCHIVED = "archived"

Column = sa.SQLColumnExpression[Any]


class Kind(NamedTuple):
    """A kind of hit. ``place``: its order on the page. ``name``: its name in the API."""

    place: int
    name: str
    title: str


@dataclass(frozen=True, slots=True)
class Hit:
    """``about``: its context and state, in words. ``endpoint``, ``values``: its page.

    ``seen_at``: when an application was last in contact.
    """

    name: str
    about: str
    endpoint: str
    values: Mapping[str, Any] = field(default_factory=dict)
    is_archived: bool = False
    seen_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Searched:
    """A searchable table.

    ``hits``: turns rows of ``columns`` into hits, in a constant number of statements.
    ``names``: columns with the names. ``beside``: other columns to search; if ``late``, only when
    there are few hits. ``hint``: column with the end of a secret. ``visible``: condition for rows
    that the actor can see; None if there are none. ``in_state``: condition for rows that are on,
    or off, in an environment. ``is_suggested``: whether to suggest its names for misspelled ones.
    """

    kind: Kind
    columns: Sequence[Column]
    names: Sequence[Column]
    hits: Callable[[Actor, Sequence[Any]], list[Hit]]
    beside: Sequence[Column] = ()
    archived_at: Column | None = None
    hint: Column | None = None
    late: bool = False
    visible: Callable[[Actor], sa.ColumnElement[bool] | None] = lambda _actor: sa.true()
    in_state: Callable[[bool, str], sa.ColumnElement[bool]] | None = None
    is_suggested: bool = True


def expiry(at: datetime | None) -> str:
    if at is None:
        return "never expires"
    days = (at - utcnow()).days
    return f"expires in {counted(days, 'day')}" if days >= 0 else "expired"


def shortened(text: str | None) -> str:
    line = " ".join((text or "").split())
    return line if len(line) <= LONGEST_ABOUT else f"{line[:LONGEST_ABOUT].rstrip()}…"


def joined(*facts: str | None) -> str:
    return " · ".join(filter(None, facts))
