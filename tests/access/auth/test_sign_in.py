"""Signing in: the first Admin's link, a link to set a password, name and password."""

from datetime import UTC, datetime, timedelta
from threading import Thread
from unicodedata import normalize

import pytest
import time_machine
from flask import Flask

from app.access.auth import first_admin
from app.accounts import passwords
from app.accounts.models import Account
from app.core.actor import COMMAND_LINE
from app.core.db import db, unit_of_work
from app.web.redirects import own_path
from tests.support.browser import Browser
from tests.support.clients import ApiClient
from tests.support.sign_in import PASSWORD, sign_in
from tests.support.statements import statements

NEUTRAL = "Wrong user name or password."


def first_link(app: Flask) -> str | None:
    with app.app_context(), unit_of_work(writes=True):
        return first_admin.make_link()


def test_the_first_link_creates_an_admin_and_signs_them_in(app: Flask, visitor: Browser):
    page = visitor.get(first_link(app))
    assert page.h1 == "Create the first Admin"
    typed = {"username": "ada", "name": "Ada", "email": "", "new_password": PASSWORD}
    page = visitor.follow(visitor.submit(page, typed))
    assert page.messages == ["Welcome. You’re the first Admin of this Flagstaff."]
    assert "New project" in page.links


def test_the_sign_in_page_says_how_the_first_admin_is_made_until_there_is_one(visitor, people):
    assert visitor.get("/sign-in").has("There are no accounts yet")
    people.person("ada")
    assert not visitor.get("/sign-in").has("There are no accounts yet")


def test_the_sign_in_page_reads_nothing_once_an_account_was_seen(app, visitor, ada):
    visitor.get("/sign-in")
    with statements(app) as seen:
        visitor.get("/sign-in")
    assert seen == []


def test_the_first_link_works_once_and_only_without_users(app, visitor, people):
    link, other = first_link(app), first_link(app)
    typed = {"username": "ada", "new_password": PASSWORD}
    assert visitor.post(link, typed).status == 303
    for used in (link, other):
        assert Browser(app).get(used).status == 404
        assert Browser(app).post(used, typed | {"username": "eve"}).status == 404
    assert first_link(app) is None


def test_the_first_link_stops_working_once_there_is_a_user(app, visitor, people):
    link = first_link(app)
    people.person("ada")
    assert visitor.get(link).status == 404


@pytest.mark.parametrize(("hours", "status"), [(23.9, 200), (24.1, 404)])
def test_the_first_link_works_for_a_day(app, visitor, hours, status):
    start = datetime(2026, 11, 21, tzinfo=UTC)
    with time_machine.travel(start, tick=False):
        link = first_link(app)
    with time_machine.travel(start + timedelta(hours=hours), tick=False):
        assert visitor.get(link).status == status


@pytest.mark.parametrize("method", ["get", "post"])
def test_an_expired_first_link_stays_expired_when_the_clock_is_set_back(app, visitor, method):
    start = datetime(2026, 11, 21, tzinfo=UTC)
    with time_machine.travel(start, tick=False) as clock:
        link = first_link(app)
        clock.move_to(start + timedelta(hours=25))
        assert getattr(visitor, method)(link).status == 404
        clock.move_to(start + timedelta(hours=1))
        assert Browser(app).get(link).status == 404


def test_two_first_links_used_at_once_create_one_admin(app, people):
    links = [first_link(app) for _ in range(2)]
    found = []

    def make(link: str, name: str) -> None:
        found.append(Browser(app).post(link, {"username": name, "new_password": PASSWORD}).status)

    threads = [Thread(target=make, args=pair) for pair in zip(links, ("a", "b"), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [303, 404]


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"username": "", "new_password": PASSWORD}, "User name"),
        ({"username": "ada", "new_password": "short"}, "New password"),
        ({"username": "ada", "email": "nonsense", "new_password": PASSWORD}, "E-mail"),
    ],
)
def test_an_invalid_first_account_shows_errors_and_keeps_the_link(app, visitor, typed, field):
    link = first_link(app)
    page = visitor.post(link, typed)
    assert page.status == 400
    assert page.errors[0].startswith(field)
    assert page.fields()["username"] == typed["username"]
    assert visitor.post(link, {"username": "ada", "new_password": PASSWORD}).status == 303


def test_a_set_up_link_sets_the_password_and_signs_in(app, admin: ApiClient, visitor: Browser):
    made = admin.ok("POST", "/user-admin", {"username": "kim", "rootRole": 3})
    path = "/" + made["inviteLink"].split("/", 3)[3]
    page = visitor.submit(visitor.get(path), {"new_password": PASSWORD})
    page = visitor.follow(page)
    assert page.messages == ["Password set. You’re signed in."]
    assert sign_in(Browser(app), "kim").location == "/"


@pytest.mark.parametrize("name", ["ada", "ADA", " ada ", "ada@example.org", "Ada@Example.org"])
def test_sign_in_accepts_user_name_or_e_mail_in_any_case(visitor, ada, name):
    page = sign_in(visitor, name)
    assert page.location == "/"
    assert visitor.get("/projects").h1 == "Projects"


def test_signing_in_shows_the_last_sign_in_and_failures_since(app, visitor, ada):
    with time_machine.travel(datetime(2026, 11, 3, 10, 12, tzinfo=UTC), tick=False):
        sign_in(Browser(app), "ada")
        for _ in range(2):
            sign_in(Browser(app), "ada", "wrong")
    with time_machine.travel(datetime(2026, 11, 4, tzinfo=UTC), tick=False):
        page = visitor.follow(sign_in(visitor, "ada"))
    assert page.messages == [
        "Last sign-in 3 Nov 2026, 10:12 UTC from 127.0.0.1, 2 failed attempts since."
    ]


def test_a_failed_sign_in_does_not_reveal_the_reason(app, people, admin, ada):
    people.service_account("robot", role="Admin")
    people.person("nopassword")
    gone = people.person("gone")
    with app.app_context(), unit_of_work(writes=True):
        account = db.session.get_one(Account, gone)
        passwords.set_first(COMMAND_LINE, account, password=PASSWORD, shortest=15)
    admin.ok("DELETE", f"/user-admin/{gone}")
    tries = [("ada", "wrong"), ("unknown", PASSWORD), ("robot", PASSWORD)]
    tries += [("nopassword", PASSWORD), ("nopassword", ""), ("gone", PASSWORD)]
    seen = set()
    for name, password in tries:
        page = sign_in(Browser(app), name, password or "x")
        assert page.messages == [NEUTRAL]
        told = page.text.replace(f'value="{name}"', "")
        seen.add((page.status, told.split('name="csrf_token"')[0], told.split('name="next"')[1]))
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("name", "password"),
    [
        *(("", PASSWORD), ("ada", ""), ("a\0b", "x"), ("ada", f"{PASSWORD}\0"), ("\0", "\0")),
        *(("x" * 5_000, "y" * 5_000), ("ada", "y" * 5_000), ("x" * 256, "y"), ("ada", "\ufffd")),
    ],
)
def test_impossible_names_and_passwords_are_refused(visitor, ada, name, password):
    assert sign_in(visitor, name, password).status == 400


@pytest.mark.parametrize("password", ["x" * 5_000, "y" * 1_025, " " * 20, ""])
def test_a_link_refuses_impossible_passwords(app, visitor, password):
    page = visitor.post(first_link(app), {"username": "ada", "new_password": password})
    assert page.status == 400
    assert page.errors[0].startswith("New password: ")


@pytest.mark.parametrize(
    "password",
    [
        " a pasted one with spaces ",
        "\u00e9t\u00e9 \u00e0 la plage encore",
        "\U0001f986 four green ducks",
    ],
)
def test_a_password_works_as_pasted_and_in_either_unicode_form(app, visitor, password):
    typed = {"username": "ada", "new_password": password}
    assert visitor.post(first_link(app), typed).status == 303
    assert sign_in(Browser(app), "ada", password.strip() + "!").status == 400
    assert sign_in(Browser(app), "ada", normalize("NFD", password)).status == 303
    assert sign_in(Browser(app), "ada", password).status == 303


def test_a_signed_in_person_is_not_asked_again(browser: Browser, visitor: Browser):
    assert browser.get("/").status == 200
    assert visitor.get("/").location == "/sign-in"


OURS = ["/projects", "/new-project?x=1", "/tags"]
FOREIGN = [
    *(
        "//evil.example",
        "/\\evil.example",
        "///evil.example",
        "////evil.example",
        "/\t/evil.example",
    ),
    *("https://evil.example", "http:evil.example", "https:evil.example", "javascript:alert(1)"),
    *("\\\\evil.example", "\\/evil.example", "evil.example", "//user@evil.example", "//[::1]/"),
    *("data:text/html,x", ".evil.example", "@evil.example", "?x", "#x", "/\\/evil.example"),
    *("file:///etc/passwd", "ftp://evil.example", "//evil.example:80", "/\\/\\evil.example"),
    *("\t//evil.example", "\n//evil.example", "/\n/evil.example"),
    *("http:///evil.example", "https:/evil.example", "//", "/\\", "\u202e//evil.example"),
    *("/\r\nLocation: https://evil.example", "//evil\u3002example", "/ /evil.example", " //evil"),
]


def test_only_paths_of_this_server_are_taken():
    assert [own_path(target) for target in OURS] == OURS
    assert {target: own_path(target) for target in FOREIGN} == dict.fromkeys(FOREIGN, "/")


@pytest.mark.parametrize("target", ["//evil.example", "https://evil.example"])
def test_signing_in_never_redirects_to_another_site(visitor, ada, target):
    assert sign_in(visitor, "ada", next=target).answer.headers["Location"] == "/"


def test_signing_in_leads_to_the_page_that_was_asked_for(visitor, ada):
    page = visitor.follow(visitor.get("/tags?type=simple"))
    page = visitor.submit(page, {"name": "ada", "password": PASSWORD})
    assert page.location == "/tags?type=simple"
