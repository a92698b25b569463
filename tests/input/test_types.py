"""Every field takes what it is for and nothing that is merely like it; no field takes more."""

import re

import pytest
from flask import Flask

from app.web.browsers import ADMIN_API
from tests.input.fields import ANYTHING, LINK, SLOTS
from tests.input.values import BODIES, FULLER, Send, mistakes, sender
from tests.support.clients import ApiClient, problems_of
from tests.support.writes import World, filled, rows

pytestmark = [pytest.mark.slow, pytest.mark.one_in(2)]

ID = "5f8cf0a5-6bd4-4d5c-9f3c-7d1d6c3a2b10"
EVERY_NTH = 13
"""Of all pairs of field and value; those that are left out are for the soak tests."""
RESPONSE_ONLY = [
    *("id", "isAPI", "createdAt", "created_at", "seenAt", "lastSeen", "deletedAt", "archivedAt"),
    *("passwordHash", "password", "secret", "digest", "token", "tokens", "role", "kind"),
    *("accountId", "account_id", "userId", "projectId", "project_id", "usernameKey", "scimId"),
    *("loginAttempts", "emailSent", "inviteLink", "permissions", "total", "version", "members"),
    *("__class__", "__proto__", "constructor", "_sa_instance_state", "force", "dryRun", "reason"),
]


@pytest.fixture
def send(root: ApiClient, world: World) -> Send:
    return sender(root, world)


def fields(document: dict, schema: dict, before: str = "") -> set[str]:
    """The pointers of all that a schema has a place for."""
    name = schema.get("$ref", "").rpartition("/")[2]
    schema = document["components"]["schemas"].get(name, schema)
    before = before.removeprefix("/")  # of a body that is a list
    found = {before} - {""}
    if "items" in schema:
        found |= fields(document, schema["items"], f"{before}/0")
    for choice in schema.get("anyOf", ()):
        found |= fields(document, choice, before)
    for name, part in schema.get("properties", {}).items():
        found |= fields(document, part, f"{before}/{name}" if before else name)
    return found


def _filled(path: str) -> str:
    return re.sub("{(strategy|release|step|template)}", ID, path)


def test_every_field_is_in_the_table(app: Flask, root, world):
    router = app.url_map.bind("localhost")
    document = root.ok("GET", "/api/openapi.json")
    described = {
        (router.match(re.sub("{.*?}", "1", _filled(path)), method)[0], pointer)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if "requestBody" in operation and path.startswith(ADMIN_API)  # SDKs are read leniently
        for pointer in fields(
            document, operation["requestBody"]["content"]["application/json"]["schema"]
        )
    }
    table = {
        (router.match("/api/admin" + slot.path.format_map(world), slot.method)[0], slot.pointer)
        for slot in SLOTS
    }
    assert table == described
    assert len(table) == len(SLOTS)


def test_values_are_taken_and_refused_as_the_table_says(send):
    assert mistakes(send, EVERY_NTH) == []


def test_no_body_takes_a_field_that_it_does_not_have(app, root, world):
    known = {(s.method, s.path, s.pointer.partition("/")[0]) for s in SLOTS}
    root.ok("GET", "/user")  # so that the token's use is noted
    before = rows(app)
    for method, path in {(slot.method, slot.path): None for slot in SLOTS}:
        names = [name for name in RESPONSE_ONLY if (method, path, name) not in known]
        usual = FULLER.get((method, path)) or filled(BODIES[method, path], world)
        if isinstance(usual, list):
            continue
        body = {**usual, **dict.fromkeys(names, 1)}
        answer = root.request(method, path.format_map(world), json=body)
        assert problems_of(answer) == {f"/{name}": "Unknown field." for name in names}, path
    assert rows(app) == before


def test_what_is_ignored_changes_nothing(app, root, world):
    ignored: dict[str, list[str]] = {}
    for slot in SLOTS:
        if slot.takes is ANYTHING and slot.method == "PUT" and "/" not in slot.pointer:
            ignored.setdefault(slot.path, []).append(slot.pointer)
    assert len(ignored) == 15
    required = {"/projects/shop": {"name": "shop"}, LINK: {"url": "https://wiki.example"}}
    for path, names in ignored.items():
        body = required.get(path, {})
        root.ok("PUT", path.format_map(world), body)
        before = rows(app)
        root.ok("PUT", path.format_map(world), {**body, **dict.fromkeys(names, 999)})
        assert rows(app) == before, path
