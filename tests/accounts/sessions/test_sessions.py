"""What a session allows, and when it ends."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from flask import Flask

from app.accounts import links, passwords
from app.accounts.models import Account
from app.accounts.sessions.models import Session
from app.core import secrets
from app.core.actor import COMMAND_LINE, Actor
from app.core.config import from_environment
from app.core.db import db, unit_of_work
from app.factory import create_app
from tests.support.browser import Browser
from tests.support.clients import ApiClient
from tests.support.people import PASSWORD
from tests.support.sign_in import sign_in

START = datetime(2026, 11, 21, tzinfo=UTC)


def cookie(browser: Browser) -> str:
    return browser.client.get_cookie("flagstaff").value


def with_cookie(app: Flask, value: str) -> Browser:
    """Another browser that got hold of the cookie."""
    browser = Browser(app)
    browser.client.set_cookie("flagstaff", value)
    return browser


def is_in(browser: Browser) -> bool:
    return browser.get("/projects").status == 200


@pytest.fixture
def inside(app: Flask, ada: int) -> Browser:
    """A browser in which ada has signed in with a password."""
    browser = Browser(app)
    assert sign_in(browser, "ada").status == 303
    return browser


def test_signing_in_drops_what_the_cookie_held_before(app, visitor, ada):
    visitor.get("/sign-in")
    before, token = cookie(visitor), visitor.csrf_token()
    assert sign_in(visitor, "ada").status == 303
    assert cookie(visitor) != before
    assert not is_in(with_cookie(app, before))
    assert visitor.post("/new-project", {"name": "x", "csrf_token": token}).status == 400


def test_a_copy_of_the_cookie_is_useless_after_signing_out(app, inside):
    copy = with_cookie(app, cookie(inside))
    assert is_in(copy)
    page = inside.submit(inside.get("/projects"), form="/sign-out")
    assert inside.follow(page).messages == ["You’re signed out."]
    assert page.answer.headers["Clear-Site-Data"] == '"cache"'
    assert not is_in(copy)
    assert not is_in(inside)


def test_only_a_digest_of_the_secret_is_stored(app, inside):
    with inside.client.session_transaction() as session:
        secret = session["_user_id"]
    with app.app_context():
        [row] = db.session.query(Session).all()
        assert secret.encode() not in row.digest
        assert len(row.digest) == 32


def test_a_new_password_ends_every_session(app, people, ada, inside):
    token = ApiClient(app, people.token(ada))
    body = {"oldPassword": PASSWORD, "newPassword": "five words that no one guesses"}
    assert token.post("/user/change-password", json=body).status_code == 200
    assert not is_in(inside)


def test_a_new_password_ends_all_sessions_except_the_one_that_set_it(app, ada, inside):
    other = Browser(app)
    other.sign_in("ada")
    with inside.client.session_transaction() as session:
        digest = secrets.digest(session["_user_id"])
    with app.app_context(), unit_of_work(writes=True):
        account = db.session.get_one(Account, ada)
        own = db.session.query(Session.id).filter_by(digest=digest).scalar()
        actor = Actor(id=ada, username="ada", role=account.role, session_id=own)
        new = "five words that no one guesses"
        passwords.change(actor, account, old=PASSWORD, new=new, shortest=15)
    assert is_in(inside)
    assert not is_in(other)


def test_a_password_set_by_a_link_ends_every_session(app, ada, inside):
    with app.app_context(), unit_of_work(writes=True):
        link = links.create(COMMAND_LINE, db.session.get_one(Account, ada))
    elsewhere = Browser(app)
    assert elsewhere.post(link, {"new_password": "five words that no one guesses"}).status == 303
    assert not is_in(inside)
    assert is_in(elsewhere)


def test_deleting_a_user_ends_their_sessions(app, admin, people):
    id = people.person("kim")
    browser = Browser(app).sign_in("kim")
    admin.ok("DELETE", f"/user-admin/{id}")
    assert not is_in(browser)


def test_a_new_role_counts_on_the_next_request(app, admin, people):
    id = people.person("kim")
    browser = Browser(app).sign_in("kim")
    for role, status in ((2, 200), (3, 403)):
        admin.ok("PUT", f"/user-admin/{id}", json={"rootRole": role})
        assert browser.get("/new-project").status == status


@pytest.mark.parametrize(("hours", "lives"), [(12, True), (12.001, False)])
def test_an_idle_session_ends(app, people, hours, lives):
    people.person("kim")
    with time_machine.travel(START, tick=False):
        browser = Browser(app).sign_in("kim")
    with time_machine.travel(START + timedelta(hours=hours), tick=False):
        assert is_in(browser) is lives


@pytest.mark.slow
@pytest.mark.parametrize(("days", "lives"), [(30, True), (30.001, False)])
def test_a_session_ends_after_30_days_even_if_it_is_in_use(app, people, days, lives):
    people.person("kim")
    with time_machine.travel(START, tick=False) as clock:
        browser = Browser(app).sign_in("kim")
        for hours in range(11, 29 * 24 + 20, 11):
            clock.move_to(START + timedelta(hours=hours))
            assert is_in(browser)
        clock.move_to(START + timedelta(days=days))
        assert is_in(browser) is lives


@pytest.mark.parametrize(
    ("begun", "used", "is_kept"),
    [
        (timedelta(hours=12), timedelta(hours=12), True),
        (timedelta(hours=13), timedelta(hours=12, seconds=1), False),
        (timedelta(days=30), timedelta(0), True),
        (timedelta(days=30, seconds=1), timedelta(0), False),
    ],
)
def test_sessions_that_are_over_are_deleted_when_someone_signs_in(
    app, people, begun, used, is_kept
):
    people.person("kim")
    people.person("ann")
    with time_machine.travel(START, tick=False):
        Browser(app).sign_in("kim")
        with app.app_context(), unit_of_work(writes=True):
            db.session.query(Session).update(
                {"created_at": START - begun, "last_used_at": START - used}
            )
        Browser(app).sign_in("ann")
        with app.app_context():
            assert db.session.query(Session).count() == (2 if is_kept else 1)


@pytest.mark.parametrize("ahead", [timedelta(days=2), timedelta(days=40)])
def test_an_ended_session_stays_ended_when_the_clock_is_set_back(app, people, ahead):
    people.person("kim")
    with time_machine.travel(START, tick=False):
        browser = Browser(app).sign_in("kim")
    with time_machine.travel(START + ahead, tick=False):
        assert not is_in(browser)
    with time_machine.travel(START + timedelta(minutes=1), tick=False):
        assert not is_in(browser)


def test_a_process_whose_clock_is_slightly_behind_accepts_the_session(app, people):
    people.person("kim")
    with time_machine.travel(START + timedelta(minutes=5), tick=False):
        browser = Browser(app).sign_in("kim")
    with time_machine.travel(START, tick=False):
        assert is_in(browser)


@pytest.mark.parametrize("ahead", [timedelta(minutes=5, seconds=1), timedelta(days=2)])
def test_a_session_from_the_future_is_refused(app, people, ahead):
    people.person("kim")
    with time_machine.travel(START + ahead, tick=False):
        browser = Browser(app).sign_in("kim")
    with time_machine.travel(START, tick=False):
        assert not is_in(browser)


@pytest.mark.parametrize("value", ["", "nonsense", "a.b.c", "x" * 9_000, "é", "eyJ9.a.b"])
def test_a_foreign_cookie_is_ignored(app, ada, value):
    assert (
        Browser(app).client.get("/projects", headers={"Cookie": f"flagstaff={value}"}).status_code
        == 303
    )


def test_a_session_whose_secret_is_not_text_is_ignored(app, ada):
    browser = Browser(app)
    for value in (1, None, ["x"], {"a": 1}, "\u0000", "x" * 300):
        with browser.client.session_transaction() as session:
            session["_user_id"] = value
        assert not is_in(browser)


def test_a_new_secret_key_ends_all_sessions(app, inside):
    value = cookie(inside)
    app.secret_key, key = "another-key-of-this-machine-of-32-characters", app.secret_key
    try:
        assert not is_in(with_cookie(app, value))
    finally:
        app.secret_key = key
    assert is_in(with_cookie(app, value))


def test_two_windows_share_a_session(app, inside):
    other = with_cookie(app, cookie(inside))
    first, second = inside.get("/new-project"), other.get("/new-project")
    assert inside.submit(first, {"name": "one"}, button="Create project").status == 303
    assert other.submit(second, {"name": "two"}, button="Create project").status == 303


def test_the_use_of_a_session_is_stored_at_most_once_a_minute(app, people):
    people.person("kim")

    def last_used() -> datetime:
        with app.app_context(), unit_of_work(writes=False):
            return db.session.query(Session.last_used_at).scalar()

    with time_machine.travel(START, tick=False) as clock:
        browser = Browser(app).sign_in("kim")
        clock.shift(timedelta(seconds=59))
        browser.get("/projects")
        assert last_used() == START
        clock.shift(timedelta(seconds=2))
        browser.get("/projects")
        assert last_used() == START + timedelta(seconds=61)


@pytest.mark.parametrize(
    ("settings", "name", "attributes"),
    [
        ({}, "flagstaff", {"HttpOnly", "Path=/", "SameSite=Lax"}),
        (
            {"BASE_URL": "https://flags.example.org"},
            "__Host-flagstaff",
            {"Secure", "HttpOnly", "Path=/", "SameSite=Lax"},
        ),
        (
            {"BASE_URL": "https://example.org", "URL_PREFIX": "/flags"},
            "flagstaff",
            {"Secure", "HttpOnly", "Path=/flags", "SameSite=Lax"},
        ),
    ],
)
def test_the_cookie_is_limited_to_this_host_and_path(tmp_path, settings, name, attributes):
    environ = {"FLAGSTAFF_HOME": str(tmp_path)}
    environ |= {f"FLAGSTAFF_{key}": value for key, value in settings.items()}
    answer = create_app(from_environment(environ)).test_client().get("/sign-in")
    pair, *rest = answer.headers["Set-Cookie"].split("; ")
    assert pair.startswith(f"{name}=")
    assert set(rest) == attributes


def test_the_secret_key_is_created_once_and_readable_only_by_its_owner(tmp_path):
    environ = {"FLAGSTAFF_HOME": str(tmp_path / "home")}
    first, second = (create_app(from_environment(environ)).secret_key for _ in range(2))
    file = tmp_path / "home" / "secret_key"
    assert first == second == file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert len(first) >= 32
    given = {**environ, "FLAGSTAFF_SECRET_KEY": "k" * 40}
    assert create_app(from_environment(given)).secret_key == "k" * 40
    assert [path.name for path in file.parent.iterdir()] == ["secret_key"]
