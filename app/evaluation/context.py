"""What an application says about who asks, in the one form in which the engine gets it."""

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
"""Characters of a value that the features of an environment look at."""
EXACT = 2**53
"""From here on, JavaScript rounds whole numbers."""
PLAIN_POINTS = range(-5, 22)
"""Where the point may be for JavaScript to write a number without an exponent."""

_as_json = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), sort_keys=True).encode


@dataclass(frozen=True, slots=True)
class Context:
    """``text``: the same for all contexts that no feature could tell apart.

    ``fields``: those it has a value for, of those that any feature looks at.
    """

    text: bytes
    fields: frozenset[str]
    _values: Mapping[str, Any]
    _is_timed: bool

    @classmethod
    def of(cls, given: Mapping[str, Any], wanted: frozenset[str]) -> "Context":
        """The values that were given, as text; those of fields that aren't wanted are left out.

        Raises:
            Invalid: if a value is too long to be compared a thousand times.

        """
        values: dict[str, Any] = {}
        properties: dict[str, str] = {}
        inner = given.get(PROPERTIES)
        for field in wanted:
            place = values if field in STANDARD else properties
            found = _text(field, given.get(field))
            if found is None and isinstance(inner, Mapping):
                found, place = _text(field, inner.get(field)), properties
            if found is not None:
                place[field] = found
        fields = frozenset(values) | frozenset(properties)
        if properties:
            values[PROPERTIES] = properties
        return cls(_as_json(values).encode(), fields, values, "currentTime" in wanted)

    def at(self, now: datetime, *, with_session: bool = False) -> bytes:
        """The text with the time, where none was given; and with a session of our own.

        Without a time, the engine would take the one at which it read the features.
        """
        added = {}
        if self._is_timed and "currentTime" not in self._values:
            added["currentTime"] = now.isoformat()
        if with_session and "sessionId" not in self._values:
            added["sessionId"] = str(uuid4())
        return _as_json({**self._values, **added}).encode() if added else self.text


def _text(field: str, value: Any) -> str | None:
    """A value as SDKs compare it; None for what is empty or has no text."""
    if field == "currentTime":
        value = _time(value)
    match value:
        case str():
            found = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        case bool():
            found = "true" if value else "false"
        case int() | float():
            found = _number(value)
        case _:
            return None
    if len(found) > LONGEST:
        raise Invalid(f"The context field {field} has more than {LONGEST:,} characters.")
    return found or None


def _time(value: Any) -> Any:
    """A time as the engine reads it. JavaScript has milliseconds, and dates without a time."""
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found = datetime.fromtimestamp(value / 1_000, UTC)
        else:
            return value
    except (ValueError, OverflowError, OSError):
        return value
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).isoformat()


def _number(value: float) -> str:
    """A number as JavaScript writes it."""
    if isinstance(value, int) and abs(value) < EXACT:
        return str(value)
    try:
        value = float(value)
    except OverflowError:
        return "Infinity" if value > 0 else "-Infinity"
    if not isfinite(value):
        return ""
    return _rounded(Decimal(repr(value)).normalize())


def _rounded(value: Decimal) -> str:
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
