"""Parses the text that someone typed into the search."""

import re
from dataclasses import dataclass

from app.core.words import nfc

LONGEST = 100
MOST_WORDS = 6
"""A text with more words is searched as one piece."""

_state = re.compile(r"(on|off):(\S+)", re.IGNORECASE).fullmatch


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """``words``: all of them must match. ``state``: only features that are on, or off, there.

    ``state`` is (on, environment). The environment may not exist.
    """

    text: str
    words: tuple[str, ...] = ()
    state: tuple[bool, str] | None = None
    only_pages: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.words and self.state is None

    def as_text(self) -> "ParsedQuery":
        """Return the query with ``on:…`` as a word like any other."""
        return ParsedQuery(self.text, _words(self.text))


def read(typed: str) -> ParsedQuery:
    """Parse ``checkout on:production`` or ``> export``; anything else is words to find."""
    text = " ".join(nfc(typed).split())
    if text.startswith(">"):
        rest = text[1:].strip()
        return ParsedQuery(rest, _words(rest), only_pages=True)
    parts = text.split(" ") if text else []
    states = [found for part in parts if (found := _state(part))]
    if len(states) != 1:
        return ParsedQuery(text, _words(text))
    rest = " ".join(part for part in parts if not _state(part))
    [found] = states
    return ParsedQuery(text, _words(rest), state=(found[1].lower() == "on", found[2]))


def _words(text: str) -> tuple[str, ...]:
    words = tuple(dict.fromkeys(text.lower().split()))
    return words if len(words) <= MOST_WORDS else (text.lower(),)
