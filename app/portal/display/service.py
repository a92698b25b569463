"""The parts of pages that people hide: columns of lists, and parts of their home page."""

from collections.abc import Collection

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.db import db, insert_if_absent
from app.core.errors import Invalid
from app.core.words import spoken
from app.portal.display.models import HiddenPart


def hidden(actor: Actor, page: str) -> set[str]:
    """Return the parts of the page that the actor hides."""
    query = sa.select(HiddenPart.part).where(*_of(actor, page))
    return set(db.session.scalars(query))


def hide(actor: Actor, page: str, parts: Collection[str], known: Collection[str]) -> None:
    """Hide these parts of the page from the actor, and show all others.

    Raises:
        Invalid: for parts that aren't ``known``.

    """
    unknown = [part for part in parts if part not in known]
    if unknown:
        there = spoken(known, len(known))
        raise Invalid.at("/hidden", f"{spoken(unknown)} cannot be hidden. Choose from: {there}.")
    db.session.execute(sa.delete(HiddenPart).where(*_of(actor, page)))
    rows = [{"account_id": actor.account_id, "page": page, "part": part} for part in set(parts)]
    if rows:
        db.session.execute(insert_if_absent(HiddenPart), rows)  # two tabs may do it at once


def _of(actor: Actor, page: str) -> list[sa.ColumnElement[bool]]:
    return [HiddenPart.account_id == actor.id, HiddenPart.page == page]
