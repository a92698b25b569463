"""The pages and actions that can be found: those of the rooms, and of the help."""

from app.core.actor import Actor
from app.core.config import every_setting
from app.core.search import Hit
from app.portal.help.pages_help import TOPICS
from app.portal.search.service import PageEntry
from app.web import navigation, rooms

FIRST_ACTIONS = 6
"""So many are offered before anyone types."""


def entries(actor: Actor) -> list[PageEntry]:
    """The pages and actions that the actor can open: actions first, then what can be read."""
    return [*_actions(actor), *_lists(actor), *_help()]


def first(actor: Actor) -> list[Hit]:
    """What people most often begin with."""
    return [entry.hit for entry in _actions(actor)[:FIRST_ACTIONS]]


def _actions(actor: Actor) -> list[PageEntry]:
    return [
        PageEntry(Hit(one.name, one.about, one.endpoint, one.values), one.words)
        for one in rooms.actions()
        if one.may(actor)
    ]


def _lists(actor: Actor) -> list[PageEntry]:
    return [
        PageEntry(Hit(entry.name, heading, entry.endpoint))
        for heading, listed in navigation.entries(actor)
        for entry in listed
    ]


def _help() -> list[PageEntry]:
    topics = [
        PageEntry(Hit(title, "Help", "help_pages.show", {"topic": topic}), about)
        for topic, (title, about) in TOPICS.items()
    ]
    settings = [
        PageEntry(
            Hit(
                name,
                "Setting",
                "help_pages.show",
                {"topic": "settings", "_anchor": name},
            ),
            setting.meaning,
        )
        for name, setting in every_setting().items()
    ]
    return topics + settings
