"""Undoing acts of the event log: an event, or all events of its batch."""

import sqlalchemy as sa

from app.access import undoing as access
from app.catalogue import undoing as catalogue
from app.core.actor import Actor
from app.core.db import db
from app.core.errors import Conflict, NotFound
from app.core.events import service as events
from app.core.events import undoing
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.events.undoing import MOST, Inverses
from app.portal.event_log import service
from app.portal.event_log.service import Act
from app.releases import undoing as releases

INVERSES: Inverses = {**access.INVERSES, **catalogue.INVERSES, **releases.INVERSES}
"""How events can be undone."""

_NOTES = {EventType.APPROVALS_LOWERED, EventType.CHANGE_REQUEST_BYPASSED}
"""Types that only say how the rest of an act was done."""


def undo(actor: Actor, *, event_id: int | None = None, batch_id: str = "") -> list[Event]:
    """Undo the act with this event or this batch. Return what was undone, oldest first.

    Raises:
        NotFound: when the actor can see no such act.
        NoAccess: when they lack a permission for it.
        Conflict: when it can't be undone, or something was changed since.

    """
    found = _events(actor, event_id, batch_id)
    changes = [event for event in found if event.type not in _NOTES]
    if EventType.CHANGE_REQUEST_APPLIED in {event.type for event in found}:
        raise Conflict("A change request did this. Reverse the change request instead.")
    if unknown := {event.type for event in changes} - INVERSES.keys():
        raise Conflict(f"An act with {min(unknown)} can’t be undone.")
    if len(changes) > MOST:
        raise Conflict(f"This act has more than {MOST} events, too many to undo at once.")
    undoing.undo(actor, changes, INVERSES)
    return changes


def can_undo(actor: Actor, act: Act) -> bool:
    """Whether the actor could undo an act, if nothing was changed since."""
    inverse = INVERSES.get(act.event.type)
    return (
        inverse is not None
        and act.size <= MOST
        and act.types - _NOTES <= INVERSES.keys()
        and actor.may(inverse.permission(act.event), act.event.project)
    )


def _events(actor: Actor, event_id: int | None, batch_id: str) -> list[Event]:
    """The events of an act, oldest first."""
    wanted = Event.batch_id == batch_id if event_id is None else Event.id == event_id
    query = sa.select(Event).where(wanted, service.may_know(actor)).limit(1)
    one = db.session.scalar(query)
    if one is None:
        raise NotFound("The event log has no such act.")
    return events.of_batch(one.batch_id) if one.batch_id else [one]
