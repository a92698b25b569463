"""How much of something people and applications can make the server keep.

A quota is next to the model of what is kept. Routes that need no permission, so that anyone can
call them, say which quota holds for what they keep.
"""

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import InstrumentedAttribute

from app.core.db import Model, db
from app.core.errors import Conflict


@dataclass(frozen=True, slots=True, eq=False)
class Quota:
    """At most ``rows`` of ``model`` for each ``holder``, each of at most ``bytes``.

    ``things``, ``holder``: in words, such as “saved filters” and “person”.
    """

    model: type[Model]
    things: str
    holder: str
    rows: int
    bytes: int

    def require_room(self, *of: sa.ColumnElement[bool], remedy: str = "Delete one first.") -> None:
        """Refuse one more. ``of``: which rows are the holder’s, and count.

        Raises:
            Conflict: with ``remedy``, if there are ``rows`` already.

        """
        if not self.room(*of):
            allowed = f"A {self.holder} can have at most {self.rows:,} {self.things}."
            raise Conflict(f"{allowed} {remedy}".strip())

    def drop_oldest(self, *of: sa.ColumnElement[bool], by: InstrumentedAttribute[object]) -> None:
        """Delete all but the newest ``rows`` of those that are the holder’s."""
        if self.number(*of) <= self.rows:
            return
        key = sa.inspect(self.model).primary_key
        newest = sa.select(*key).where(*of).order_by(by.desc(), *key).limit(self.rows)
        oldest = sa.delete(self.model).where(*of, sa.tuple_(*key).not_in(newest))
        db.session.execute(oldest, execution_options={"synchronize_session": False})

    def room(self, *of: sa.ColumnElement[bool]) -> int:
        """How many more there can be."""
        return max(self.rows - self.number(*of), 0)

    def number(self, *of: sa.ColumnElement[bool]) -> int:
        """How many rows there are."""
        query = sa.select(sa.func.count()).select_from(self.model).where(*of)
        return db.session.scalar(query) or 0


NOTHING: tuple[Quota, ...] = ()
"""Of a route that keeps nothing more: it reads, changes, deletes or marks what is there, or asks
for a permission itself.
"""
