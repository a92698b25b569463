"""Messages for channels: what happened in one sentence, with the reason and a link."""

import json
from collections.abc import Mapping
from typing import NamedTuple

from app.core.events import words
from app.core.events.models import Event
from app.core.events.words import Naming


class Text(NamedTuple):
    """``path``: of the page about it; empty if there is none."""

    title: str
    reason: str
    path: str

    @classmethod
    def read(cls, body: str) -> "Text":
        """The text that ``of`` or ``of_test`` wrote."""
        return cls(*json.loads(body))


def of(event: Event, count: int, names: Mapping[int, str]) -> str:
    """``count``: events of this type that the act made. ``names``: of accounts, by their ids."""
    naming = Naming(names)
    sentence = f"{words.actor(event, naming)} {words.sentence(event, count, naming)}"
    reason = f"Reason: {event.reason}" if event.reason else ""
    return json.dumps(Text(sentence, reason, _path(event, count)), ensure_ascii=False)


def of_test(name: str) -> str:
    return json.dumps(Text(f"Flagstaff sends {name} here", "This is a test.", ""))


def _path(event: Event, count: int) -> str:
    if event.project is None:
        return ""
    project = f"/projects/{event.project}"
    for part in words.parts(event):
        if isinstance(part, words.Mention) and part.kind == "change request":
            return f"{project}/change-requests/{part.id[1]}"
    if event.feature_name is not None and count == 1:
        return f"{project}/features/{event.feature_name}"
    return project
