"""What the rooms show to each other: each declares it once, in its ``faces.py``."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from flask import Blueprint, Flask, current_app

from app.core.actor import Actor
from app.core.quotas import Quota
from app.core.reminders import HomeContext, Item
from app.web import openapi
from app.web.navigation import Action, Entry
from app.web.routes import ApiBlueprint


@dataclass(frozen=True, slots=True)
class Choice:
    """Parts of a page that can be hidden, with their labels. ``title``: of the choice."""

    title: str
    parts: Mapping[str, str]
    note: str = ""


class Reminder(NamedTuple):
    """Lines of the home page, most urgent first: in the order of ``place``.

    ``key``, ``title``: by which people hide them. ``step``: the words of the link to ``endpoint``.
    ``one``: the endpoint for items with a place, if that is another. ``act``: the words of the
    button for items with fields, and the endpoint that takes them.
    """

    place: int
    key: str
    title: str
    items: Callable[[Actor, HomeContext], Iterator[Item]]
    step: str
    endpoint: str
    values: Mapping[str, Any] = MappingProxyType({})
    one: str | None = None
    act: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Room:
    """``starts``: called with the application before the blueprints are registered.

    ``outside``: what the OpenAPI document has of addresses that no blueprint serves. ``lists``:
    what people call the lists whose filters can be saved, by endpoint; names in braces are values
    of the address. ``choices``: by the name of the page. ``keeps``: the quotas of what requests
    make the server keep that no route declares: those of SDKs, and all of a kind.
    """

    apis: tuple[ApiBlueprint, ...] = ()
    outside: tuple[openapi.Outside, ...] = ()
    pages: tuple[Blueprint, ...] = ()
    starts: tuple[Callable[[Flask], None], ...] = ()
    entries: tuple[Entry, ...] = ()
    actions: tuple[Action, ...] = ()
    lists: Mapping[str, str] = field(default_factory=dict)
    reminders: tuple[Reminder, ...] = ()
    choices: Mapping[str, Choice] = field(default_factory=dict)
    keeps: tuple[Quota, ...] = ()


def init_app(app: Flask, rooms: tuple[Room, ...]) -> None:
    """Serve the APIs, pages and links of all rooms."""
    app.extensions["flagstaff.rooms"] = rooms
    entries = [entry for room in rooms for entry in room.entries]
    app.extensions["flagstaff.entries"] = sorted(entries, key=attrgetter("order"))
    for room in rooms:
        for start in room.starts:
            start(app)
    api = openapi.Api(app)
    for room in rooms:
        for face in room.apis:
            api.register_blueprint(face)
        for page in room.pages:
            app.register_blueprint(page)
        for addresses in room.outside:
            api.add(addresses)


def current_rooms() -> tuple[Room, ...]:
    rooms: tuple[Room, ...] = current_app.extensions["flagstaff.rooms"]
    return rooms


def actions() -> list[Action]:
    """The actions of all rooms, the most frequent ones first."""
    actions = [action for room in current_rooms() for action in room.actions]
    return sorted(actions, key=attrgetter("place"))


def reminders() -> list[Reminder]:
    """The reminders of all rooms, the most urgent ones first."""
    reminders = [reminder for room in current_rooms() for reminder in room.reminders]
    return sorted(reminders, key=attrgetter("place"))


def quotas() -> list[Quota]:
    """All that are declared, in the order of their holders and things."""
    routes = (getattr(view, "keeps", None) for view in current_app.view_functions.values())
    found = {quota for room in current_rooms() for quota in room.keeps}
    found |= {quota for declared in routes for quota in declared or ()}
    return sorted(found, key=lambda quota: (quota.holder, quota.things))
