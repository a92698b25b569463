"""The context that an application sends, in the canonical form that the engine gets."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from math import isfinite
from typing import Any
from uuid import uuid4

from app.core.errors import Invalid

STANDARD = ("appName", "currentTime", "environment", "remoteAddress", "sessionId", "userId")
PROPERTIES = "properties"
LONGEST = 4_096
"""Limit of characters of a value, since it may be compared a thousand times."""
EXACT = 2**53
"""From here on, JavaScript rounds integers."""
PLAIN_POINTS = range(-5, 22)
"""Positions of the decimal point for which JavaScript writes no exponent."""

_as_json = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), sort_keys=True).encode


@dataclass(frozen=True, slots=True)
class Context:
    """``text``: JSON, equal for all contexts that no feature can tell apart.

    ``fields``: the fields with a value, among those that any feature looks at.
    """

    text: bytes
    fields: frozenset[str]
    _values: Mapping[str, Any]
    _is_timed: bool

    @classmethod
    def of(cls, given: Mapping[str, Any], wanted: frozenset[str]) -> "Context":
        """Convert the given values to text. Fields that aren't ``wanted`` are left out.

        Raises:
            Invalid: if a value has more than LONGEST characters.

        """
        values: dict[str, Any] = {}
        properties: dict[str, str] = {}
        inner = given.get(PROPERTIES)
        for field in wanted:
            place = values if field in STANDARD else properties
            text = _text(field, given.get(field))
            if text is None and isinstance(inner, Mapping):
                text, place = _text(field, inner.get(field)), properties
            if text is not None:
                place[field] = text
        fields = frozenset(values) | frozenset(properties)
        if properties:
            values[PROPERTIES] = properties
        return cls(_as_json(values).encode(), fields, values, "currentTime" in wanted)

    def at(self, now: datetime, *, with_session: bool = False) -> bytes:
        """Return the text with ``now``, unless a time was given.

        Without a time, the engine would use the moment at which it read the features.
        ``with_session``: also add a random session, unless one was given.
        """
        added = {}
        if self._is_timed and "currentTime" not in self._values:
            added["currentTime"] = now.isoformat()
        if with_session and "sessionId" not in self._values:
            added["sessionId"] = str(uuid4())
        return _as_json({**self._values, **added}).encode() if added else self.text


def _text(field: str, value: Any) -> str | None:
    """Return a value as SDKs compare it; None if it is empty or of another type."""
    if field == "currentTime":
        value = _time(value)
    match value:
        case str():
            # Replaces lone surrogates, which JSON can contain, but no valid text.
            text = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        case bool():
            text = "true" if value else "false"
        case int() | float():
            text = _number(value)
        case _:
            return None
    if len(text) > LONGEST:
        raise Invalid(f"The context field {field} has more than {LONGEST:,} characters.")
    return text or None


def _time(value: Any) -> Any:
    """Return a time as the engine reads it. JavaScript sends milliseconds, or dates alone."""
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            time = datetime.fromtimestamp(value / 1_000, UTC)
        else:
            return value
    except (ValueError, OverflowError, OSError):
        return value
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).isoformat()


def _number(value: float) -> str:
    """Return a number as JavaScript writes it."""
    if isinstance(value, int) and abs(value) < EXACT:
        return str(value)
    try:
        value = float(value)
    except OverflowError:
        return "Infinity" if value > 0 else "-Infinity"
    if not isfinite(value):
        return ""
    return _formatted(Decimal(repr(value)).normalize())


def _formatted(value: Decimal) -> str:
    sign, numerals, exponent = value.as_tuple()
    digits, minus = "".join(map(str, numerals)), "-" if sign else ""
    point = len(digits) + int(exponent)
    if not value:
        return "0"
    if point not in PLAIN_POINTS:
        rest = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{minus}{digits[0]}{rest}e{point - 1:+d}"
    if point <= 0:
        return f"{minus}0.{'0' * -point}{digits}"
    if point >= len(digits):
        return minus + digits.ljust(point, "0")
    return f"{minus}{digits[:point]}.{digits[point:]}"
