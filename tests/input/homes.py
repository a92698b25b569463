"""Where a string is stored, and where it is read again."""

import json
import re
import unicodedata
from typing import NamedTuple

from flask import Flask

from tests.support.clients import ApiClient
from tests.support.people import People


class Home(NamedTuple):
    """Where a string is stored, and where it is read again; ``taken_as_sent``: neither trimmed
    nor composed.
    """

    method: str
    path: str
    field: str
    read: str
    taken_as_sent: bool = False


HOMES = [
    Home("PUT", "/projects/default", "name", "/projects/default"),
    Home("PUT", "/projects/default", "description", "/projects/default"),
    Home("PUT", "/projects/default", "defaultStickiness", "/projects/default"),
    Home("PUT", "/projects/default/features/a", "description", "/projects/default/features/a"),
    Home("PUT", "/user-admin/{person}", "username", "/user-admin/{person}"),
    Home("PUT", "/user-admin/{person}", "name", "/user-admin/{person}"),
    Home("PUT", "/user-admin/{person}", "email", "/user-admin/{person}", taken_as_sent=True),
    Home("PUT", "/service-account/{robot}", "username", "/service-account/{robot}"),
    Home("PUT", "/service-account/{robot}", "name", "/service-account/{robot}"),
    Home("PUT", "/tag-types/team", "description", "/tag-types"),
    Home("POST", "/projects", "id", "/projects/{sent}", taken_as_sent=True),
    Home("POST", "/projects/default/features", "name", "/projects/default/features/{sent}", True),
    Home("POST", "/tag-types", "name", "/tag-types?limit=1000", taken_as_sent=True),
    Home("POST", "/context", "name", "/context", taken_as_sent=True),
    Home("PUT", "/context/userId", "description", "/context/userId"),
    Home("POST", "/context/appName/legal-values", "value", "/context/appName"),
    Home("POST", "/environments", "name", "/environments?limit=1000", taken_as_sent=True),
    Home("POST", "/feedback", "feedbackId", "/user", taken_as_sent=True),
    Home("POST", "/user/tokens", "description", "/user/tokens?limit=1000"),
    Home("POST", "/api-tokens", "tokenName", "/api-tokens?limit=1000"),
    Home("POST", "/webhooks", "name", "/webhooks?limit=1000"),
]


OTHERS = {
    "/projects": {"name": "x"},
    "/environments": {"type": "test"},
    "/api-tokens": {"type": "client", "environment": "production"},
    "/webhooks": {"url": "https://hooks.example/"},
    "/projects/default": {"name": "Default"},
}


Verdict = tuple[int, str | None, str | None]


def client_of(app: Flask) -> tuple[ApiClient, dict[str, int]]:
    """An Admin, and a user and objects whose names are tried."""
    people = People(app)
    admin = people.client("admin", role="Admin")
    admin.ok("POST", "/projects/default/features", {"name": "a"})
    admin.ok("POST", "/tag-types", {"name": "team"})
    return admin, {
        "person": people.person("grace"),
        "robot": people.service_account("robot"),
    }


def tidied(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip()).replace("\r\n", "\n")


def found_in(document: object, text: str) -> bool:
    """Whether one of the strings in it is the text."""
    if isinstance(document, dict):
        return any(found_in(part, text) for part in document.values())
    if isinstance(document, list):
        return any(found_in(part, text) for part in document)
    return document == text


def verdict(client: ApiClient, ids: dict[str, int], home: Home, text: str) -> Verdict:
    """How it was answered. A string that was accepted must be returned unchanged."""
    body = {**OTHERS.get(home.path, {}), home.field: text}
    answer = client.request(
        home.method,
        home.path.format_map(ids),
        data=json.dumps(body),  # ASCII, so that half of a surrogate pair can be said at all
        content_type="application/json",
    )
    assert answer.status_code in {200, 201, 400, 409}, (home, ascii(text[:80]), answer.text[:500])
    if answer.status_code < 300:
        expected = text if home.taken_as_sent else tidied(text)
        again = client.ok("GET", home.read.format_map({**ids, "sent": text}))
        assert found_in(again, expected), (home, ascii(text[:80]))
        return answer.status_code, None, None
    said = re.sub(r'"id":"[^"]*",', "", answer.text)
    return answer.status_code, answer.get_json()["name"], said
