"""Signing in behind a proxy that says who is signed in there."""

from ipaddress import ip_network
from typing import Any

import pytest
from flask import Flask

from app.web.http import PEER
from tests.support.browser import Browser, Page
from tests.support.oidc import change_settings
from tests.support.people import People
from tests.support.sign_in import let_time_pass, sign_in

PROXY = "10.0.0.1"
SETTINGS = {
    "trusted_proxy": (ip_network(PROXY),),
    "sign_on_header": "X-Remote-User",
    "sign_on_header_email": "X-Remote-Email",
    "sign_on_header_name": "X-Remote-Name",
    "sign_on_header_groups": "X-Remote-Groups",
    "sign_on_create": "all",
}


@pytest.fixture
def behind(app: Flask) -> Any:
    """The application behind the proxy."""
    before = app.config["SETTINGS"]
    change_settings(app, **SETTINGS)
    yield app
    change_settings(app, **{name: getattr(before, name) for name in SETTINGS})
    app.config["SETTINGS"] = before


class Through(Browser):
    """A browser whose requests come through the proxy, as the user that it names."""

    def __init__(self, app: Flask, user: str | None, *, peer: str = PROXY, **headers: str) -> None:
        super().__init__(app)
        self.become(user, peer=peer, **headers)

    def become(self, user: str | None, *, peer: str = PROXY, **headers: str) -> None:
        sent = {"HTTP_X_REMOTE_" + name.upper(): value for name, value in headers.items()}
        sent |= {PEER: peer}
        if user is not None:
            sent["HTTP_X_REMOTE_USER"] = user.encode().decode("latin-1")
        self.client.environ_base = {"REMOTE_ADDR": "127.0.0.1", **sent}

    def arrive(self, path: str = "/account") -> Page:
        page = self.get(path)
        return self.follow(page) if page.status == 303 else page


def name(page: Page) -> str:
    found = page.select(".head__meta code")
    return found[0].text() if found else ""


def test_who_the_proxy_names_is_signed_in_and_gets_roles_by_group(behind, admin):
    admin.ok("POST", "/groups", {"name": "devs", "rootRole": 2})
    kim = Through(behind, "kim", email="kim@example.org", name="Kim", groups="others, devs")
    page = kim.arrive()
    assert name(page) == "kim"
    assert "Editor" in page.words
    assert "kim@example.org" in page.words
    other = Through(behind, "kim", groups="others")
    assert "Viewer" in other.arrive().words


def test_a_name_beyond_ascii_arrives_whole(behind):
    assert name(Through(behind, "zoë").arrive()) == "zoë"


@pytest.mark.parametrize("peer", ["127.0.0.1", "10.0.0.2", "::1", ""])
def test_the_header_counts_from_no_one_else(behind, people, peer):
    people.person("ada", role="Admin")
    change_settings(behind, sign_on_link=True)
    forged = Through(behind, "ada", peer=peer)
    page = forged.arrive()
    assert page.h1 == "Sign in"
    assert "did not say who you are" in page.words


def test_a_server_that_does_not_say_where_requests_come_from_signs_no_one_in(behind, visitor):
    page = visitor.get("/account", headers={"X-Remote-User": "kim"})
    assert page.status == 303
    assert page.location.startswith("/sign-in")


def test_a_header_that_the_client_added_to_is_not_believed(behind):
    assert Through(behind, "ada, kim").arrive().h1 == "Sign in"


def test_a_session_ends_when_the_proxy_names_someone_else_or_no_one(behind):
    browser = Through(behind, "kim")
    assert name(browser.arrive()) == "kim"
    browser.become(None)
    assert browser.arrive().h1 == "Sign in"
    browser.become("eve")
    assert name(browser.arrive()) == "eve"


def test_the_cookie_of_a_session_is_worth_nothing_beside_the_proxy(behind):
    browser = Through(behind, "kim")
    browser.arrive()
    browser.become("kim", peer="10.9.9.9")
    assert browser.arrive().h1 == "Sign in"


def test_an_account_is_linked_by_name_only_if_the_operator_allows_it(behind, people):
    people.person("ada", role="Admin")
    assert "isn’t linked to you" in Through(behind, "ada").arrive().words
    change_settings(behind, sign_on_link=True)
    assert "Admin" in Through(behind, "ada").arrive().words


def test_what_was_typed_is_kept_when_the_session_began_again(behind, people: People):
    browser = Through(behind, "kim")
    browser.arrive()
    people.promote(people.named("kim"), "Editor")
    browser.client.delete_cookie(behind.config["SESSION_COOKIE_NAME"])
    page = browser.post("/new-project", {"name": "Half typed", "csrf_token": "old"})
    assert browser.follow(page).fields()["name"] == "Half typed"


def test_people_without_a_password_are_not_asked_for_one(behind, people: People):
    browser = Through(behind, "kim")
    browser.arrive()
    people.promote(people.named("kim"), "Admin")
    let_time_pass(behind)
    assert browser.post("/users/new", {"username": "x", "root_role": "3"}).status == 200


def test_passwords_work_beside_it_unless_they_are_off(behind, ada, visitor):
    assert sign_in(visitor, "ada").status == 303
    change_settings(behind, password_sign_in=False)
    assert sign_in(Browser(behind), "ada").status == 400
