"""Lines of the home page: what needs someone’s attention, in the words of the room it is about."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any

from app.core.config import Settings
from app.core.words import counted, spoken

NAMED = 2
"""Most names in one line."""


class Tone(StrEnum):
    INFO = "info"
    WARNING = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Item:
    """``place``: values for the URL of the next step, such as a project's id.

    ``fields``: those of the form that takes the step at once, if there is one.
    """

    tone: Tone
    says: str
    more: str
    place: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HomeContext:
    """Input for reminders that is not in the database.

    ``unevaluable``: why features can't be evaluated, by environment and name.
    """

    settings: Settings
    unevaluable: Mapping[str, Mapping[str, str]]


def some(names: Iterable[str], total: int) -> str:
    shown = list(names)
    rest = total - len(shown)
    return spoken([*shown, f"{rest:,} more"]) if rest else spoken(shown)


def days(time: timedelta) -> str:
    return counted(time.days, "day")
