"""The API accepts the session of a page that sends its form token, and of nothing else."""

import json
import re

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.access.sign_on.test_proxy import Through, behind
from tests.support.browser import Browser
from tests.support.clients import BASE, error_of, problems_of
from tests.support.oidc import change_settings
from tests.support.people import PASSWORD
from tests.support.sign_in import let_time_pass, sign_in

__all__ = ["behind"]

NEW = {"id": "new", "name": "New"}
SAME_SITE = {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"}
DRY_RUN = {"X-Dry-Run": "true"}


@pytest.fixture
def inside(app: Flask, ada: int) -> Browser:
    """A browser in which ada, an Admin, has signed in with a password."""
    browser = Browser(app)
    assert sign_in(browser, "ada").status == 303
    return browser


def page_token(browser: Browser) -> str:
    """The form token of the page on which people try the API."""
    found = re.search(r'name="csrf_token" value="([^"]+)"', browser.client.get("/api/try").text)
    assert found is not None
    return found[1]


def ask(
    browser: Browser,
    method: str = "GET",
    path: str = BASE + "/user",
    body: object = None,
    **headers: str,
) -> TestResponse:
    """What a script of the page gets; a header of ``headers`` that is empty is left out."""
    sent = {"X-CSRF-Token": page_token(browser), **SAME_SITE}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    sent = {name: value for name, value in sent.items() if value}
    if body is not None:
        sent["Content-Type"] = "application/json"
    data = None if body is None else json.dumps(body)
    return browser.client.open(path, method=method, headers=sent, data=data)


def test_a_page_reads_and_changes_in_the_name_of_who_is_signed_in(inside, admin):
    assert ask(inside).json["user"]["username"] == "ada"
    made = ask(inside, "POST", BASE + "/projects", NEW)
    assert made.status_code == 201
    assert "Set-Cookie" not in made.headers
    event = admin.ok("GET", "/events?type=project-created&project=new")["events"][0]
    assert event["createdBy"] == "ada"


@pytest.mark.parametrize(
    "headers",
    [
        {"X_CSRF_Token": ""},
        {"X_CSRF_Token": "made-up"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Host": "elsewhere.example"},
        {"Authorization": "Bearer"},
        {"Authorization": "made-up"},
    ],
    ids=str,
)
def test_the_cookie_counts_for_nothing_that_no_page_here_sent(app, inside, headers):
    for method, path, body in (("GET", "/user", None), ("POST", "/projects", NEW)):
        answer = ask(inside, method, BASE + path, body, **headers)
        assert error_of(answer) == (401, "AuthenticationRequired")
        assert answer.json["message"] == app.test_client().get(BASE + "/user").json["message"]


def test_the_token_of_another_session_is_refused(app, inside, people):
    people.person("eve", role="Admin")
    token = page_token(Browser(app).sign_in("eve"))
    assert ask(inside, X_CSRF_Token=token).status_code == 401


@pytest.mark.parametrize("path", ["/api/client/features", "/api/frontend", "/scim/v2/Users"])
def test_what_applications_and_directories_use_accepts_no_session(inside, path):
    assert ask(inside, path=path).status_code == 401


def test_the_access_ends_with_the_session(app, inside):
    token = page_token(inside)
    [cookie] = [inside.client.get_cookie(app.config["SESSION_COOKIE_NAME"])]
    inside.post("/sign-out")
    kept = app.test_client()
    kept.set_cookie(cookie.key, cookie.value)
    sent = {"X-CSRF-Token": token, **SAME_SITE}
    assert error_of(kept.get(BASE + "/user", headers=sent))[0] == 401


def test_a_change_needs_a_recent_proof_of_who_it_is_and_a_dry_run_does_not(app, admin, inside):
    let_time_pass(app)
    path = BASE + "/projects"
    answer = ask(inside, "POST", path, NEW)
    assert error_of(answer) == (401, "AuthenticationRequired")
    assert "confirm there that it is you" in answer.json["message"]
    assert admin.get("/projects/new").status_code == 404
    assert ask(inside, "POST", path, NEW, X_Dry_Run="true").status_code == 201
    page = inside.submit(inside.get("/api/try"), form="Allow changes for five minutes")
    page = inside.submit(page, {"confirm_password": PASSWORD})
    assert inside.follow(page).has("Changes allowed until")
    assert ask(inside, "POST", path, NEW).status_code == 201


def test_a_wrong_password_of_a_dry_run_is_counted(inside):
    body = {"oldPassword": "not the right one", "newPassword": "five yellow geese in a pond"}
    path = BASE + "/user/change-password"
    answers = [ask(inside, "POST", path, body, X_Dry_Run="true").status_code for _ in range(12)]
    assert answers[0] == 400
    assert answers[-1] == 429


def test_a_session_that_single_sign_on_has_replaced_has_no_access(app, inside):
    before = app.config["SETTINGS"]
    token = page_token(inside)
    change_settings(app, password_sign_in=False)
    try:
        sent = {"X-CSRF-Token": token, **SAME_SITE}
        assert inside.client.get(BASE + "/user", headers=sent).status_code == 401
    finally:
        app.config["SETTINGS"] = before


def test_behind_a_proxy_each_request_needs_the_name_of_the_session(behind):
    browser = Through(behind, "kim")
    browser.arrive()
    assert ask(browser).json["user"]["username"] == "kim"
    sent = {"X-CSRF-Token": page_token(browser), **SAME_SITE}
    browser.become("eve")
    assert browser.client.get(BASE + "/user", headers=sent).status_code == 401


def test_a_page_can_not_send_an_idempotency_key(inside):
    answer = ask(inside, "POST", BASE + "/projects", NEW, Idempotency_Key="1")
    assert problems_of(answer) == {"Idempotency-Key": "Only a request with a token can have one."}
