"""What can be found by its name: each room says where it is, and how it is shown."""

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
    """Things of one kind: ``place`` is their order on the page, ``name`` is what the API says."""

    place: int
    name: str
    title: str


@dataclass(frozen=True, slots=True)
class Hit:
    """``about``: what it belongs to and how it is. ``endpoint``, ``values``: its page.

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
    """Rows of a table that can be found.

    ``hits``: shows rows of ``columns``, with the same few statements for any number of them.
    ``names``: what each row is called. ``beside``: other texts that are looked through, with
    ``late`` only if little else is found. ``hint``: how a secret ends. ``visible``: which rows the
    actor can see; None if none. ``in_state``: which are on, or off, in an environment.
    ``is_suggested``: whether its names are offered to those who misspelled one.
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
