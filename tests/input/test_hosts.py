"""What a client calls this server by is believed nowhere and repeated nowhere."""

import re

import pytest

from tests.support.browser import Browser
from tests.support.clients import ApiClient

FOREIGN = [
    *("evil.example", "EVIL.example", "evil.example:80", "evil.example.", "user@evil.example"),
    *(
        "localhost.evil.example",
        "evil.example#localhost",
        "evil.example/localhost",
        "evil.example?",
    ),
    *(
        "localhost, evil.example",
        "evil.example\\",
        "[::evil]",
        "evil\u3002example",
        "-evil.example:x",
    ),
]
OWN = ["localhost", "LOCALHOST", "localhost:80", "127.0.0.1", "[::1]", "127.0.0.1:4242"]
PATHS = [
    "/",
    "/sign-in",
    "/projects",
    "/projects/default",
    "/api/",
    "/api/openapi.json",
    "/nothing",
]
FORWARDED = ("X-Forwarded-Host", "X-Host", "Forwarded", "X-Original-URL", "X-Forwarded-Prefix")


def asked(host: str) -> dict[str, str]:
    return {"HTTP_HOST": host.encode().decode("latin-1")}


@pytest.mark.parametrize("host", FOREIGN)
def test_a_foreign_name_is_refused_by_pages_and_repeated_nowhere(
    browser: Browser, visitor: Browser, host: str
):
    for client in (browser.client, visitor.client):
        for path in PATHS:
            answer = client.get(path, environ_overrides=asked(host))
            assert answer.status_code < 500, path
            told = f"{answer.headers} {answer.text}".lower()
            assert "evil" not in told, path
    assert visitor.client.get("/sign-in", environ_overrides=asked(host)).status_code == 400
    assert browser.client.get("/projects", environ_overrides=asked(host)).status_code in {303, 400}


@pytest.mark.parametrize("name", FORWARDED)
def test_a_name_that_was_handed_on_is_repeated_nowhere(browser: Browser, name: str):
    for path in PATHS:
        answer = browser.client.get(path, headers={name: "host=evil.example"})
        assert "evil" not in f"{answer.headers} {answer.text}", path


def test_links_for_people_have_the_configured_address(admin: ApiClient):
    body = {"username": "ada", "rootRole": 3}
    made = admin.post("/user-admin", body, environ_overrides=asked("evil.example"))
    assert made.status_code == 201
    assert made.json["inviteLink"].startswith("http://127.0.0.1:4242/")
    assert re.fullmatch(r"/api/admin/user-admin/\d+", made.headers["Location"])


@pytest.mark.parametrize("host", OWN)
def test_its_own_name_works_however_it_is_written(admin: ApiClient, visitor: Browser, host: str):
    assert admin.get("/user", environ_overrides=asked(host)).status_code == 200
    assert visitor.client.get("/sign-in", environ_overrides=asked(host)).status_code == 200
