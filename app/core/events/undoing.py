"""Undoing what an act did, with an inverse for each type of event that can be undone."""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from app.core.actor import Actor
from app.core.errors import Conflict
from app.core.events.event_types import EventType
from app.core.events.models import Event
from app.core.permissions import Permission
from app.core.words import humanize, spoken


class Inverse(NamedTuple):
    """How to undo events of a type.

    ``needs``: the permission for it, in the project of the event if it has one. ``in_project``:
    another one for events that have a project. ``undo``: gets all of an act, the newest first, and
    raises Conflict if what they left was changed since. ``place``: the types with a lower one are
    undone first. ``but``: a sentence about what stays different.
    """

    needs: Permission
    undo: Callable[[Actor, Sequence[Event]], object]
    place: int = 0
    in_project: Permission | None = None
    but: str = ""

    def permission(self, event: Event) -> Permission:
        return (event.project and self.in_project) or self.needs


Inverses = Mapping[EventType, Inverse]
MOST = 500
"""Events of an act that is undone at once."""


def undo(actor: Actor, events: Sequence[Event], inverses: Inverses) -> None:
    """Undo the events of an act.

    Raises:
        NoAccess: for an actor who lacks a permission for it.
        Conflict: when something was changed since.

    """
    for event in events:
        actor.require(inverses[event.type].permission(event), event.project)
    newest_first = sorted(events, key=attrgetter("id"), reverse=True)
    types = dict.fromkeys(event.type for event in newest_first)
    for type in sorted(types, key=lambda one: inverses[one].place):
        inverses[type].undo(actor, [event for event in newest_first if event.type is type])


def each(undo_one: Callable[[Actor, Event], object]) -> Callable[[Actor, Sequence[Event]], None]:
    """For an Inverse: undoes one event after the other."""

    def undo_all(actor: Actor, events: Sequence[Event]) -> None:
        for event in events:
            undo_one(actor, event)

    return undo_all


def former(event: Event, present: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that an update changed, as they were. ``present``: the object as it is now.

    Raises:
        Conflict: when one of them was changed since.

    """
    before, after = event.pre_data or {}, event.data or {}
    changed = [name for name in before if before[name] != after.get(name)]
    refuse_changed([name for name in changed if present.get(name) != after.get(name)])
    return {name: before[name] for name in changed}


def refuse_changed(fields: Sequence[str]) -> None:
    """Refuse to undo a change to fields that someone has changed since, if there are any."""
    if fields:
        what = spoken([humanize(name) for name in fields])
        raise Conflict(
            f"Someone changed {what} since, so this can’t be undone. The history says who."
        )
