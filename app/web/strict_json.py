"""JSON by RFC 8259, if no two parsers can read it differently (I-JSON, RFC 7493)."""

import json
import math
import re
from collections import Counter
from typing import Any, NoReturn

MAX_DEPTH = 20
MAX_DIGITS = 19  # 2**63 has nineteen

_KINDS: dict[bool | None, tuple[type, ...]] = {True: (list,), False: (dict,), None: (list, dict)}
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


class NotStrictJson(ValueError):
    """A text is not strict JSON. The message is for its sender."""


def loads(data: bytes, *, many: bool | None = False) -> Any:
    """Read one JSON object, or with ``many`` an array; None: one or the other.

    Raises:
        NotStrictJson: for anything else, for duplicate keys, NaN and infinities, NUL characters,
            lone surrogates, numbers outside 64 bits, and nesting deeper than MAX_DEPTH.

    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotStrictJson(f"The body is not UTF-8 (byte {error.start}).") from None
    try:
        document = _decoder.decode(text)
    except json.JSONDecodeError as error:
        raise NotStrictJson(
            f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from None
    except RecursionError:
        raise _too_deep() from None
    if not isinstance(document, _KINDS[many]):
        kind = {True: "array", False: "object", None: "object or array"}[many]
        raise NotStrictJson(f"The body must be a JSON {kind}.")
    if text.count("{") + text.count("[") > MAX_DEPTH:
        _check_depth(document)
    if "\\u" in text:  # only an escape can smuggle these in
        _check_text(text, document)
    return document


def _check_depth(document: Any) -> None:
    level: list[Any] = [document]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    raise _too_deep()


def _check_text(text: str, document: Any) -> None:
    if _NUL.search(text):
        raise NotStrictJson("The body has a NUL character.")
    try:
        json.dumps(document, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise NotStrictJson("The body has half of a surrogate pair.") from None


def _too_deep() -> NotStrictJson:
    return NotStrictJson(f"The body is nested deeper than {MAX_DEPTH} levels.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        times = Counter(key for key, _ in pairs)
        twice = next(key for key in times if times[key] > 1)
        raise NotStrictJson(f"The key {twice[:100]!r} stands twice in one object.")
    return found


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS or not -(2**63) <= (number := int(digits)) < 2**63:
        raise NotStrictJson("The body has a whole number outside 64 bits.")
    return number


def _float(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise NotStrictJson("The body has a number outside 64 bits.")
    return number


def _constant(name: str) -> NoReturn:
    raise NotStrictJson(f"The body has {name}, which is not JSON.")


_decoder = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant
)
