"""Filters of lists that people keep under a name and share by an address."""

import secrets

import sqlalchemy as sa

from app.core.actor import Actor
from app.core.db import db, flush, one_or_none, save
from app.core.errors import NameExists, NotFound
from app.portal.saved_filters.models import SAVED_FILTERS, SavedFilter


def all_of(actor: Actor, path: str | None = None) -> list[SavedFilter]:
    """Return the actor's saved filters, by list and name. ``path``: only those of this list."""
    query = sa.select(SavedFilter).where(SavedFilter.account_id == actor.id)
    if path is not None:
        query = query.where(SavedFilter.path == path)
    order = SavedFilter.path, sa.func.lower(SavedFilter.name), SavedFilter.id
    return list(db.session.scalars(query.order_by(*order)))


def get(actor: Actor, id: int, *, for_change: bool = True) -> SavedFilter:
    """Return saved filters of the actor. ``for_change``: lock them until the transaction ends."""
    query = sa.select(SavedFilter).where(SavedFilter.id == id, SavedFilter.account_id == actor.id)
    found = one_or_none(query, "saved filters", actor.id, id, for_change=for_change)
    if found is None:
        raise NotFound(f"You have no saved filters with the id {id}.")
    return found


def address_of(key: str) -> str:
    """Return the address of the list that a short address leads to, for anyone's filters."""
    found = db.session.scalar(sa.select(SavedFilter).where(SavedFilter.key == key))
    if found is None:
        raise NotFound(
            "There are no saved filters at this address. They were deleted, or a part of the "
            "address is missing. Ask who shared it."
        )
    return found.address


def create(actor: Actor, *, name: str, path: str, query: str) -> SavedFilter:
    """Save the filters ``query`` of the list at ``path``.

    Raises:
        NameExists: if the actor has filters with this name for the list.
        Conflict: if they have too many already.

    """
    SAVED_FILTERS.require_room(SavedFilter.account_id == actor.account_id)
    saved = SavedFilter(
        account_id=actor.account_id,
        path=path,
        query=query,
        name=name,
        key=secrets.token_urlsafe(12),
    )
    save(saved, if_taken=_taken(name))
    return saved


def rename(saved: SavedFilter, name: str) -> None:
    """Give saved filters from ``get`` another name; their addresses stay."""
    saved.name = name
    flush(if_taken=_taken(name))


def remove(saved: SavedFilter) -> None:
    """Delete saved filters from ``get``; their short address leads nowhere from then on."""
    db.session.delete(saved)


def _taken(name: str) -> NameExists:
    return NameExists(f"You have filters named {name!r} for this list already.", field="name")
