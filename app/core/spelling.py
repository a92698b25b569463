"""One spelling for texts that look alike: Unicode's NFC."""

import unicodedata
from itertools import chain, groupby

LONGEST_SPELLING = 4
"""Code points that NFC makes one of at most."""
SHORT = 100
"""Characters, up to which the square of their number is nothing to fear."""


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
