"""Addresses that are written strangely."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.support.access import NEEDS, PAGES_NEED
from tests.support.browser import Browser
from tests.support.clients import ApiClient, error_of

METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "HEAD")


STRANGE = [
    *(
        "%2F",
        "%252F",
        "..%2F..",
        ".",
        "..",
        "%2e%2e",
        "%00",
        "web%00",
        "%0A",
        "web%0A",
        "web%0D%0A",
    ),
    *("%ff", "%C0%AF", "%ED%A0%80", "%F0%9F%92%A5", ";", "web;x=1", "web%3Bx", "web%20", "%20web"),
    *("web%2F", "web%5C", "%5Cweb", "WEB", "%EF%BD%97eb", "web%E2%80%8B", "%ef%bb%bfweb", "web%09"),
    *(
        "x" * 101,
        "x" * 5_000,
        "%25",
        "%",
        "%zz",
        "web.",
        "web..",
        "*",
        "'",
        '"',
        "%3Cscript%3E",
        "-",
    ),
]


NUMBERS = [
    *(
        "0",
        "01",
        "+1",
        "-1",
        "1.0",
        "1e0",
        "0x1",
        "%201",
        "1%20",
        "%D9%A1",
        "1_0",
        "9" * 10,
        "9" * 5_000,
    ),
]


AROUND = ["{}/", "{}//", "/.{}", "/x/..{}", "{};x", "{}%00", "{}.json", "{}?x=%ff", "{}%3F"]
"""A whole address, written otherwise. (A doubled slash in front is dropped by waitress.)"""


FOR_PROGRAMS = re.compile(r"/(api/.*[^/]|health|ready)(/|%2F)")
"""Where a slash at the end makes no difference."""


ANY_NAME = (
    "/api/admin/client-metrics/",
    "/api/admin/tags/",
    "/api/admin/api-tokens/",
    "/api/admin/events/",
)
"""Lists that are empty for an unknown name."""


PIECES = {
    "id": NUMBERS,
    "ref": [*NUMBERS, "a" * 63, "A" * 64, "*:production.fst_sdk_x"],
    "key": STRANGE,
    None: STRANGE,
    "path": STRANGE,
    "text": STRANGE,
    "string": ["%2F", "ABC"],
    "uuid": STRANGE,
}


RULES = sorted({rule for _, rule in NEEDS | PAGES_NEED} - {"/sign-out"})


VARIABLE = re.compile(r"<(?:(\w+)(?:\(.*?\))?:)?(\w+)>")


USUAL = {
    "id": "1",
    "ref": "1",
    "key": "web",
    "string": "AB",
    "uuid": "5f8cf0a5-6bd4-4d5c-9f3c-7d1d6c3a2b10",
}


def plain(rule: str) -> str:
    return VARIABLE.sub(lambda found: USUAL.get(found[1], "x"), rule)


def strange(rule: str) -> list[str]:
    """The addresses of the rule with one part of it written strangely."""
    found = [shape.format(plain(rule)) for shape in AROUND]
    for variable in VARIABLE.finditer(rule):
        before, after = plain(rule[: variable.start()]), plain(rule[variable.end() :])
        found += [f"{before}{piece}{after}" for piece in PIECES[variable[1]]]
    return found


@pytest.fixture
def addressed(admin: ApiClient) -> None:
    """What the addresses would name if they were written plainly."""
    admin.ok("POST", "/projects", {"id": "web", "name": "Web"})
    for name in ("web", "x"):
        admin.ok("POST", "/projects/web/features", {"name": name})
    admin.ok("POST", "/tag-types", {"name": "web"})
    admin.ok("POST", "/context", {"name": "web"})
    admin.ok("POST", "/environments", {"name": "web", "type": "test"})


def ask(client: FlaskClient, method: str, address: str, headers: dict[str, str]) -> TestResponse:
    """With exactly this address; the client would tidy it."""
    path, _, query = address.partition("?")
    asked = {"PATH_INFO": unquoted(path), "QUERY_STRING": query}
    return client.open("/", method=method, headers=headers, environ_overrides=asked, buffered=True)


def unquoted(path: str) -> str:
    """What a server hands on: bytes, told as Latin-1."""
    return re.sub(
        rb"%([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), path.encode()
    ).decode("latin-1")


def check(client: FlaskClient, method: str, address: str, headers: dict[str, str]) -> None:
    answer = ask(client, method, address, headers)
    what = (method, address[:200], answer.status, answer.headers.get("Location"))
    assert answer.status_code < 500, what
    assert re.match(r"(http://localhost)?/(?![/\\])", answer.headers.get("Location", "/")), what
    ends_with_slash = FOR_PROGRAMS.fullmatch(address)
    takes_any_name = address.startswith(ANY_NAME)
    if (
        method == "GET"
        and not re.search(r"\A//|\?", address)
        and not takes_any_name
        and not ends_with_slash
    ):
        assert answer.status_code >= 300, what  # else it would be another name of something
    if address.startswith("/api/") and answer.status_code >= 400 and method != "HEAD":
        assert error_of(answer)[0] == answer.status_code


def check_all(app: Flask, admin: ApiClient, browser: Browser, every: int = 1) -> int:
    """How many requests were made; none may have done anything."""
    before = admin.ok("GET", "/events?limit=1000")["events"]
    headers, asked = {"Authorization": admin.token or ""}, 0
    addresses = [address for rule in RULES for address in strange(rule)]
    for number, address in list(enumerate(addresses))[::every]:
        client = app.test_client() if address.startswith("/api/") else browser.client
        methods = ["GET"]
        if not FOR_PROGRAMS.fullmatch(address):  # another method would change something there
            methods.append(METHODS[number // every % len(METHODS)])
        for method in methods:
            check(client, method, address, headers)
        asked += len(methods)
    assert admin.ok("GET", "/events?limit=1000")["events"] == before
    return asked
