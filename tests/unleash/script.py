"""A script as users of Unleash have them: with calls of its admin API alone, it seeds 3 projects.

They have 50 features with strategies, segments, variants, dependencies and tags, and there are
tokens to read them.
"""

from collections.abc import Callable
from typing import Any

Call = Callable[[str, str, Any], Any]
"""Sends a method, a path below ``/api/admin`` and a body; returns the JSON of the answer."""

PROJECTS = {"shop": "Shop", "search": "Search", "pay": "Payments"}
FEATURES = 50
COPY, ARCHIVED = "shop.copy", "shop.old"
EVERYONE, NORDIC, GOLD, TESTER, NO_ONE = range(5)
"""Who gets a feature: its number divided by 5 leaves this remainder."""


def name_of(number: int) -> str:
    return f"{_project(number)}.feature-{number:02}"


def is_on(number: int, user: str, country: str, plan: str) -> bool:
    """Whether an application in production gets “on”."""
    if _is_off(number) or (_is_child(number) and plan != "gold"):
        return False
    return (True, country == "NO", plan == "gold", user == "7", False)[number % 5]


def seed(call: Call) -> str:
    """Make everything; the secret of a token for all projects in production."""
    for id, name in PROJECTS.items():
        call("POST", "/projects", {"id": id, "name": name, "description": f"All of {name}"})
    for field in ("country", "plan"):
        call("POST", "/context", {"name": field, "description": "", "stickiness": False})
    call("POST", "/tag-types/validate", {"name": "team"})
    call("POST", "/tag-types", {"name": "team", "description": "Whose it is", "icon": "T"})
    segments = {NORDIC: _segment(call, "country", "NO"), GOLD: _segment(call, "plan", "gold")}
    for number in range(FEATURES):
        _feature(call, number, segments.get(number % 5))
    for number in filter(_is_child, range(FEATURES)):
        path = f"{_path(number)}/dependencies"
        call("POST", path, {"feature": name_of(number - 6)})  # for people of the plan gold
    _copy_and_archive(call)
    wanted = {"tokenName": "reader", "type": "client", "environment": "production"}
    return str(call("POST", "/api-tokens", {**wanted, "projects": ["*"]})["secret"])


def _feature(call: Call, number: int, segment: int | None) -> None:
    name, project = name_of(number), _project(number)
    call("POST", "/features/validate", {"name": name, "projectId": project})
    facts = {"name": name, "type": "release", "description": "", "impressionData": False}
    call("POST", f"/projects/{project}/features", facts)
    call("PATCH", _path(number), [{"op": "replace", "path": "/type", "value": "experiment"}])
    call("POST", f"/features/{name}/tags", {"type": "team", "value": project})
    production, tester = f"{_path(number)}/environments/production", _in("userId", "7")
    share = "0" if number % 5 == NO_ONE else "100"
    strategy = {
        "name": "flexibleRollout",
        "title": "A first",
        "parameters": {"rollout": share, "stickiness": "default", "groupId": name},
        "constraints": [tester] if number % 5 == TESTER else [],
        "segments": [segment] if segment is not None else [],
        "variants": [_variant("blue"), _variant("red")] if number % 5 == EVERYONE else [],
    }
    made = call("POST", f"{production}/strategies", strategy)
    title = {"op": "replace", "path": "/title", "value": f"People of {project}"}
    call("PATCH", f"{production}/strategies/{made['id']}", [title])
    call("POST", f"{production}/on", None)
    if _is_off(number):
        call("POST", f"{production}/off", None)


def _copy_and_archive(call: Call) -> None:
    call("POST", f"{_path(0)}/clone", {"name": COPY, "replaceGroupId": True})
    call("POST", f"/projects/shop/features/{COPY}/environments/production/on", None)
    call("POST", "/projects/shop/features", {"name": ARCHIVED, "type": "release"})
    call("DELETE", f"/projects/shop/features/{ARCHIVED}", None)


def _segment(call: Call, field: str, value: str) -> int:
    body = {"name": f"{field} {value}", "constraints": [_in(field, value)]}
    return int(call("POST", "/segments", body)["id"])


def _in(field: str, *values: str) -> dict[str, Any]:
    flags = {"inverted": False, "caseInsensitive": False}
    return {"contextName": field, "operator": "IN", "values": [*values], **flags}


def _variant(name: str) -> dict[str, Any]:
    return {"name": name, "weight": 500, "weightType": "variable", "stickiness": "default"}


def _project(number: int) -> str:
    return [*PROJECTS][number % 3]


def _path(number: int) -> str:
    return f"/projects/{_project(number)}/features/{name_of(number)}"


def _is_off(number: int) -> bool:
    """One that would be on for everyone."""
    return number % 10 == 5


def _is_child(number: int) -> bool:
    """One for the tester, if its parent is on too."""
    return number % 10 == 8
