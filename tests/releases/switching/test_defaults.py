"""What features get when they are switched on without a strategy of their own."""

import pytest

from tests.support.clients import error_of, problems_of

PATH = "/projects/default/environments/production/default-strategy"
PAGE = PATH
FEATURES = "/projects/default/features"
USER = {"contextName": "userId", "operator": "IN", "values": ["1"]}


@pytest.fixture
def segment(admin):
    return admin.ok("POST", "/segments", {"name": "Staff", "constraints": [USER]})["id"]


@pytest.fixture
def chosen(admin, segment):
    body = {
        "name": "flexibleRollout",
        "title": "Staff first",
        "parameters": {"rollout": "10", "stickiness": "userId"},
        "constraints": [USER],
        "segments": [segment],
        "variants": [{"name": "blue"}],
    }
    return admin.ok("POST", PATH, body)


def switched_on(admin, *names):
    for name in names:
        admin.ok("POST", FEATURES, {"name": name})
    body = {"features": [*names]}
    admin.ok("POST", "/projects/default/bulk_features/environments/production/on", body)
    return [
        admin.ok("GET", f"{FEATURES}/{name}/environments/production/strategies") for name in names
    ]


def test_it_is_on_for_everyone_at_first(viewer):
    found = viewer.ok("GET", PATH)
    assert found == {
        "name": "flexibleRollout",
        "title": None,
        "parameters": {"rollout": "100", "stickiness": "default"},
        "constraints": [],
        "segments": [],
        "variants": [],
        "summary": "On for everyone",
    }


def test_features_get_what_was_chosen_each_in_its_own_group(admin, chosen, segment):
    [[first], [second]] = switched_on(admin, "cart", "till")
    for found, name in ((first, "cart"), (second, "till")):
        assert found["parameters"] == chosen["parameters"] | {"groupId": name}
        for part in ("title", "constraints", "segments", "variants", "summary"):
            assert found[part] == chosen[part], part
    assert first["id"] != second["id"]
    assert admin.ok("GET", f"/segments/{segment}")["usedInStrategies"] == 3


def test_features_that_are_on_keep_theirs(admin):
    [[before]] = switched_on(admin, "cart")
    admin.ok("POST", PATH, {"parameters": {"rollout": "5"}})
    place = f"{FEATURES}/cart/environments/production/strategies"
    assert admin.ok("GET", place) == [before]


def test_it_is_chosen_as_a_whole_and_recorded(admin, chosen):
    changed = admin.ok("POST", PATH, {"parameters": {"rollout": "5"}})
    assert (changed["constraints"], changed["title"]) == ([], None)
    assert changed["parameters"] == {"rollout": "5", "stickiness": "default"}
    assert admin.ok("POST", PATH, changed) == changed
    events = admin.ok("GET", "/events?type=default-strategy-updated")["events"]
    assert [event["data"]["parameters"]["rollout"] for event in events] == ["5", "10"]
    assert [event["project"] for event in events] == ["default", "default"]


def test_it_is_reset(admin, chosen):
    admin.ok("DELETE", PATH)
    assert admin.ok("GET", PATH)["summary"] == "On for everyone"
    before = admin.ok("GET", "/events")["total"]
    admin.ok("DELETE", PATH)
    assert admin.ok("GET", "/events")["total"] == before


def test_what_a_strategy_may_not_be_it_may_not_be_either(admin):
    assert list(problems_of(admin.post(PATH, {"name": "nope"}))) == ["/name"]
    wrong = {"parameters": {"rollout": "101"}, "name": "flexibleRollout"}
    assert list(problems_of(admin.post(PATH, wrong))) == ["/parameters/rollout"]
    elsewhere = PATH.replace("production", "moon")
    assert error_of(admin.post(elsewhere, {}))[0] == 404


def test_what_has_changed_since_is_left_alone(admin, chosen):
    seen = admin.get(PATH).headers["ETag"]
    admin.ok("POST", PATH, {"parameters": {"rollout": "5"}})
    refused = admin.post(PATH, {}, headers={"If-Match": seen})
    assert error_of(refused) == (412, "PreconditionFailedError")
    now = admin.get(PATH).headers["ETag"]
    assert admin.delete(PATH, headers={"If-Match": now}).status_code == 200


def test_a_segment_that_it_uses_is_not_deleted(admin, chosen, segment):
    refused = admin.delete(f"/segments/{segment}")
    assert error_of(refused)[0] == 409
    assert "1 strategy uses it: default." in refused.json["message"]


def test_the_preview_says_what_features_get(admin, chosen):
    admin.ok("POST", FEATURES, {"name": "cart"})
    path = "/projects/default/bulk_features/environments/production/on/plan"
    assert admin.ok("POST", path, {"features": ["cart"]})["givenStrategy"] == ["cart"]


def test_the_page_changes_and_resets_it(browser, admin):
    settings = browser.get("/projects/default/settings")
    assert settings.links["production"] == PAGE
    page = browser.submit(browser.get(PAGE), {"rollout": "20", "step": "check"})
    assert page.has("In one sentence On for 20% of users, by userId or sessionId")
    assert admin.ok("GET", PATH)["parameters"]["rollout"] == "100"
    done = browser.follow(browser.submit(page))
    assert "Default strategy in production saved." in done.messages
    assert admin.ok("GET", PATH)["parameters"]["rollout"] == "20"
    reset = browser.submit(browser.get(PAGE), form="Reset the default strategy")
    assert (
        "Default strategy in production reset: on for everyone." in browser.follow(reset).messages
    )
    assert admin.ok("GET", PATH)["parameters"]["rollout"] == "100"
