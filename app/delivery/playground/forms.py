"""The form of the playground: one person or two, read from a query string or a form."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from marshmallow import ValidationError
from werkzeug.datastructures import MultiDict

from app.catalogue.context.models import ContextField
from app.core.errors import problems
from app.delivery.playground.schemas import ContextValues

Sent = MultiDict[str, str]

PERSON = "context"
"""Prefix of the names of parameters."""
DISPLAY_LIMIT = 4
"""Custom fields that are shown at once. More are folded."""
MINUTES = len("2026-11-24T07:00")
TIME = "currentTime"


@dataclass(frozen=True, slots=True)
class Input:
    """One field of the context. ``choices``: its legal values, if it has any."""

    field: str
    name: str
    value: str
    choices: Sequence[tuple[str, str]] = ()

    @property
    def is_time(self) -> bool:
        return self.field == TIME


@dataclass(frozen=True, slots=True)
class PersonForm:
    """The inputs for one person, whose names all start with ``prefix``, and their values.

    ``more``: lines ``name=value`` for fields without an input. ``unknown``: those fields.
    ``illegal``: field and value, if it isn't a legal one. ``faults``: error messages by field.
    """

    prefix: str
    shown: Sequence[Input]
    folded: Sequence[Input]
    more: str
    values: Mapping[str, str]
    unknown: Sequence[str] = ()
    illegal: Sequence[tuple[str, str]] = ()
    faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_unfolded(self) -> bool:
        return bool(self.more or any(each.value for each in self.folded))

    @property
    def summary(self) -> str:
        others = len(self.folded) - 1  # without sessionId and time, but with the box for more
        return f"sessionId, time and {others} more fields"


def person(sent: Sent, prefix: str, fields: Sequence[ContextField]) -> PersonForm:
    """Read a person from parameters such as ``context.userId``."""
    given = {
        name.removeprefix(f"{prefix}."): value.strip()
        for name, value in sent.items()
        if name.startswith(f"{prefix}.") and value.strip()
    } | dict(_lines(sent.get(f"{prefix}-more", "")))
    known = {each.name: each for each in fields}
    own = [name for name in known if not known[name].is_built_in]
    built_in = ["sessionId", TIME, "remoteAddress", "appName", "environment"]
    inputs = {
        name: Input(name, f"{prefix}.{name}", _as_shown(name, given.get(name, "")), choices)
        for name in ("userId", *own, *built_in)
        for choices in [_choices(known.get(name), given.get(name))]
    }
    rest = {name: value for name, value in given.items() if name not in inputs}
    values, faults = _loaded(given)
    return PersonForm(
        prefix,
        [inputs[name] for name in ("userId", *own[:DISPLAY_LIMIT])],
        [inputs[name] for name in (*built_in, *own[DISPLAY_LIMIT:])],
        "\n".join(f"{name}={value}" for name, value in rest.items()),
        values,
        unknown=list(rest),
        illegal=list(_illegal(values, known)),
        faults=faults,
    )


def _loaded(given: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the valid values, and error messages for the others, by field."""
    faults: dict[str, str] = {}
    sent = {name: _as_sent(name, value) for name, value in given.items()}
    try:
        return ContextValues().deserialize(sent).values, faults
    except ValidationError as error:
        faults = {path.lstrip("/"): message for path, message in problems(error.messages)}
    return {name: value for name, value in sent.items() if name not in faults}, faults


def _lines(text: str) -> Iterable[tuple[str, str]]:
    """Parse a field and its value from each line: ``plan=plus``."""
    for line in text.splitlines():
        name, _, value = line.partition("=")
        if name.strip():
            yield name.strip(), value.strip()


def _as_sent(name: str, value: str) -> str:
    """Complete a time from a browser, which has no seconds and no zone: it is taken as UTC."""
    if name == TIME and len(value) == MINUTES:
        return f"{value}:00Z"
    return value


def _as_shown(name: str, value: str) -> str:
    """Cut a time to minutes for the input. If it is no time, browsers would show nothing."""
    if name != TIME:
        return value
    return value[:MINUTES] if re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d", value) else ""


def _choices(known: ContextField | None, value: str | None) -> list[tuple[str, str]]:
    """Return the legal values as options, and the chosen value even if it isn't legal."""
    if known is None or not known.legal_values:
        return []
    legal = known.values
    return [(each, each) for each in chain(legal, [value] if value and value not in legal else [])]


def _illegal(
    values: Mapping[str, str], known: Mapping[str, ContextField]
) -> Iterable[tuple[str, str]]:
    for name, value in values.items():
        legal = known[name].values if name in known else []
        for part in value.split(","):
            if legal and part.strip() not in legal:
                yield name, part.strip()
