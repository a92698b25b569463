"""Every field takes what it is for and nothing that is merely like it; no field takes more."""

import json
import re
from collections.abc import Callable
from itertools import product

import pytest
import sqlalchemy as sa
from flask import Flask
from werkzeug.test import TestResponse

from app.auth.models import Throttle
from app.core.db import db, unit_of_work
from tests.clients import ApiClient, problems_of
from tests.core.test_rehearsal import WRITES, rows
from tests.input.fields import ANYTHING, READABLE, SLOTS, UNREADABLE, Slot, with_value

PLACE = '"the value comes here"'
BODIES = {(method, path): body for method, path, body in WRITES if body is not None} | {
    ("POST", f"/projects/shop/archive/{way}"): {"features": ["a"]} for way in ("plan", "validate")
}
# Where the usual body lacks what a field stands in.
RULES = {
    "environments": ["production"],
    "changeRequestEnvironments": [{"name": "production"}],
}
FULLER = {
    ("POST", "/projects"): {"id": "new", "name": "New", **RULES},
    ("PUT", "/projects/empty/environments"): RULES,
    ("PUT", "/projects/shop"): {"name": "Shop"},
}
EVERY_NTH = 13
"""Of all pairs of field and value; those that are left out are for the soak tests."""
RESPONSE_ONLY = [
    *("id", "isAPI", "createdAt", "created_at", "seenAt", "lastSeen", "deletedAt", "archivedAt"),
    *("passwordHash", "password", "secret", "digest", "token", "tokens", "role", "kind"),
    *("accountId", "account_id", "userId", "projectId", "project_id", "usernameKey", "scimId"),
    *("loginAttempts", "emailSent", "inviteLink", "permissions", "total", "version", "members"),
    *("__class__", "__proto__", "constructor", "_sa_instance_state", "force", "dryRun", "reason"),
]

Send = Callable[[Slot, str], TestResponse]


def _forgive(app: Flask) -> None:
    with app.app_context(), unit_of_work(writes=True):
        db.session.execute(sa.delete(Throttle))


def sender(client: ApiClient, world: dict[str, int]) -> Send:
    """Rehearses a request with that JSON text at that place of its body."""

    def send(slot: Slot, text: str) -> TestResponse:
        which = (slot.method, slot.path)
        _forgive(client.app)  # what was typed wrongly before, or no password is looked at any more
        body = with_value(FULLER.get(which) or BODIES[which], slot.pointer, json.loads(PLACE))
        return client.request(
            slot.method,
            f"{slot.path.format_map(world)}?dryRun=true",
            data=json.dumps(body).replace(PLACE, text).encode(),
            content_type="application/json",
        )

    return send


@pytest.fixture
def send(root: ApiClient, world: dict[str, int]) -> Send:
    return sender(root, world)


def fields(document: dict, schema: dict, before: str = "") -> set[str]:
    """The pointers of all that a schema has a place for."""
    name = schema.get("$ref", "").rpartition("/")[2]
    schema = document["components"]["schemas"].get(name, schema)
    found = {before} - {""}
    if "items" in schema:
        found |= fields(document, schema["items"], f"{before}/0")
    for name, part in schema.get("properties", {}).items():
        found |= fields(document, part, f"{before}/{name}" if before else name)
    return found


def test_every_field_is_in_the_table(app: Flask, root, world):
    router = app.url_map.bind("localhost")
    document = root.ok("GET", "/api/openapi.json")
    described = {
        (router.match(re.sub("{.*?}", "1", path), method)[0], pointer)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if "requestBody" in operation
        for pointer in fields(
            document, operation["requestBody"]["content"]["application/json"]["schema"]
        )
    }
    table = {
        (router.match("/api/admin" + slot.path.format_map(world), slot.method)[0], slot.pointer)
        for slot in SLOTS
    }
    assert described == table
    assert len(table) == len(SLOTS)


def mistakes(send: Send, every: int = 1) -> list[tuple[object, ...]]:
    """What was not answered as the table says, and how."""
    found = []
    for slot, name in list(product(SLOTS, READABLE))[::every]:
        answer = send(slot, READABLE[name])
        expected = slot.status if name in slot.takes else 400
        if answer.status_code != expected or (expected == 400 and not problems_of(answer)):
            found.append((*slot[:3], name, answer.status_code, answer.text[-150:]))
    for slot, name in list(product(SLOTS, UNREADABLE))[::every]:
        answer = send(slot, UNREADABLE[name])
        if answer.status_code != 400 or list(problems_of(answer)) != [""]:
            found.append((*slot[:3], name, answer.status_code, answer.text[-150:]))
    return found


def test_values_are_taken_and_refused_as_the_table_says(send):
    assert mistakes(send, EVERY_NTH) == []


def test_no_body_takes_a_field_that_it_does_not_have(app, root, world):
    known = {(s.method, s.path, s.pointer.partition("/")[0]) for s in SLOTS}
    root.ok("GET", "/user")  # so that the token's use is noted
    before = rows(app)
    for method, path in {(slot.method, slot.path): None for slot in SLOTS}:
        names = [name for name in RESPONSE_ONLY if (method, path, name) not in known]
        body = {**(FULLER.get((method, path)) or BODIES[method, path]), **dict.fromkeys(names, 1)}
        answer = root.request(method, path.format_map(world), json=body)
        assert problems_of(answer) == {f"/{name}": "Unknown field." for name in names}, path
    assert rows(app) == before


def test_what_is_ignored_changes_nothing(app, root, world):
    ignored: dict[str, list[str]] = {}
    for slot in SLOTS:
        if slot.takes is ANYTHING and slot.method == "PUT" and "/" not in slot.pointer:
            ignored.setdefault(slot.path, []).append(slot.pointer)
    assert len(ignored) == 7
    for path, names in ignored.items():
        body = {"name": "shop"} if path == "/projects/shop" else {}
        root.ok("PUT", path.format_map(world), body)
        before = rows(app)
        root.ok("PUT", path.format_map(world), {**body, **dict.fromkeys(names, 999)})
        assert rows(app) == before, path
