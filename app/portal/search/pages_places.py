"""Pages and actions for the search: from the rooms, and from the help."""

import re
from collections.abc import Sequence

from markupsafe import Markup

from app.core.actor import Actor
from app.core.config import every_setting
from app.core.search import Hit
from app.portal.help.pages_help import TOPICS
from app.portal.search.matching import JOINTS
from app.portal.search.service import PageEntry
from app.web import navigation, rooms
from app.web.templating import breakable

FIRST_ACTIONS = 6
"""Number of actions that are offered before anyone types."""


def entries(actor: Actor) -> list[PageEntry]:
    """Return the actions and pages that the actor can open, actions first."""
    return [*_actions(actor), *_lists(actor), *_help()]


def first(actor: Actor) -> list[Hit]:
    """Return the actions that people most often begin with."""
    return [entry.hit for entry in _actions(actor)[:FIRST_ACTIONS]]


def _actions(actor: Actor) -> list[PageEntry]:
    return [
        PageEntry(Hit(action.name, action.about, action.endpoint, action.values), action.words)
        for action in rooms.actions()
        if action.may(actor)
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


def marked(name: str, words: Sequence[str]) -> Markup:
    """Return the name with ``<mark>`` around the words."""
    pieces, end = Markup(), 0
    for start, stop in _spans(name, words):
        pieces += breakable(name[end:start])
        pieces += Markup("<mark>{}</mark>").format(breakable(name[start:stop]))
        end = stop
    return pieces + breakable(name[end:])


def _spans(name: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Return where the words are in the name, preferably at the start of a part.

    Spans that overlap or touch are merged.
    """
    found = []
    for word in words:
        at_start = rf"(?:(?<=[{re.escape(JOINTS)}])|^){re.escape(word)}"
        match = re.search(at_start, name, re.IGNORECASE) or re.search(
            re.escape(word), name, re.IGNORECASE
        )
        if match:
            found.append(match.span())
    spans: list[tuple[int, int]] = []
    for start, stop in sorted(found):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], stop))
        else:
            spans.append((start, stop))
    return spans
