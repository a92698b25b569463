"""Maintenance mode: nothing can be changed, while reading, sessions and applications go on."""

import pytest

from app.core.clock import utcnow
from tests.support.browser import Browser
from tests.support.clients import error_of
from tests.support.people import PASSWORD
from tests.support.sign_in import sign_in

FEATURE = {"name": "cart"}
FEATURES = "/projects/default/features"


@pytest.fixture
def maintained(admin):
    admin.ok("POST", "/maintenance", {"enabled": True})
    return admin


def end(admin):
    admin.ok("POST", "/maintenance", {"enabled": False})


def recorded(admin):
    events = admin.ok("GET", "/events", query_string={"limit": 100})["events"]
    return [each for each in events if each["type"].startswith("maintenance-mode")]


def test_changes_are_refused_until_it_ends_and_say_since_when(admin):
    assert admin.ok("GET", "/maintenance") == {"enabled": False}
    now = f"{utcnow():%Y-%m-%d}"
    assert admin.post("/maintenance", json={"enabled": True}).status_code == 204
    assert admin.ok("GET", "/maintenance") == {"enabled": True}
    refusal = admin.post(FEATURES, json=FEATURE)
    assert error_of(refusal) == (503, "UnavailableError")
    assert refusal.json["message"].startswith(f"An Admin switched on maintenance mode on {now} at")
    assert "Reading and applications go on." in refusal.json["message"]
    assert refusal.headers["Retry-After"] == "60"
    assert admin.ok("GET", FEATURES)["features"] == []
    end(admin)
    admin.ok("POST", FEATURES, FEATURE)


def test_it_is_recorded_once_with_its_reason(admin):
    for enabled in (True, True, False, False):
        admin.ok(
            "POST", "/maintenance", {"enabled": enabled}, headers={"X-Reason": f"Move {enabled}"}
        )
    assert [(each["type"], each["reason"]) for each in recorded(admin)] == [
        ("maintenance-mode-disabled", "Move False"),
        ("maintenance-mode-enabled", "Move True"),
    ]


def test_only_changes_are_refused(maintained):
    assert maintained.post(FEATURES, json=FEATURE, headers={"X-Dry-Run": "true"}).status_code == 201
    validated = maintained.post("/projects/default/archive/validate", json={"features": []})
    assert validated.status_code == 200


def test_who_may_not_change_something_learns_no_more_than_that(maintained, viewer):
    assert error_of(viewer.post(FEATURES, json=FEATURE))[0] == 403
    assert error_of(viewer.post("/maintenance", json={"enabled": False}))[0] == 403


def test_a_request_that_was_refused_can_be_repeated_with_its_key(maintained):
    headers = {"Idempotency-Key": "first"}
    assert maintained.post(FEATURES, json=FEATURE, headers=headers).status_code == 503
    end(maintained)
    assert maintained.post(FEATURES, json=FEATURE, headers=headers).status_code == 201


def test_people_sign_in_and_out_and_choose_their_theme(app, admin, people, visitor):
    people.give_password(people.person("kim"))
    admin.ok("POST", "/maintenance", {"enabled": True})
    home = visitor.follow(sign_in(visitor, "kim", PASSWORD))
    assert home.has("Maintenance mode is on, so nothing can be changed")
    assert visitor.post("/account/theme", {"theme": "dark"}).status == 303
    assert visitor.post("/sign-out").status == 303
    assert not visitor.get("/sign-in").has("Maintenance mode")


def test_a_form_is_refused_on_a_page_that_says_why(maintained, browser):
    page = browser.post("/new-project", {"name": "Cart", "mode": "open"})
    assert page.status == 503
    assert page.has("Nothing can be changed right now")
    assert page.has("An Admin switched on maintenance mode on")
    assert page.has("What you typed is still there if you go back in your browser.")


def test_every_page_says_so_and_an_admin_can_end_it_there(app, maintained, browser, people):
    people.person("vic", role="Viewer")
    viewer = Browser(app).sign_in("vic")
    assert viewer.post("/maintenance").status == 403
    page = viewer.get("/projects")
    assert page.has("admin switched it on just now. Reading and applications go on.")
    assert not page.has("End maintenance mode")
    ended = browser.submit(browser.get("/projects"), form="End maintenance mode")
    assert browser.follow(ended).has("Maintenance mode is off.")
    assert not browser.get("/projects").has("Maintenance mode is on")


def test_an_admin_switches_it_on_with_a_reason(admin, browser):
    page = browser.get("/maintenance")
    on = browser.submit(page, {"reason": "Moving"}, form="Switch on maintenance mode")
    assert browser.follow(on).has("Maintenance mode is on.")
    [event] = recorded(admin)
    assert (event["type"], event["reason"]) == ("maintenance-mode-enabled", "Moving")
