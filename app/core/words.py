"""Numbers and names in sentences, and how names are spelled."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import timedelta
from itertools import chain, groupby

from rapidfuzz import fuzz, process, utils

DISPLAY_LIMIT = 3
NAMES_SHOWN = 20


def spoken(names: Iterable[object], shown: int = DISPLAY_LIMIT) -> str:
    """``a, b and 3 more``."""
    known = [str(name) for name in names]
    if len(known) > shown + 1:
        known = [*known[:shown], f"{len(known) - shown:,} more"]
    return _joined(known, " and ")


def either(names: Sequence[str]) -> str:
    """``a, b or c``."""
    return _joined(names, " or ")


def _joined(names: Sequence[str], last: str) -> str:
    return last.join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def counted(number: int, one: str, many: str | None = None) -> str:
    """``1 feature``, ``3 features``, ``2 properties`` (with ``many`` given)."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


_UNITS = (
    ("day", timedelta(days=1)),
    ("hour", timedelta(hours=1)),
    ("minute", timedelta(minutes=1)),
)


def lasting(time: timedelta) -> str:
    """A length of time in its two largest units: ``3 days and 4 hours``, ``40 minutes``.

    One below zero is no time: the clock was set back in it.
    """
    time = max(time, timedelta())
    parts, rest = [], time
    for unit, length in _UNITS:
        number, rest = divmod(rest, length)
        if number:
            parts.append(counted(number, unit))
    return " and ".join(parts[:2]) or counted(int(time.total_seconds()), "second")


def initials(name: str) -> str:
    words = [word[0].upper() for word in name.split() if word[0].isalnum()]
    return "".join(words[:1] + words[1:][-1:]) or "?"


def listed(names: Iterable[str]) -> str:
    """``a, b and 3 more``: names for a message, cut to a readable length."""
    ordered = sorted(names)
    shown = ", ".join(ordered[:NAMES_SHOWN])
    rest = len(ordered) - NAMES_SHOWN
    return f"{shown} and {rest} more" if rest > 0 else shown


KEY_PATTERN = r"^[A-Za-z0-9_~.-]+$"
"""The characters of a project id or a feature name."""
MAX_KEY = 100

INVISIBLE = (
    "\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e"
    "\\u2060-\\u206f\\u2800\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffb"
)
"""Characters that no one sees, for a class of a regular expression: Default_Ignorable_Code_Point
of Unicode within 16 bits, and the blank of Braille.
"""

LONGEST_SPELLING = 4
"""Most code points that NFC can combine into one."""
SHORT = 100
"""Characters up to which quadratic time doesn't matter."""

_OF_KEYS = "A-Z a-z 0-9 _ ~ . -"
_NOT_OF_KEYS = re.compile(KEY_PATTERN[1:-2].replace("[", "[^"))
SIGNS_SHOWN = 3
"""Most wrong characters that a message names."""
_KEY = rf"{KEY_PATTERN[1:-2]}{{1,{MAX_KEY}}}"
is_key = re.compile(rf"(?!\.\.?\Z){_KEY}\Z").match
_lines_of_keys = re.compile(rf"(?:(?!\.\.?\n){_KEY}\n)+").fullmatch

has_visible = re.compile(rf"[^\s{INVISIBLE}\U000e0000-\U000e0fff]").search


def key_fault(text: str) -> str:
    """What is wrong with a text that is no key, and a similar one that is."""
    if len(text) > MAX_KEY:
        return f"Use at most {MAX_KEY} characters. This has {len(text):,}."
    if not (wrong := dict.fromkeys(_NOT_OF_KEYS.findall(text))):
        return f"Use 1 to {MAX_KEY} of {_OF_KEYS} (and not only . or ..)."
    found = dict.fromkeys(
        "spaces" if sign == " " else f"“{sign}”" if sign.isprintable() else "invisible characters"
        for sign in wrong
    )
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    similar = re.sub("-{2,}", "-", _NOT_OF_KEYS.sub("-", plain.lower())).strip("-.")
    example = f" For example: {similar}" if similar else ""
    return f"Leave out {spoken(found, SIGNS_SHOWN)}. Use only {_OF_KEYS}{example}"


def are_keys(values: Sequence[object]) -> bool:
    """Whether there are values and ``is_key`` is true of each, at a tenth of the time."""
    try:
        text = "\n".join(values) + "\n"  # type: ignore[arg-type] # the exception tells
    except TypeError:
        return False
    return text.count("\n") == len(values) and _lines_of_keys(text) is not None


def camel_case(name: str) -> str:
    """``impression_data`` as the API spells it: ``impressionData``."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def snake_case(name: str) -> str:
    """``impressionData`` as Python spells it: ``impression_data``."""
    return humanize(name).replace(" ", "_")


def humanize(name: str) -> str:
    """``impressionData`` in a sentence: ``impression data``."""
    return re.sub(r"([A-Z])", lambda capital: f" {capital[1].lower()}", name)


def nfc(text: str) -> str:
    """Normalize to NFC, without quadratic time for a long row of combining marks.

    The standard library sorts such a row by swapping neighbours, so it is sorted here first.
    """
    if len(text) > SHORT and not text.isascii():
        parts = (part for char in text for part in unicodedata.normalize("NFD", char))
        rows = (sorted(row, key=unicodedata.combining) for _, row in groupby(parts, _is_mark))
        text = "".join(chain.from_iterable(rows))
    return unicodedata.normalize("NFC", text)


def _is_mark(char: str) -> bool:
    return unicodedata.combining(char) > 0


SUGGESTED = 20
"""How many names get a suggestion at most."""
LEAST_SIMILARITY = 80


def similar_names(names: Sequence[str], known: Sequence[str]) -> dict[str, str]:
    """Return the most similar known name for each of the first SUGGESTED names that has one."""
    spellings = Spellings(known if names else ())
    asked = names[:SUGGESTED]
    similar = {name: spellings.most_similar(name, least=LEAST_SIMILARITY) for name in asked}
    return {name: found[0] for name, found in similar.items() if found}


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
