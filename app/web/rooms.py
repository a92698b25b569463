"""What the rooms show to each other: each declares it once, in its ``faces.py``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter

from flask import Blueprint, Flask, current_app

from app.web import openapi
from app.web.navigation import Action, Entry
from app.web.routes import ApiBlueprint


@dataclass(frozen=True, slots=True)
class Room:
    """``starts``: called with the application before the blueprints are registered.

    ``lists``: what people call the lists whose filters can be saved, by endpoint; names in braces
    are values of the address.
    """

    apis: tuple[ApiBlueprint, ...] = ()
    pages: tuple[Blueprint, ...] = ()
    starts: tuple[Callable[[Flask], None], ...] = ()
    entries: tuple[Entry, ...] = ()
    actions: tuple[Action, ...] = ()
    lists: Mapping[str, str] = field(default_factory=dict)


def init_app(app: Flask, rooms: tuple[Room, ...]) -> None:
    """Serve all that the rooms show."""
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


def current_rooms() -> tuple[Room, ...]:
    rooms: tuple[Room, ...] = current_app.extensions["flagstaff.rooms"]
    return rooms
