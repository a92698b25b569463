"""The navigation of the pages: groups of links, each with the permission that it needs."""

from collections.abc import Callable
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from flask import current_app, g, request, url_for

from app.core.actor import Actor
from app.core.permissions import DEFAULT_PROJECT, Permission

Count = Callable[[Actor], int]


class Heading(StrEnum):
    """The groups of the navigation, in their order. EVERYONE has no heading.

    A group with a single link for the reader is that link, without its heading.
    """

    EVERYONE = ""
    TARGETING = "Targeting"
    APPLICATIONS = "Applications"
    PEOPLE = "People"
    AUDIT = "Audit"
    INSTANCE = "Instance"
    SUPPORT = "Support"


class Entry(NamedTuple):
    """A link to the list at ``endpoint``, which is also current on the pages below ``also``.

    ``place``: the order below its heading. ``number``: returns the number in the badge, and is
    called once for a page. ``counts``: words after the number, for screen readers. With an
    ``icon`` the link is beside the name of the instance, not below it.
    """

    heading: Heading
    place: int
    name: str
    endpoint: str
    needs: Permission | None = None
    also: str | None = None
    number: Count | None = None
    counts: str = "waiting for you"
    icon: str | None = None

    @property
    def order(self) -> tuple[int, int]:
        return list(Heading).index(self.heading), self.place


class Action(NamedTuple):
    """A page, other than a list, that people can find by search. ``place``: its order.

    ``about``: the page it is on, or its subject. ``words``: other words that people search for.
    """

    place: int
    name: str
    about: str
    endpoint: str
    may: Callable[[Actor], bool] = lambda _actor: True
    values: dict[str, Any] = {}  # noqa: RUF012 - never changed
    words: str = ""


def needs(permission: Permission) -> Callable[[Actor], bool]:
    return lambda actor: actor.may(permission)


def needs_somewhere(*permissions: Permission) -> Callable[[Actor], bool]:
    """Whether the actor has one of the permissions, everywhere or in one of their projects."""
    return lambda actor: any(
        actor.may(permission, id)
        for permission in permissions
        for id in (None, DEFAULT_PROJECT, *actor.project_roles)
    )


class Link(NamedTuple):
    """A link for the reader. ``number``: in its badge; 0 if there is none."""

    entry: Entry
    href: str
    is_current: bool
    number: int


def entries(actor: Actor) -> list[tuple[Heading, list[Entry]]]:
    """The links that the actor can follow, by heading."""
    known: list[Entry] = current_app.extensions["flagstaff.entries"]
    mine = [entry for entry in known if entry.needs is None or actor.may(entry.needs)]
    return [(heading, list(found)) for heading, found in groupby(mine, attrgetter("heading"))]


def navigation(actor: Actor) -> list[tuple[Heading, list[Link]]]:
    """The links that the actor can follow, by heading, for the page that is open."""
    return [
        (heading, [_link(entry, actor) for entry in below]) for heading, below in entries(actor)
    ]


def _link(entry: Entry, actor: Actor) -> Link:
    href = url_for(entry.endpoint)
    places = (href.removeprefix(request.script_root), entry.also)
    is_current = any(place and f"{request.path}/".startswith(f"{place}/") for place in places)
    return Link(entry, href, is_current, _number(entry, actor))


def _number(entry: Entry, actor: Actor) -> int:
    if "refusal" in g:  # the page of a refusal makes no query: the database may have failed
        return 0
    return entry.number(actor) if entry.number else 0
