"""My account, in a browser without JavaScript."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from flask import Flask

from tests.support.browser import Browser, Page, text_of
from tests.support.clients import ApiClient
from tests.support.people import PASSWORD
from tests.support.sign_in import sign_in

ANOTHER = "five words that no one guesses"
AGENT, CHROME = "Mozilla/5.0", "AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.fixture
def inside(app: Flask, ada: int) -> Browser:
    """A browser in which ada, an Admin, has signed in with a password."""
    browser = Browser(app)
    assert sign_in(browser, "ada").status == 303
    browser.get("/")
    return browser


def secret_of(page: Page) -> str:
    return next(text_of(e.css("code")[0]) for e in page.select("p.secret__value"))


def test_the_name_at_the_foot_leads_to_my_account(inside, ada):
    page = inside.get(inside.get("/projects").links["ada"])
    assert page.h1 == "My account"
    assert page.has("ada@example.org")
    assert page.has('"accountType": "User"')
    assert "/account/single-sign-on" not in page.links.values()


def test_password_managers_find_the_page_that_changes_the_password(inside):
    page = inside.follow(inside.get("/.well-known/change-password"))
    assert page.h1 == "Change password"


def test_a_token_is_shown_once_and_works_immediately(app, inside):
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
        ({"description": ""}, "Description: Enter 1 to 255 characters."),
        ({"description": "x", "lasts": "date"}, "Date: Enter a date, like 2026-11-21"),
        ({"description": "x", "expires_at": "2030-01-01"}, "Choose “On a date” to use this date"),
        ({"description": "x", "lasts": "date", "expires_at": "2020-01-01"}, "in the future"),
    ],
)
def test_an_invalid_token_is_refused_and_keeps_what_was_typed(inside, typed, words):
    page = inside.submit(inside.get("/account/tokens/new"), typed)
    assert page.status == 400
    assert words in page.errors[0]
    assert page.fields()["description"] == typed["description"]


def test_a_token_is_revoked_after_a_page_that_shows_it(app, inside):
    page = inside.submit(inside.get("/account/tokens/new"), {"description": "laptop"})
    client = ApiClient(app, secret_of(page))
    assert client.get("/user").status_code == 200
    page = inside.get(inside.get("/account").links["Revoke… laptop"])
    assert page.has("The token will stop working immediately, for good.")
    page = inside.submit(page, {"reason": "lost"}, button="Revoke token")
    assert inside.follow(page).messages == ["Token laptop revoked. It no longer works."]
    assert client.get("/user").status_code == 401


def test_other_peoples_tokens_are_neither_shown_nor_revoked(app, inside, people):
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
    assert inside.follow(page).messages == ["Password changed. Your other sessions have ended."]
    assert other.get("/projects").status == 303
    assert sign_in(Browser(app), "ada", ANOTHER).status == 303


@pytest.mark.parametrize("is_chosen", [False, True])
def test_a_new_password_revokes_the_tokens_if_chosen(people, admin, inside, ada, is_chosen):
    tokens = [people.token(ada, name) for name in ("laptop", "server", "backup")]
    page = inside.get("/account/password")
    assert page.has("Also revoke my 3 tokens")
    chosen = {"revoke_tokens": "y"} if is_chosen else {}
    page = inside.submit(page, {"old_password": PASSWORD, "new_password": ANOTHER, **chosen})
    what = "sessions and tokens" if is_chosen else "sessions"
    assert inside.follow(page).messages == [f"Password changed. Your other {what} have ended."]
    works = [ApiClient(people.app, token).get("/user").status_code == 200 for token in tokens]
    assert works == [not is_chosen] * 3
    revoked = admin.ok("GET", f"/events?type=token-revoked&about={ada}")["total"]
    assert revoked == (3 if is_chosen else 0)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("wrong", ANOTHER, "not your current password"),
        (PASSWORD, "short", "at least 15 characters"),
    ],
)
def test_a_refused_password_change_says_why(inside, old, new, words):
    page = inside.submit(
        inside.get("/account/password"), {"old_password": old, "new_password": new}
    )
    assert page.status == 400
    assert words in page.errors[0]
    assert "value" not in page.text.split("new_password")[1].split(">")[0]


def test_my_permissions_are_listed_with_their_source(app, people, admin):
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
        ("may=UPDATE_FEATURE&project=web", "Yes Member of web, given by "),
        ("may=UPDATE_PROJECT&project=web", "No Needs UPDATE_PROJECT in Web shop."),
        ("may=CREATE_PROJECT", "No Needs CREATE_PROJECT. An Admin can give it to you."),
        ("may=CREATE_PROJECT&project=web", "An Admin can give it to you."),
        ("may=UPDATE_PROJECT", "No Needs UPDATE_PROJECT. An Admin can give it to you."),
        (
            "may=UPDATE_PROJECT&project=web",
            "The project is protected, and you are a Member there.",
        ),
        ("may=UPDATE_PROJECT&project=web", "admin (Owner) or an Admin can give it to you."),
    ],
)
def test_can_i_names_the_rule_and_who_can_grant_the_permission(app, people, admin, query, words):
    body = {"id": "web", "name": "Web shop", "mode": "protected"}
    admin.ok("POST", "/projects", json=body)
    people.join(people.person("kim"), "web", "Member")
    assert Browser(app).sign_in("kim").get(f"/account/permissions?{query}").has(words)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("may=CREATE_PROJECT", "Yes Root role Editor, given by "),
        (
            "may=UPDATE_PROJECT&project=default",
            "Root role Editor, in the open project default, given by ",
        ),
        ("may=UPDATE_PROJECT", "No Needs UPDATE_PROJECT."),
    ],
)
def test_an_editor_learns_where_their_role_counts(app, people, query, words):
    people.person("kim", role="Editor")
    assert Browser(app).sign_in("kim").get(f"/account/permissions?{query}").has(words)


def test_asking_about_a_private_project_is_like_asking_about_an_unknown_one(app, people, admin):
    admin.ok("POST", "/projects", json={"id": "secret", "name": "S", "mode": "private"})
    people.person("kim")
    browser = Browser(app).sign_in("kim")
    for id in ("secret", "absent"):
        path = f"/account/permissions?may=UPDATE_PROJECT&project={id}"
        assert browser.get(path).status == 404
    assert browser.get("/account/permissions?may=nonsense").status == 200


def test_other_sessions_are_ended_and_this_one_is_not(app, inside):
    other = Browser(app)
    sign_in(other, "ada")
    page = inside.get("/account/security")
    page = inside.submit(page, form="Sign out everywhere else")
    assert inside.follow(page).messages == ["You’re signed out everywhere else."]
    assert other.get("/projects").status == 303
    assert inside.get("/projects").status == 200


def test_the_most_recently_used_session_comes_first(app, ada):
    browsers = {agent: Browser(app) for agent in ("one", "two", "three", "four")}
    with time_machine.travel(datetime(2026, 11, 3, 10, 12, tzinfo=UTC), tick=False) as clock:
        for agent, browser in browsers.items():
            typed = {"name": "ada", "password": PASSWORD}
            browser.post("/sign-in", typed, headers={"User-Agent": agent})
            if agent != "three":
                clock.shift(timedelta(minutes=5))
        browsers["one"].get("/projects")
        page = browsers["two"].get("/account/security")
    assert user_agents(page) == ["one", "four", "three", "two"]
    rows = [row for row in map(text_of, page.select("tr")) if "127.0.0.1" in row]
    assert rows[1].startswith("Unknown browser 127.0.0.1")


def user_agents(page: Page) -> list[str]:
    return [span.attributes["title"] for span in page.select("span.table__sub")]


@pytest.mark.parametrize(
    ("user_agent", "words"),
    [
        (f"{AGENT} (X11; Linux x86_64) {CHROME} Chrome/120.0.0.0 Safari/537.36", "Chrome on Linux"),
        (f"{AGENT} (Windows NT 10.0; rv:124.0) Gecko/20100101 Firefox/124.0", "Firefox on Windows"),
        ("curl/8.5.0", "curl"),
        (f"{AGENT} (X11; Linux x86_64)", "Unknown browser on Linux"),
        ("<b>one</b>", "Unknown browser"),
    ],
)
def test_a_session_says_in_words_which_browser_it_is(app, ada, user_agent, words):
    browser = Browser(app)
    typed = {"name": "ada", "password": PASSWORD}
    browser.post("/sign-in", typed, headers={"User-Agent": user_agent})
    page = browser.get("/account/security")
    assert page.has(f"This browser {words} 127.0.0.1")
    assert user_agents(page) == [user_agent]


def test_a_long_user_agent_is_cut_off(app, ada):
    browser = Browser(app)
    typed = {"name": "ada", "password": PASSWORD}
    assert browser.post("/sign-in", typed, headers={"User-Agent": "x" * 300}).status == 303
    assert user_agents(browser.get("/account/security")) == ["x" * 255]


def test_attempts_to_sign_in_are_listed(app, inside):
    with time_machine.travel(datetime(2026, 11, 3, 10, 12, tzinfo=UTC), tick=False):
        sign_in(Browser(app), "ada", "wrong")
    page = inside.get("/account/security")
    assert page.has("3 Nov 2026, 10:12 UTC Wrong password or code 127.0.0.1")


def test_security_holds_the_password_two_step_sign_in_and_sessions(inside):
    page = inside.follow(inside.get("/account/sessions"))
    assert page.path == "/account/security"
    assert page.has("Two-step sign-in Off")
    assert {"Change password", "Set up two-step sign-in"} <= page.links.keys()


@pytest.mark.parametrize(("chosen", "shown"), [("dark", "dark"), ("light", "light"), ("x", None)])
def test_the_appearance_is_chosen_for_this_browser(app, inside, chosen, shown):
    inside.post("/account/theme", {"theme": chosen})
    [html] = inside.get("/account").select("html")
    assert html.attributes.get("data-theme") == shown
    inside.post("/account/theme", {"theme": ""})
    assert not inside.get("/account").select("html[data-theme]")
