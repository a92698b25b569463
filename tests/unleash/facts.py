"""What Unleash 8.2 says of its API: its operations, and the shapes of their bodies.

``facts.txt`` has a line for each operation (method, path, statuses, and the shapes of the answer
and ``<-`` the request), then one for each shape: ``name?`` can be left out, ``…`` allows other
fields, ``*`` gives the shape of all others, and ``a/b`` are the only values.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).with_name("facts.txt")
PRIMITIVES: dict[str, Any] = {
    "string": str,
    "time": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "any": object,
}
_token = re.compile(r"\s*([{}\[\](),:?*…|&]|[^\s{}\[\](),:?*…|&]+(?: [A-Z][a-z]+)*)")
_time = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z").fullmatch


class Operation(NamedTuple):
    method: str
    path: str
    statuses: tuple[int, ...]
    answer: str | None
    request: str | None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    def has(self, path: str) -> bool:
        pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(self.path))
        return re.fullmatch(pattern, path) is not None


@cache
def operations() -> list[Operation]:
    lines = FILE.read_text("utf-8").partition("\n\n")[0].splitlines()
    return [_operation(line) for line in lines]


def _operation(line: str) -> Operation:
    first, _, request = line.partition(" <- ")
    method, path, statuses, *answer = first.split(" ", 3)
    return Operation(
        method,
        path,
        tuple(map(int, statuses.split("/"))),
        answer[0] if answer else None,
        request or None,
    )


def operation_at(method: str, path: str) -> Operation | None:
    """The operation of a request. Of several the one with the most fixed parts."""
    found = [each for each in operations() if each.method == method and each.has(path)]
    return min(found, key=lambda each: each.path.count("{"), default=None)


def problem(shape: str, value: Any) -> str | None:
    """Where and why a strict client refuses a value with this shape; None if it takes it."""
    return _problem(_parsed(shape), value, "")


def field_names(shape: str) -> set[str]:
    """The fields that a body with this shape can have."""
    match _parsed(shape):
        case ("ref", name):
            return field_names(_shapes()[name])
        case ("union", parts):
            return set().union(*(_names(part) for part in parts))
        case other:
            return _names(other)


def _names(node: Any) -> set[str]:
    if node[0] == "ref":
        return field_names(_shapes()[node[1]])
    if node[0] == "union":
        return set().union(*map(_names, node[1]))
    return set(node[1]) if node[0] == "object" else set()


@cache
def _shapes() -> dict[str, str]:
    lines = FILE.read_text("utf-8").partition("\n\n")[2].splitlines()
    return dict(line.split(" = ", 1) for line in lines)


def _problem(node: Any, value: Any, place: str) -> str | None:  # noqa: PLR0911 - one a kind
    kind, detail = node
    match kind:
        case "ref":
            return _problem(_parsed(_shapes()[detail]), value, place)
        case "union":
            faults = [_problem(each, value, place) for each in detail]
            return None if None in faults else faults[0]
        case "null":
            return None if value is None else f"{place}: not null"
        case "list":
            if not isinstance(value, list):
                return f"{place}: not a list"
            each = (_problem(detail, one, f"{place}/{n}") for n, one in enumerate(value))
            return next(filter(None, each), None)
        case "object":
            return _problem_of_object(node, value, place)
        case "values":
            return None if value in detail else f"{place}: {value!r} is not one of them"
    is_kind = isinstance(value, PRIMITIVES[detail]) and (
        not isinstance(value, bool) or detail in {"boolean", "any"}
    )
    if not is_kind or (detail == "time" and not _time(value)):
        return f"{place}: {value!r} is no {detail}"
    return None


def _problem_of_object(node: Any, value: Any, place: str) -> str | None:
    fields, rest = node[1], node[1].get("*")
    if not isinstance(value, dict):
        return f"{place}: not an object"
    for name, (is_required, shape) in fields.items():
        if name in value and name not in "…*":
            if fault := _problem(shape, value[name], f"{place}/{name}"):
                return fault
        elif is_required and name not in "…*":
            return f"{place}/{name}: is missing"
    others = value.keys() - fields.keys()
    if rest is not None:
        faults = (_problem(rest[1], value[name], f"{place}/{name}") for name in sorted(others))
        return next(filter(None, faults), None)
    return None if "…" in fields or not others else f"{place}/{min(others)}: is unknown there"


@cache
def _parsed(shape: str) -> Any:
    tokens = _token.findall(shape)
    node = _union(tokens)
    if tokens:
        raise ValueError(f"{shape}: {tokens}")
    return node


def _union(tokens: list[str]) -> Any:
    parts = [_one(tokens)]
    while tokens and tokens[0] == "|":
        tokens.pop(0)
        parts.append(_one(tokens))
    return parts[0] if len(parts) == 1 else ("union", parts)


def _one(tokens: list[str]) -> Any:  # noqa: PLR0911 - one a kind
    token = tokens.pop(0)
    if token == "(":
        node = _union(tokens)
        tokens.pop(0)
        return node
    if token == "[":
        node = ("list", _union(tokens))
        tokens.pop(0)
        return node
    if token == "{":
        return _object(tokens)
    if token.startswith("#"):
        return "ref", token[1:]
    if token == "null":
        return "null", None
    if token in PRIMITIVES:
        return "primitive", token
    values = token.split("/")
    known = {"true": True, "false": False}
    return "values", [known.get(each, int(each) if each.isdigit() else each) for each in values]


def _object(tokens: list[str]) -> Any:
    fields: dict[str, Any] = {}
    while tokens[0] != "}":
        name, is_required = tokens.pop(0), True
        if tokens[0] == "?":
            tokens.pop(0)
            is_required = False
        if name == "…":
            fields[name] = (False, None)
        else:
            tokens.pop(0)  # the colon
            fields[name] = (is_required, _union(tokens))
        if tokens[0] == ",":
            tokens.pop(0)
    tokens.pop(0)
    return "object", fields
