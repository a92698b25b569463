"""Links to set a password: who made and used one is recorded, and the account's owner learns it."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
import time_machine
from flask import Flask

from tests.support.browser import Browser, text_of
from tests.support.clients import ApiClient
from tests.support.people import PASSWORD
from tests.support.sign_in import sign_in

ANOTHER = "five yellow geese in a pond"
START = datetime(2027, 1, 1, tzinfo=UTC)


@pytest.fixture
def api(app: Flask, browser: Browser, people) -> ApiClient:
    """A client of boss, the Admin who is signed in with the browser."""
    return ApiClient(app, people.token(1))


def make_link(browser: Browser, id: int, **typed: str) -> str:
    """The path of a new link."""
    page = browser.submit(browser.get(f"/users/{id}/link"), typed)
    [shown] = page.select("p.secret__value")
    return urlsplit(text_of(shown.css("code")[0])).path


def use(app: Flask, path: str, password: str = ANOTHER, **typed: str | None) -> Browser:
    """The browser in which a password was set."""
    browser = Browser(app)
    answer = browser.submit(browser.get(path), {"new_password": password, **typed})
    assert answer.status == 303
    return browser


def events(api: ApiClient, type: str) -> list[dict]:
    return api.ok("GET", f"/events?type={type}")["events"]


def notices(app: Flask, name: str, password: str) -> list[str]:
    """What the pages say after signing in."""
    browser = Browser(app)
    assert sign_in(browser, name, password).status == 303
    return browser.get("/projects").messages


def test_making_a_link_is_recorded_with_its_maker_and_reason(browser, api, ada):
    make_link(browser, ada, reason="forgot it")
    [event] = events(api, "setup-link-created")
    assert (event["createdBy"], event["reason"]) == ("boss", "forgot it")
    assert (event["data"]["id"], event["data"]["name"]) == (ada, "ada")


def test_creating_a_user_records_the_link_too(api):
    made = api.ok("POST", "/user-admin", {"username": "grace", "rootRole": 3})
    [event] = events(api, "setup-link-created")
    assert event["data"]["id"] == made["id"]
    assert urlsplit(made["inviteLink"]).path.rpartition("/")[2] not in str(event)


def test_using_a_link_is_recorded_with_its_maker(app, browser, api, ada):
    use(app, make_link(browser, ada))
    [event] = events(api, "setup-link-used")
    assert event["createdBy"] == "ada"
    assert (event["data"]["id"], event["data"]["madeBy"], event["data"]["madeById"]) == (
        ada,
        "boss",
        1,
    )


def test_the_owner_learns_at_the_next_sign_in_that_a_link_was_made(app, browser, ada):
    make_link(browser, ada)
    [_, notice] = notices(app, "ada", PASSWORD)
    assert notice.startswith("boss created a link to set your password on ")
    assert notice.endswith("It was not used.")


@pytest.mark.slow
def test_the_first_to_sign_in_does_not_use_the_notice_up(app, people, ada):
    with time_machine.travel(START, tick=False) as clock:
        people.person("chief", role="Admin")
        chief = Browser(app).sign_in("chief")
        use(app, make_link(chief, ada))
        assert [len(notices(app, "ada", ANOTHER)) for _ in range(3)] == [2, 2, 2]
        clock.shift(timedelta(days=6, hours=23))
        assert len(notices(app, "ada", ANOTHER)) == 2
        clock.shift(timedelta(hours=2))
        assert len(notices(app, "ada", ANOTHER)) == 1


def test_a_link_that_was_known_is_news_again_once_it_is_used(app, people, ada):
    with time_machine.travel(START, tick=False) as clock:
        people.person("chief", role="Admin")
        path = make_link(Browser(app).sign_in("chief"), ada)
        assert len(notices(app, "ada", PASSWORD)) == 2
        clock.shift(timedelta(hours=47))
        use(app, path)
        clock.shift(timedelta(days=6))
        [_, notice] = notices(app, "ada", ANOTHER)
        assert "Your password was set with it" in notice


def test_the_owner_who_sets_a_new_password_by_link_learns_of_earlier_links(app, browser, ada):
    use(app, make_link(browser, ada), ANOTHER)
    assert len(notices(app, "ada", ANOTHER)) == 2
    owner = use(app, make_link(browser, ada), PASSWORD)
    [_, notice] = owner.get("/projects").messages
    assert "Your password was set with it" in notice


def test_the_owner_learns_at_the_next_sign_in_that_a_link_was_used(app, browser, ada):
    use(app, make_link(browser, ada))
    [_, notice] = notices(app, "ada", ANOTHER)
    assert "Your password was set with it on " in notice
    assert "from 127.0.0.1." in notice


def test_my_sessions_lists_the_links_for_good(app, browser, ada):
    path = make_link(browser, ada)
    make_link(browser, ada)
    owner = Browser(app)
    sign_in(owner, "ada")
    page = owner.get("/account/security")
    rows = [row for row in map(text_of, page.select("table tr")) if "boss" in row]
    assert [row.rpartition("boss ")[2] for row in rows] == ["Not used", "Replaced"]
    assert path.rpartition("/")[2] not in page.text


@pytest.mark.parametrize("typed", [{}, {"revoke_tokens": None}])
def test_a_password_that_is_set_by_link_revokes_the_tokens_unless_told_not_to(
    browser, api, people, ada, typed
):
    app, client = people.app, ApiClient(people.app, people.token(ada, "laptop"))
    people.token(ada, "server")
    path = make_link(browser, ada)
    assert "Also revoke my 2 tokens" in Browser(app).get(path).text
    use(app, path, **typed)
    assert client.get("/user").status_code == (200 if typed else 401)
    found = [(e["createdBy"], e["preData"]["description"]) for e in events(api, "token-revoked")]
    assert found == ([] if typed else [("ada", "server"), ("ada", "laptop")])


def test_nothing_is_offered_to_revoke_without_tokens(app, browser, ada):
    assert "revoke" not in Browser(app).get(make_link(browser, ada)).text


def test_making_and_using_links_is_found_in_the_history_of_the_account(app, browser, api, ada):
    use(app, make_link(browser, ada))
    found = [event["type"] for event in api.ok("GET", f"/events?about={ada}")["events"]]
    assert found[:3] == ["password-changed", "setup-link-used", "setup-link-created"]


def test_a_new_password_ends_unused_links(app, browser, ada):
    path = make_link(browser, ada)
    owner = Browser(app)
    sign_in(owner, "ada")
    changed = owner.submit(
        owner.get("/account/password"), {"old_password": PASSWORD, "new_password": ANOTHER}
    )
    assert changed.status == 303
    assert Browser(app).get(path).status == 404


@pytest.mark.parametrize("method", ["get", "post"])
def test_an_expired_link_stays_expired_when_the_clock_is_set_back(app, people, ada, method):
    with time_machine.travel(START, tick=False) as clock:
        people.person("chief", role="Admin")
        path = make_link(Browser(app).sign_in("chief"), ada)
        clock.move_to(START + timedelta(hours=49))
        assert getattr(Browser(app), method)(path).status == 404
        clock.move_to(START + timedelta(hours=1))
        assert Browser(app).get(path).status == 404
