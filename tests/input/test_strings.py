"""Strings that programs choke on: each is refused, or stored and read back as it was sent."""

import json
import re
import unicodedata
from typing import NamedTuple

import pytest
from flask import Flask

from tests.clients import ApiClient
from tests.input.corpora import OURS, strings
from tests.people import People

EVERY_NTH = 9
"""Of the collected strings, with all of OURS; the others are for the soak tests."""


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
    Home("POST", "/environments", "name", "/environments?limit=1000", taken_as_sent=True),
    Home("POST", "/feedback", "feedbackId", "/user", taken_as_sent=True),
    Home("POST", "/user/tokens", "description", "/user/tokens?limit=1000"),
]
OTHERS = {
    "/projects": {"name": "x"},
    "/environments": {"type": "test"},
    "/projects/default": {"name": "Default"},
}
Verdict = tuple[int, str | None, str | None]


def client_of(app: Flask) -> tuple[ApiClient, dict[str, int]]:
    """An Admin, and somebody and something to be named in all ways."""
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
    """How it was answered; whoever takes a string must give it back."""
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
    return answer.status_code, answer.json["name"], said


@pytest.fixture
def some() -> list[str]:
    return [*strings()[: -len(OURS) : EVERY_NTH], *OURS]


def test_a_string_is_refused_or_read_back_and_the_databases_agree(twins, some):
    clients = [client_of(app) for app in twins]
    for number, text in enumerate(some):
        home = HOMES[number % len(HOMES)]
        first, second = (verdict(client, ids, home, text) for client, ids in clients)
        assert first == second, (home, ascii(text[:80]))
