"""Types of features have lifetimes, which only Admins set."""

import pytest

from tests.support.browser import Browser
from tests.support.clients import error_of, problems_of

TYPES = "/feature-types"


def lifetimes(client):
    return {type["id"]: type["lifetimeDays"] for type in client.ok("GET", TYPES)["types"]}


def test_no_type_has_a_lifetime_until_someone_sets_it(admin):
    found = admin.ok("GET", TYPES)
    assert found["version"] == 1
    assert found["types"][0] == {
        "id": "release",
        "name": "Release",
        "description": "Hides unfinished work until it’s ready",
        "lifetimeDays": None,
    }
    every = ("release", "experiment", "operational", "kill-switch", "permission")
    assert lifetimes(admin) == dict.fromkeys(every)


def test_a_lifetime_is_set_changed_and_removed(admin):
    path = f"{TYPES}/kill-switch/lifetime"
    for days, after in ((90, 90), (90, 90), (40, 40), (0, None)):
        assert admin.ok("PUT", path, {"lifetimeDays": days})["lifetimeDays"] == after
        assert lifetimes(admin)["kill-switch"] == after
    events = admin.ok("GET", "/events?type=feature-type-updated")["events"]
    changes = [
        tuple(event[side]["lifetimeDays"] for side in ("preData", "data")) for event in events
    ]
    assert changes == [(40, None), (90, 40), (None, 90)]


@pytest.mark.parametrize("days", [-1, 1.5, "40", 2**31])
def test_other_values_are_refused(admin, days):
    answer = admin.put(f"{TYPES}/release/lifetime", json={"lifetimeDays": days})
    assert answer.status_code == 400
    assert [*problems_of(answer)] == ["/lifetimeDays"]


def test_a_type_that_does_not_exist_is_not_found(admin):
    answer = admin.put(f"{TYPES}/sunset/lifetime", json={"lifetimeDays": 40})
    assert error_of(answer) == (404, "NotFoundError")


def test_lifetimes_are_set_on_a_page(browser, admin):
    done = browser.follow(browser.submit(browser.get(TYPES), {"release": "40"}))
    assert "Lifetimes saved." in done.messages
    assert lifetimes(admin)["release"] == 40
    assert browser.get("/events").has("set the lifetime of release features to 40 days")
    refused = browser.submit(browser.get(TYPES), {"experiment": "soon"})
    assert refused.errors == ["Lifetime of experiment features: Must be a whole number."]
    browser.follow(browser.submit(browser.get(TYPES), {"release": ""}))
    assert lifetimes(admin)["release"] is None


def test_everyone_reads_them_and_only_admins_see_a_form(app, people, admin):
    admin.ok("PUT", f"{TYPES}/release/lifetime", {"lifetimeDays": 40})
    people.person("viewer", role="Viewer")
    page = Browser(app).sign_in("viewer").get(TYPES)
    assert page.has("Hides unfinished work until it’s ready 40 days")
    assert page.select("main input") == []
