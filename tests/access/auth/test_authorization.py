"""What is sent instead of a token: every route of the API answers all of it alike."""

import pytest
from flask import Flask

from tests.support.access import NEEDS, PUBLIC, call, path_of, told
from tests.support.browser import Browser
from tests.support.clients import ApiClient

GUARDED = sorted((method, rule) for (method, rule), needs in NEEDS.items() if needs != PUBLIC)


def forms(token: str) -> dict[str, str]:
    """Wrong ways to send a token that is good in itself, and some that are not."""
    return {
        "nothing": "",
        "a space": " ",
        "the scheme alone": "Bearer",
        "the scheme and a space": "Bearer ",
        "another scheme": f"Basic {token}",
        "a scheme of another kind": f"Token {token}",
        "the scheme twice": f"Bearer Bearer {token}",
        "two tokens": f"{token}, {token}",
        "a token and more": f"{token} x",
        "in quotes": f'"{token}"',
        "with its last letter gone": token[:-1],
        "in capitals": token.upper(),
        "not of ASCII": f"{token[:-1]}é",
        "far too long": token + "x" * 5_000,
    }


@pytest.mark.slow
def test_every_guarded_route_refuses_every_invalid_token_alike(app: Flask, admin):
    assert len(GUARDED) > 50
    answers = {
        (how, method, rule): told(call(ApiClient(app, sent), method, path_of(rule)))
        for how, sent in forms(admin.token).items()
        for method, rule in GUARDED
    }
    expected = told(ApiClient(app, None).get("/user"))
    assert expected[0] == 401
    assert [asked for asked, answer in answers.items() if answer != expected] == []


def test_a_session_alone_opens_no_route_of_the_api(app: Flask, browser: Browser):
    expected = told(ApiClient(app, None).get("/user"))
    for method, rule in GUARDED:
        body = {} if method in {"POST", "PUT"} else None
        answer = browser.client.open(path_of(rule), method=method, json=body)
        assert told(answer) == expected, (method, rule)
        assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("place", ["address", "cookie", "X-Api-Key", "body"])
def test_a_token_works_only_in_its_header(app: Flask, admin, place):
    token, client = admin.token, app.test_client()
    if place == "cookie":
        client.set_cookie("Authorization", token)
    answer = client.post(
        "/api/admin/projects",
        query_string={"token": token, "Authorization": token} if place == "address" else {},
        headers={place: token} if place.startswith("X-") else {},
        json={"Authorization": token, "token": token} if place == "body" else {},
    )
    assert answer.status_code == 401


def test_two_authorization_headers_are_refused(app: Flask, admin, viewer):
    headers = [("Authorization", admin.token), ("Authorization", viewer.token)]
    assert app.test_client().get("/api/admin/user", headers=headers).status_code == 401
