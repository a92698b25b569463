"""What someone asks for, read from what they typed."""

import re
from dataclasses import dataclass
from enum import StrEnum

from app.core.spelling import nfc

LONGEST = 100
MOST_WORDS = 6
"""What has more words than this is looked for as one piece."""

_state = re.compile(r"(on|off):(\S+)", re.IGNORECASE).fullmatch


class Kind(StrEnum):
    """What can be found, in the order in which it is shown."""

    FEATURES = "features"
    PROJECTS = "projects"
    TAGS = "tags"
    SEGMENTS = "segments"
    CONTEXT_FIELDS = "contextFields"
    STRATEGY_TYPES = "strategyTypes"
    ENVIRONMENTS = "environments"
    APPLICATIONS = "applications"
    USERS = "users"
    SERVICE_ACCOUNTS = "serviceAccounts"
    SDK_TOKENS = "sdkTokens"
    ACCESS_TOKENS = "accessTokens"
    PAGES = "pages"


TITLES = {
    Kind.FEATURES: "Features",
    Kind.PROJECTS: "Projects",
    Kind.TAGS: "Tags",
    Kind.SEGMENTS: "Segments",
    Kind.CONTEXT_FIELDS: "Context fields",
    Kind.STRATEGY_TYPES: "Strategy types",
    Kind.ENVIRONMENTS: "Environments",
    Kind.APPLICATIONS: "Applications",
    Kind.USERS: "Users",
    Kind.SERVICE_ACCOUNTS: "Service accounts",
    Kind.SDK_TOKENS: "SDK tokens",
    Kind.ACCESS_TOKENS: "Access tokens",
    Kind.PAGES: "Pages and actions",
}


@dataclass(frozen=True, slots=True)
class Question:
    """``words``: all of them must be found. ``state``: only features that are on, or off, there.

    ``state`` is (on, environment), of which no one has checked that it exists.
    """

    text: str
    words: tuple[str, ...] = ()
    state: tuple[bool, str] | None = None
    only_pages: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.words and self.state is None

    def as_text(self) -> "Question":
        """The same, with a state taken for a word like any other."""
        return Question(self.text, _words(self.text))


def read(typed: str) -> Question:
    """``checkout on:production`` or ``> export``; anything else is words to find."""
    text = " ".join(nfc(typed).split())
    if text.startswith(">"):
        rest = text[1:].strip()
        return Question(rest, _words(rest), only_pages=True)
    parts = text.split(" ") if text else []
    states = [found for part in parts if (found := _state(part))]
    if len(states) != 1:
        return Question(text, _words(text))
    rest = " ".join(part for part in parts if not _state(part))
    [found] = states
    return Question(text, _words(rest), state=(found[1].lower() == "on", found[2]))


def _words(text: str) -> tuple[str, ...]:
    words = tuple(dict.fromkeys(text.lower().split()))
    return words if len(words) <= MOST_WORDS else (text.lower(),)
