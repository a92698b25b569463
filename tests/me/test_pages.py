"""My account, in a browser without a script."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from flask import Flask

from tests.auth.test_sign_in import PASSWORD, ada, sign_in
from tests.browser import Browser, Page
from tests.clients import ApiClient

__all__ = ["ada"]  # a fixture

ANOTHER = "five words that nobody guesses"


@pytest.fixture
def inside(app: Flask, ada: int) -> Browser:
    """A browser in which ada, an Admin, has signed in with her password."""
    browser = Browser(app)
    assert sign_in(browser, "ada").status == 303
    browser.follow(browser.get("/"))
    return browser


def secret_of(page: Page) -> str:
    return next(
        e.all("code")[0].text for e in page.root.all("p") if e.attrs.get("class") == "secret__value"
    )


def test_the_name_at_the_foot_leads_to_what_one_is(inside, ada):
    page = inside.get(inside.get("/projects").links["ada"])
    assert page.h1 == "My account"
    assert page.has("ada@example.org")
    assert page.has('"accountType": "User"')


def test_a_token_is_shown_once_and_works_at_once(app, inside):
    page = inside.get("/account/tokens/new")
    page = inside.submit(page, {"description": "laptop", "lasts": "30"})
    secret = secret_of(page)
    assert page.answer.headers["Cache-Control"] == "no-store"
    client = ApiClient(app, secret)
    assert client.ok("GET", "/user")["user"]["username"] == "ada"
    for path in ("/account", "/events", "/account/tokens/new"):
        assert secret not in inside.get(path).text
    row = client.ok("GET", "/user/tokens")["tokens"][0]
    created = datetime.fromisoformat(row["createdAt"])
    lasts = datetime.fromisoformat(row["expiresAt"]) - created
    assert timedelta(days=29, hours=23) < lasts < timedelta(days=30, minutes=1)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"description": ""}, "What it is for: Must have 1 to 255 characters."),
        ({"description": "x", "lasts": "date"}, "Must be a time with its zone"),
        ({"description": "x", "lasts": "date", "expires_at": "2020-01-01"}, "in the future"),
    ],
)
def test_a_token_that_can_not_be_is_refused_with_what_was_typed(inside, typed, words):
    page = inside.submit(inside.get("/account/tokens/new"), typed)
    assert page.status == 400
    assert words in page.errors[0]
    assert page.fields()["description"] == typed["description"]


def test_a_token_is_revoked_after_a_look(app, inside):
    page = inside.submit(inside.get("/account/tokens/new"), {"description": "laptop"})
    client = ApiClient(app, secret_of(page))
    assert client.get("/user").status_code == 200
    page = inside.get(inside.get("/account").links["Revoke… laptop"])
    assert page.has("The token stops at once and for good.")
    page = inside.submit(page, {"reason": "lost"}, button="Revoke the token")
    assert inside.follow(page).messages == ["Token laptop is revoked; it stopped at once."]
    assert client.get("/user").status_code == 401


def test_nobody_sees_or_revokes_the_token_of_another(app, inside, people):
    people.token(people.person("kim"), "kims")
    page = inside.get("/account")
    assert not page.has("kims")
    assert inside.get("/account/tokens/1/revoke").status == 404
    assert inside.post("/account/tokens/1/revoke").status == 404


def test_a_new_password_ends_the_other_sessions(app, inside):
    other = Browser(app)
    sign_in(other, "ada")
    typed = {"old_password": PASSWORD, "new_password": ANOTHER}
    page = inside.submit(inside.get("/account/password"), typed)
    assert inside.follow(page).messages == [
        "Your password is changed; your other sessions have ended."
    ]
    assert other.get("/projects").status == 303
    assert sign_in(Browser(app), "ada", ANOTHER).status == 303


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("wrong", ANOTHER, "not your present password"),
        (PASSWORD, "short", "at least 15 characters"),
    ],
)
def test_a_password_that_can_not_be_changed_says_why(inside, old, new, words):
    page = inside.submit(
        inside.get("/account/password"), {"old_password": old, "new_password": new}
    )
    assert page.status == 400
    assert words in page.errors[0]
    assert "value" not in page.text.split("new_password")[1].split(">")[0]


def test_what_one_may_do_is_listed_with_its_source(app, people, admin):
    admin.ok("POST", "/projects", json={"id": "web", "name": "Web shop"})
    kim = people.person("kim", role="Editor")
    people.join(kim, "web", "Owner")
    page = Browser(app).sign_in("kim").get("/account/permissions")
    assert page.has("Create projects CREATE_PROJECT Root role Editor")
    assert page.has("Add and remove members PROJECT_USER_ACCESS_WRITE Owner of web")
    assert page.has("UPDATE_PROJECT Root role Editor, in the open project default")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("may=UPDATE_FEATURE&project=web", "Yes. Member of web."),
        ("may=UPDATE_PROJECT&project=web", "No. It needs UPDATE_PROJECT in Web shop."),
        ("may=CREATE_PROJECT", "No. It needs CREATE_PROJECT. An Admin can grant it."),
        ("may=CREATE_PROJECT&project=web", "An Admin can grant it."),
        ("may=UPDATE_PROJECT", "No. It needs UPDATE_PROJECT. An Admin can grant it."),
        ("may=UPDATE_PROJECT&project=web", "There you are Member; its mode is protected"),
        ("may=UPDATE_PROJECT&project=web", "admin (Owner) or an Admin can grant it."),
    ],
)
def test_can_i_is_answered_with_the_rule_and_who_can_grant_it(app, people, admin, query, words):
    body = {"id": "web", "name": "Web shop", "mode": "protected"}
    admin.ok("POST", "/projects", json=body)
    people.join(people.person("kim"), "web", "Member")
    assert Browser(app).sign_in("kim").get(f"/account/permissions?{query}").has(words)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("may=CREATE_PROJECT", "Yes. Root role Editor."),
        ("may=UPDATE_PROJECT&project=default", "Root role Editor, in the open project default."),
        ("may=UPDATE_PROJECT", "No."),
    ],
)
def test_an_editor_is_told_where_his_role_counts(app, people, query, words):
    people.person("kim", role="Editor")
    assert Browser(app).sign_in("kim").get(f"/account/permissions?{query}").has(words)


def test_asking_about_a_hidden_project_is_as_asking_about_none(app, people, admin):
    admin.ok("POST", "/projects", json={"id": "secret", "name": "S", "mode": "private"})
    people.person("kim")
    browser = Browser(app).sign_in("kim")
    for id in ("secret", "absent"):
        path = f"/account/permissions?may=UPDATE_PROJECT&project={id}"
        assert browser.get(path).status == 404
    assert browser.get("/account/permissions?may=nonsense").status == 200


def test_the_others_are_signed_out_and_this_one_is_not(app, inside):
    other = Browser(app)
    sign_in(other, "ada")
    page = inside.get("/account/sessions")
    assert page.has("Sign out the other")
    page = inside.submit(page, form="Sign out the other")
    assert inside.follow(page).messages == ["You are signed out everywhere but here."]
    assert other.get("/projects").status == 303
    assert inside.get("/projects").status == 200


def test_the_session_used_last_stands_first(app, ada):
    browsers = {agent: Browser(app) for agent in ("one", "two", "three", "four")}
    with time_machine.travel(datetime(2026, 11, 3, 10, 12, tzinfo=UTC), tick=False) as clock:
        for agent, browser in browsers.items():
            typed = {"name": "ada", "password": PASSWORD}
            browser.post("/sign-in", typed, headers={"User-Agent": agent})
            if agent != "three":
                clock.shift(timedelta(minutes=5))
        browsers["one"].get("/projects")
        page = browsers["two"].get("/account/sessions")
    agents = [e.text for e in page.root.all("span") if e.attrs.get("class") == "table__sub"]
    assert agents == ["one", "four", "three", "two"]
    assert page.has("four 127.0.0.1")


def test_a_browser_may_say_more_about_itself_than_is_kept(app, ada):
    browser = Browser(app)
    typed = {"name": "ada", "password": PASSWORD}
    assert browser.post("/sign-in", typed, headers={"User-Agent": "x" * 300}).status == 303
    page = browser.get("/account/sessions")
    assert page.has("x" * 255)
    assert not page.has("x" * 256)


def test_attempts_to_sign_in_are_listed(app, inside):
    with time_machine.travel(datetime(2026, 11, 3, 10, 12, tzinfo=UTC), tick=False):
        sign_in(Browser(app), "ada", "wrong")
    page = inside.get("/account/sessions")
    assert page.has("3 Nov 2026, 10:12 UTC Wrong password or code 127.0.0.1")


def test_hints_are_listed_and_reset(app, inside, people, ada):
    client = ApiClient(app, people.token(ada, "hints"))
    client.ok("POST", "/feedback", json={"feedbackId": "bulk-tags", "neverShow": True})
    client.ok("POST", "/splash/welcome")
    page = inside.get("/account/hints")
    assert page.has("bulk-tags Question Never ask again")
    page = inside.follow(inside.submit(page, form="Reset all of them"))
    assert page.has("Nothing answered and nothing hidden")
    assert client.ok("GET", "/user")["splash"] == {}


@pytest.mark.parametrize(("chosen", "shown"), [("dark", "dark"), ("light", "light"), ("x", None)])
def test_the_appearance_is_chosen_for_this_browser(app, inside, chosen, shown):
    inside.post("/account/theme", {"theme": chosen})
    html = inside.get("/account").root.all("html")[0]
    assert html.attrs.get("data-theme") == shown
    inside.post("/account/theme", {"theme": ""})
    assert "data-theme" not in inside.get("/account").root.all("html")[0].attrs
