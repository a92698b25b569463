"""What others have collected to break programs with, and what is added to it here."""

import json
import zlib
from base64 import b64decode
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
ZIPPED = "zlib:"


@cache
def json_texts() -> dict[str, bytes]:
    """By name: ``y_`` is JSON, ``n_`` is not, and of ``i_`` programs may think either."""
    texts = json.loads(HERE.joinpath("json_texts.json").read_text())["texts"]
    return {name: _unpacked(text) for name, text in texts.items()}


@cache
def strings() -> list[str]:
    """The collected ones, and OURS."""
    collected = json.loads(HERE.joinpath("strings.json").read_text())["strings"]
    return [*(b64decode(text).decode() for text in collected), *OURS]


def _unpacked(text: str) -> bytes:
    if text.startswith(ZIPPED):
        return zlib.decompress(b64decode(text.removeprefix(ZIPPED)))
    return b64decode(text)


OURS = [
    *(
        "a\0b",
        "\0",
        "x" * 100_001,
        "abc\n",
        "\nabc",
        "a\nb",
        "a\tb",
        "a\r\nb",
        "a\x07b",
        "a\x1b[31mb",
    ),
    *("\ud800", "a\udfffb", "\U0001f986", "\ufdfa" * 50, "\ufffe", "\U0010ffff"),
    *("e\u0301", "\u00e9", "A\u030a", "\u212b", "\uac00", "\u1100\u1161", "\u2126"),
    *("\u202eabc", "abc\u2066", "a\u2028b", "a\u2029b", "\u200b", "a\u200bb", "\ufeffabc"),
    *(".", "..", "../..", "a/b", "a%2Fb", "a?b", "a#b", "\\", "%00", "~", "-", "_"),
    *("\u00a0 a \u3000", "\x85a", "\x1fa\x1f", "\u0663", "\uff11", "\u0131", "\u0130", "\u00df"),
    *("=1+1", "+1", "-1", "@x", "\uff1d1", "' OR 1=1 --", "{{7*7}}", "${7*7}", "%s%n", "{0}"),
    *("None", "null", "true", "NaN", "0", "1e400", "[]", "{}"),
    *(
        "a" * 50,
        "a" * 51,
        "a" * 100,
        "a" * 101,
        "a" * 255,
        "a" * 256,
        "\u00e9" * 255,
        "e\u0301" * 255,
    ),
    *("\u0301" * 300, "a" + "\u0316\u0301" * 127, "\u1f82" * 255, "a" * 5_000, "a" * 5_001),
]
