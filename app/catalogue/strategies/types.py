"""The types of strategies, and the parameters of each: ``rollout``, ``userIds`` and so on.

Values are stored as text. The engine that SDKs evaluate with would misread the refused values, or
they could change the rule that it builds.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from app.catalogue.constraints.operators import Operator
from app.catalogue.constraints.operators import problem as problem_of_value
from app.catalogue.strategies.models import CustomParameter

ROLLOUT = "flexibleRollout"
EVERYONE = "default"
ALWAYS_STICKY = ("default", "random", "userId", "sessionId")
"""Stickiness that every rollout supports, besides context fields that allow it."""
LONGEST_LIST = 10_000
LONGEST_GROUP = 100
ALL = 100
"""The whole, in percent."""


class Parameter(NamedTuple):
    """``problem``: returns the error message for a value, or None.

    ``default``: empty if the parameter is required; None if it can be omitted, or its default
    depends on the feature.
    """

    problem: Callable[[str], str | None]
    default: str | None = ""


def _percentage(value: str) -> str | None:
    if re.fullmatch(r"[0-9]{1,3}", value) and int(value) <= ALL:
        return None
    return "Enter a whole number from 0 to 100."


def _group(value: str) -> str | None:
    if (
        1 <= len(value) <= LONGEST_GROUP
        and value.isprintable()
        and not set(value) & {'"', "'", "\\"}
    ):
        return None
    return "Use 1 to 100 characters without quotes, backslashes and line breaks."


def _sticky(value: str) -> str | None:
    return None if re.fullmatch(r"[A-Za-z0-9_~.-]{1,100}", value) else "Name a context field."


def _list(value: str) -> str | None:
    if len(value) > LONGEST_LIST:
        return f"Enter at most {LONGEST_LIST:,} characters."
    if not value.isprintable() or set(value) & {'"', "\\"}:
        return "Must not have quotes, backslashes or line breaks. Separate by commas."
    return None if listed(value) else "Enter at least one, separated by commas."


def _networks(value: str) -> str | None:
    wrong = (each for each in listed(value) if problem_of_value(Operator.IN_CIDR, each))
    first = next(wrong, None)
    if first is not None:
        return f"{first!r} is not an address or a network, like 10.0.0.0/8."
    return _list(value)


def listed(value: str) -> list[str]:
    """The parts of a value like ``1, 2,3``."""
    return [part.strip() for part in value.split(",") if part.strip()]


def percent(name: str, parameters: Mapping[str, str]) -> int | None:
    """The share of a rollout, old or new; None for strategies without one."""
    share = parameters.get("rollout", parameters.get("percentage"))
    return None if share is None or name not in TYPES else int(share)


def of_custom(parameters: Sequence[CustomParameter]) -> dict[str, Parameter]:
    """The parameters of a type that people created."""
    return {
        each["name"]: Parameter(CHECKS[each["type"]], "" if each["required"] else None)
        for each in parameters
    }


def problems(name: str, known: Mapping[str, Parameter], given: Mapping[str, str]) -> dict[str, str]:
    """Error messages for parameters of a type, by name."""
    found = {}
    for key in sorted({*given, *known}):
        if key not in known:
            found[key] = f"{name} has no parameter with this name."
        elif key in given or known[key].default == "":
            found[key] = known[key].problem(given.get(key, "")) or ""
    return {key: message for key, message in found.items() if message}


def in_full(
    known: Mapping[str, Parameter], given: Mapping[str, str], defaults: Mapping[str, str]
) -> dict[str, str]:
    """Parameters of a type: the given ones, and defaults of the others where there are any."""
    values = {
        key: given.get(key, defaults.get(key, parameter.default))
        for key, parameter in known.items()
    }
    return {key: value for key, value in values.items() if value is not None}


def _text(value: str) -> str | None:
    if 1 <= len(value) <= LONGEST_LIST and value.isprintable():
        return None
    return f"Enter 1 to {LONGEST_LIST:,} characters without line breaks."


def _boolean(value: str) -> str | None:
    return None if value in {"true", "false"} else "Enter true or false."


CHECKS: Mapping[str, Callable[[str], str | None]] = MappingProxyType(
    {
        "string": _text,
        "percentage": _percentage,
        "list": _text,
        "number": partial(problem_of_value, Operator.NUM_EQ),
        "boolean": _boolean,
    }
)
"""``Parameter.problem`` by the kind of a custom parameter, as Unleash names them."""

TYPES: Mapping[str, Mapping[str, Parameter]] = MappingProxyType(
    {
        ROLLOUT: {
            "rollout": Parameter(_percentage, "100"),
            "stickiness": Parameter(_sticky, None),
            "groupId": Parameter(_group, None),
        },
        EVERYONE: {},
        "userWithId": {"userIds": Parameter(_list)},
        "remoteAddress": {"IPs": Parameter(_networks)},
        "applicationHostname": {"hostNames": Parameter(_list)},
        "gradualRolloutUserId": {
            "percentage": Parameter(_percentage, "100"),
            "groupId": Parameter(_group, None),
        },
        "gradualRolloutSessionId": {
            "percentage": Parameter(_percentage, "100"),
            "groupId": Parameter(_group, None),
        },
        "gradualRolloutRandom": {"percentage": Parameter(_percentage, "100")},
    }
)
"""Parameters of the built-in types, by the names that SDKs know."""

DESCRIPTIONS: Mapping[str, str] = MappingProxyType(
    {
        ROLLOUT: "A share of the people, the same ones each time",
        EVERYONE: "Everyone",
        "userWithId": "People by their userId",
        "remoteAddress": "People by the address they ask from",
        "applicationHostname": "Applications by the host they run on",
        "gradualRolloutUserId": "A share of the people, by userId; use flexibleRollout instead",
        "gradualRolloutSessionId": "A share of the visits; use flexibleRollout instead",
        "gradualRolloutRandom": "A share of the requests; use flexibleRollout instead",
    }
)
"""Descriptions of the built-in types, by name."""
