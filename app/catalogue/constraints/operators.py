"""The operators of constraints, and which values each can be compared with.

The engine that SDKs evaluate with would misread the refused values: a feature would be off for
everyone, or on for more people than intended.
"""

import ipaddress
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from enum import StrEnum

import re2

from app.catalogue.context.uses import COMPARE_WITH_PARTS


class Operator(StrEnum):
    IN = "IN"
    NOT_IN = "NOT_IN"
    STR_STARTS_WITH = "STR_STARTS_WITH"
    STR_ENDS_WITH = "STR_ENDS_WITH"
    STR_CONTAINS = "STR_CONTAINS"
    NUM_EQ = "NUM_EQ"
    NUM_GT = "NUM_GT"
    NUM_GTE = "NUM_GTE"
    NUM_LT = "NUM_LT"
    NUM_LTE = "NUM_LTE"
    DATE_AFTER = "DATE_AFTER"
    DATE_BEFORE = "DATE_BEFORE"
    SEMVER_EQ = "SEMVER_EQ"
    SEMVER_GT = "SEMVER_GT"
    SEMVER_GTE = "SEMVER_GTE"
    SEMVER_LT = "SEMVER_LT"
    SEMVER_LTE = "SEMVER_LTE"
    REGEX = "REGEX"
    IN_CIDR = "IN_CIDR"

    @property
    def takes_list(self) -> bool:
        """Whether it compares with any of several values."""
        return self in WITH_LIST

    @property
    def can_ignore_case(self) -> bool:
        return self is Operator.REGEX or self.startswith("STR_")

    @property
    def compares_whole_values(self) -> bool:
        """Whether a value must be one that the field can have, not a part of one."""
        return not self.startswith(COMPARE_WITH_PARTS)


WITH_LIST = frozenset(
    {
        Operator.IN,
        Operator.NOT_IN,
        Operator.STR_STARTS_WITH,
        Operator.STR_ENDS_WITH,
        Operator.STR_CONTAINS,
        Operator.IN_CIDR,
    }
)

# [0-9], not \d, which matches digits of other scripts.
_number = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?").fullmatch
# Longer parts of a version overflow in the engine.
_digits = r"(0|[1-9][0-9]{0,8})"
_identifiers = r"(0|[1-9][0-9]{0,8}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_version = re.compile(
    rf"{_digits}(\.{_digits}){{2}}(-{_identifiers}(\.{_identifiers})*)?"
    r"(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?"
).fullmatch
_network = re.compile(r"[0-9a-fA-F:.]+(/(0|[1-9][0-9]{0,2}))?").fullmatch


def problem(operator: Operator, value: str) -> str | None:
    """Error message for a value; None if it is valid."""
    if value.endswith("\\"):
        return "Must not end with a backslash, which SDKs misread."
    for prefix, is_valid, message in RULES:
        if operator.startswith(prefix) and not is_valid(value):
            return message
    return None


def _is_date(value: str) -> bool:
    with suppress(ValueError, OverflowError):  # OverflowError: outside years 1 to 9999 in UTC
        at = datetime.fromisoformat(value)
        return at.tzinfo is not None and bool(at.astimezone(UTC))
    return False


def _is_pattern(value: str) -> bool:
    quiet = re2.Options()
    quiet.log_errors = False
    try:
        re2.compile(value, quiet)
    except re2.error:
        return False
    return True


def _is_network(value: str) -> bool:
    with suppress(ValueError):
        return bool(_network(value)) and bool(ipaddress.ip_network(value, strict=False))
    return False


RULES: tuple[tuple[str, Callable[[str], object], str], ...] = (
    ("NUM_", _number, "Must be a number, like 5 or -0.5."),
    ("DATE_", _is_date, "Must be a time with its zone, like 2026-11-24T07:00:00Z."),
    ("SEMVER_", _version, "Must be a version with three numbers, like 5.2.0 or 5.2.0-beta.1."),
    ("REGEX", _is_pattern, "Must be a pattern in RE2 syntax, which has no look-around."),
    ("IN_CIDR", _is_network, "Must be an address or a network, like 10.0.0.0/8."),
)
"""(prefix of operators, test, error message), tried in this order."""
