"""The configuration of an instance as one document: things by kind and name.

A document refers to things by name instead of id, so it can be applied to any instance. It has no
secrets and no usage data.
"""

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from hashlib import sha256
from types import MappingProxyType
from typing import Any, NamedTuple

from app.core.words import counted

VERSION = 1

SITES = "sites"
"""The name of the one list of browser origins."""

Item = dict[str, Any]
"""One thing in full, as JSON: every field of its kind is there."""


class Fault(NamedTuple):
    """An error in a thing. ``path``: its place there, like ``environments/production/enabled``."""

    path: str
    message: str

    def __str__(self) -> str:
        """``production, strategy 2, rollout: Enter a whole number from 0 to 100.``"""
        return f"{self.place}: {self.message}" if self.path else self.message

    @property
    def place(self) -> str:
        """The path in words."""
        return place_of(self.path)

    @property
    def environment(self) -> str | None:
        """The environment of a feature that the error is in, if it is in one."""
        parts = self.path.split("/")
        return parts[1] if parts[0] == "environments" and len(parts) > 1 else None


def place_of(path: str) -> str:
    """A path in an environment of a feature, or in the steps of a template, in words."""
    words, parts = [], path.split("/")
    if parts[0] not in {"environments", "milestones"} or len(parts) == 1:
        return path
    if parts[0] == "environments":
        words, parts = [parts[1]], parts[2:]
    for list_of, one in _NUMBERED:
        if parts[:1] == [list_of] and len(parts) > 1:
            words.append(f"{one} {int(parts[1]) + 1}")
            parts = parts[2:]
    return ", ".join([*words, *(part for part in parts if part != "parameters")])


_NUMBERED = (
    ("milestones", "step"),
    ("strategies", "strategy"),
    ("constraints", "constraint"),
)


class Kind(StrEnum):
    """The kinds of things. Each refers only to kinds before it."""

    ENVIRONMENTS = "environments"
    CONTEXT_FIELDS = "contextFields"
    STRATEGY_TYPES = "strategyTypes"
    TAG_TYPES = "tagTypes"
    TAGS = "tags"
    USERS = "users"
    SERVICE_ACCOUNTS = "serviceAccounts"
    PROJECTS = "projects"
    SEGMENTS = "segments"
    DEFAULT_STRATEGIES = "defaultStrategies"
    RELEASE_TEMPLATES = "releaseTemplates"
    FEATURES = "features"
    SDK_TOKENS = "sdkTokens"
    BROWSER_ORIGINS = "browserOrigins"

    @property
    def one(self) -> str:
        return _WORDS[self][0]

    @property
    def many(self) -> str:
        return _WORDS[self][1]

    def counted(self, number: int) -> str:
        return counted(number, *_WORDS[self])


_WORDS = {
    Kind.ENVIRONMENTS: ("environment", "environments"),
    Kind.CONTEXT_FIELDS: ("context field", "context fields"),
    Kind.STRATEGY_TYPES: ("strategy type", "strategy types"),
    Kind.TAG_TYPES: ("tag type", "tag types"),
    Kind.TAGS: ("tag", "tags"),
    Kind.USERS: ("user", "users"),
    Kind.SERVICE_ACCOUNTS: ("service account", "service accounts"),
    Kind.PROJECTS: ("project", "projects"),
    Kind.SEGMENTS: ("segment", "segments"),
    Kind.DEFAULT_STRATEGIES: ("default strategy", "default strategies"),
    Kind.RELEASE_TEMPLATES: ("release template", "release templates"),
    Kind.FEATURES: ("feature", "features"),
    Kind.SDK_TOKENS: ("SDK token", "SDK tokens"),
    Kind.BROWSER_ORIGINS: ("browser origin", "browser origins"),
}

_FIRST = ("enabled", "name", "contextName", "operator", "type", "value", "feature")
"""Keys that are written first in an object."""

Document = dict[Kind, dict[str, Item]]
"""Things by their kind and name; see ``name_of``."""

STATE: Mapping[str, Any] = MappingProxyType({"enabled": False, "strategies": [], "variants": []})
"""The initial state of a feature in an environment. Documents leave it out."""
CONSTRAINT: Mapping[str, Any] = MappingProxyType({"inverted": False, "caseInsensitive": False})
STRATEGY: Mapping[str, Any] = MappingProxyType(
    {
        "title": None,
        "disabled": False,
        "parameters": {},
        "constraints": [],
        "segments": [],
        "variants": [],
    }
)
STEP: Mapping[str, Any] = MappingProxyType({"transitionCondition": None})
TRANSITION: Mapping[str, Any] = MappingProxyType({"manual": False})

BLANKS: Mapping[Kind, Mapping[str, Any]] = MappingProxyType(
    {
        Kind.ENVIRONMENTS: {"sortOrder": 0, "deprecated": False},
        Kind.CONTEXT_FIELDS: {
            "description": None,
            "stickiness": False,
            "sortOrder": 0,
            "legalValues": [],
        },
        Kind.STRATEGY_TYPES: {"description": None, "parameters": [], "deprecated": False},
        Kind.TAG_TYPES: {"description": None, "hue": 1},
        Kind.TAGS: {},
        Kind.USERS: {"username": None, "email": None, "name": None},
        Kind.SERVICE_ACCOUNTS: {"name": None},
        Kind.PROJECTS: {
            "description": None,
            "mode": "open",
            "defaultStickiness": "default",
            "approvals": {},
            "members": {},
            "archived": False,
        },
        Kind.SEGMENTS: {"description": None, "project": None},
        Kind.DEFAULT_STRATEGIES: {key: STRATEGY[key] for key in STRATEGY if key != "disabled"},
        Kind.RELEASE_TEMPLATES: {"description": None, "project": None},
        Kind.FEATURES: {
            "type": "release",
            "description": None,
            "stale": False,
            "impressionData": False,
            "archived": False,
            "completed": None,
            "tags": [],
            "links": [],
            "parent": None,
            "environments": {},
        },
        Kind.SDK_TOKENS: {"expiresAt": None},
        Kind.BROWSER_ORIGINS: {},
    }
)
"""Values of fields that a document leaves out."""


_NAMES: Mapping[Kind, Callable[[Mapping[str, Any]], str]] = MappingProxyType(
    {
        Kind.PROJECTS: lambda item: str(item["id"]),
        Kind.TAGS: lambda item: f"{item['type']}:{item['value']}",
        Kind.USERS: lambda item: str(item["username"] or item["email"]),
        Kind.SERVICE_ACCOUNTS: lambda item: str(item["username"]),
        Kind.DEFAULT_STRATEGIES: lambda item: f"{item['project']} in {item['environment']}",
        Kind.BROWSER_ORIGINS: lambda _: SITES,
    }
)


def empty() -> Document:
    return {kind: {} for kind in Kind}


def name_of(kind: Kind, item: Mapping[str, Any]) -> str:
    """The name that identifies a thing among its kind."""
    of_kind = _NAMES.get(kind)
    return of_kind(item) if of_kind else str(item["name"])


def digest(item: Item | None) -> str:
    """Digest of an item, independent of the order of its fields.

    Without links it is that of versions which had none, so that imports from then can be undone.
    """
    if item and not item.get("links", True):
        item = {key: value for key, value in item.items() if key != "links"}
    return sha256(json.dumps(item, sort_keys=True).encode()).hexdigest()[:32]


def count(document: Document) -> int:
    return sum(len(items) for items in document.values())


def to_file(document: Document) -> dict[str, Any]:
    """The document as it is written: sorted, and without fields that have their default."""
    content: dict[str, Any] = {"version": VERSION}
    for kind in Kind:
        if kind is Kind.BROWSER_ORIGINS:
            content[kind.value] = document[kind].get(SITES, {}).get("origins", [])
        elif items := document.get(kind):
            content[kind.value] = [_written(kind, items[name]) for name in sorted(items)]
    return content


def _written(kind: Kind, item: Item) -> Item:
    written = _without(item, BLANKS[kind])
    if kind is Kind.DEFAULT_STRATEGIES:
        written |= _strategy(written)
    if kind is Kind.RELEASE_TEMPLATES:
        written["milestones"] = [_step(each) for each in item["milestones"]]
    if kind is Kind.SEGMENTS:
        written["constraints"] = [_without(each, CONSTRAINT) for each in item["constraints"]]
    if "environments" in written and kind is Kind.FEATURES:
        written["environments"] = {
            name: _state(state) for name, state in sorted(item["environments"].items())
        }
    return {key: _in_order(value) for key, value in written.items()}


def _state(state: Item) -> Item:
    written = _without(state, STATE)
    if "strategies" in written:
        written["strategies"] = [_strategy(_without(s, STRATEGY)) for s in state["strategies"]]
    return written


def _step(step: Item) -> Item:
    written = _without(step, STEP)
    written["strategies"] = [_strategy(_without(s, STRATEGY)) for s in step["strategies"]]
    if "transitionCondition" in written:
        written["transitionCondition"] = _without(step["transitionCondition"], TRANSITION)
    return written


def _strategy(written: Item) -> Item:
    if "constraints" not in written:
        return written
    constraints = [_without(each, CONSTRAINT) for each in written["constraints"]]
    return written | {"constraints": constraints}


def _in_order(value: Any) -> Any:
    """The value with the keys of all objects sorted, whatever order they were written in."""
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in sorted(value, key=_place)}
    if isinstance(value, list):
        return [_in_order(each) for each in value]
    return value


def _place(key: str) -> tuple[int, str]:
    """Sort key: first what identifies a thing, then its other fields by name."""
    return (_FIRST.index(key) if key in _FIRST else len(_FIRST), key)


def _without(item: Mapping[str, Any], blank: Mapping[str, Any]) -> Item:
    return {key: value for key, value in item.items() if key not in blank or value != blank[key]}
