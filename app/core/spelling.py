"""How names are spelled: for the API and in words, keys, one form for what looks alike."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import chain, groupby

from rapidfuzz import fuzz, process, utils

KEY_PATTERN = r"^[A-Za-z0-9_~.-]+$"
"""The characters of a project id or a feature name."""
MAX_KEY = 100

LONGEST_SPELLING = 4
"""Code points that NFC makes one of at most."""
SHORT = 100
"""Characters, up to which the square of their number is nothing to fear."""

is_key = re.compile(rf"(?!\.\.?\Z){KEY_PATTERN[1:-2]}{{1,{MAX_KEY}}}\Z").match


def camel_case(name: str) -> str:
    """What the API calls ``impression_data``: ``impressionData``."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def humanize(name: str) -> str:
    """``impressionData`` in a sentence: ``impression data``."""
    return re.sub(r"([A-Z])", lambda capital: f" {capital[1].lower()}", name)


def nfc(text: str) -> str:
    """NFC, in a time that a long row of combining marks does not square.

    The standard library sorts such a row by exchanging neighbours; here it is in order before.
    """
    if len(text) > SHORT and not text.isascii():
        parts = (part for char in text for part in unicodedata.normalize("NFD", char))
        rows = (sorted(row, key=unicodedata.combining) for _, row in groupby(parts, _is_mark))
        text = "".join(chain.from_iterable(rows))
    return unicodedata.normalize("NFC", text)


def _is_mark(char: str) -> bool:
    return unicodedata.combining(char) > 0


class Spellings:
    """Texts to find near matches in. Case and punctuation do not matter."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._folded = [utils.default_process(text) for text in texts]

    def most_similar(self, text: str, *, least: int, limit: int = 1) -> list[str]:
        """The texts that are spelled like this one, the most similar first.

        ``least``: how similar they must be, up to 100.
        """
        found = process.extract(
            utils.default_process(text),
            self._folded,
            scorer=fuzz.ratio,
            score_cutoff=least,
            limit=limit,
        )
        return [self._texts[place] for _, _, place in found]
