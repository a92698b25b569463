"""Copying the strategies of a feature from one environment to others, on its pages."""

import pytest

from tests.support.browser import Browser

PAGE = "/projects/default/features/cart"
PLACE = f"{PAGE}/environments"
ROLLOUT = {
    "name": "flexibleRollout",
    "title": "Nordic",
    "parameters": {"rollout": "25", "stickiness": "userId", "groupId": "an old group"},
    "constraints": [{"contextName": "userId", "operator": "IN", "values": ["1", "2"]}],
    "variants": [{"name": "blue", "weightType": "fix", "weight": 250}, {"name": "red"}],
}


@pytest.fixture(autouse=True)
def cart(admin):
    admin.ok("POST", "/environments", {"name": "staging", "type": "test"})
    body = {"environments": ["development", "staging", "production"]}
    admin.ok("PUT", "/projects/default/environments", body)
    admin.ok("POST", "/projects/default/features", {"name": "cart"})


def add(admin, environment, **fields):
    return admin.ok("POST", f"{PLACE}/{environment}/strategies", {"name": "default"} | fields)


def strategies(admin, environment):
    """Without what a copy can't share."""
    found = admin.ok("GET", f"{PLACE}/{environment}/strategies")
    return [{k: v for k, v in each.items() if k not in {"id", "sortOrder"}} for each in found]


def copy(browser, environment, *targets, reason=""):
    page = browser.get(f"{PLACE}/{environment}/copy")
    return browser.submit(page, {"targets": [*targets], "reason": reason})


def test_all_strategies_are_copied_after_those_that_are_there(browser, admin):
    body = {"name": "Beta", "constraints": ROLLOUT["constraints"]}
    segment = admin.ok("POST", "/segments", body)["id"]
    add(admin, "development", **ROLLOUT, segments=[segment])
    add(admin, "development", disabled=True)
    add(admin, "production", title="Here before")
    page = browser.get(browser.get(PAGE).links["Copy to… strategies from development"])
    assert page.h1 == "Copy strategies from development"
    assert page.has("where userId is 1 or 2, in segment Beta Nordic blue 25% red 75%")
    assert page.has("production Off, with 1 strategy.")
    sent = {"targets": ["staging", "production"]}
    done = browser.follow(browser.submit(page, sent, button="Copy 2 strategies"))
    assert done.messages == ["2 strategies copied from development to staging and production."]
    originals = strategies(admin, "development")
    assert strategies(admin, "staging") == originals
    assert strategies(admin, "production")[1:] == originals
    orders = admin.ok("GET", f"{PLACE}/production/strategies")
    assert [each["sortOrder"] for each in orders] == [0, 1, 2]
    assert not admin.ok("GET", f"{PLACE}/staging")["enabled"]


def test_the_history_has_an_event_for_each_copy_and_names_the_act_once(browser, admin):
    add(admin, "development")
    add(admin, "development", title="Second")
    browser.follow(copy(browser, "development", "staging", "production"))
    events = admin.ok("GET", "/events?type=feature-strategy-added&limit=4")["events"]
    assert [event["data"]["environment"] for event in events] == [
        *("production", "production", "staging", "staging")
    ]
    assert len({event["batchId"] for event in events}) == 1
    assert browser.get("/projects/default/history").has("You added 4 strategies to feature cart")


def test_an_environment_without_a_strategy_offers_to_copy_some_there(browser, admin):
    add(admin, "development")
    page = browser.get(browser.get(PAGE).links["Copy from development… to staging"])
    assert page.fields()["targets"] == "staging"
    add(admin, "production", title="Other")
    page = browser.get(browser.get(PAGE).links["Copy from… to staging"])
    assert page.h1 == "Copy strategies to staging"
    assert page.has("Other")
    page = browser.get(page.links["Copy… from production"])
    browser.follow(browser.submit(page, button="Copy 1 strategy"))
    assert strategies(admin, "staging") == strategies(admin, "production")


def test_copying_to_no_environment_is_an_error_at_the_choice(browser, admin):
    add(admin, "development")
    page = copy(browser, "development")
    assert page.status == 400
    assert page.errors == ["Copy to: Choose at least one environment"]


def test_where_there_would_be_too_many_nothing_is_copied_anywhere(browser, admin):
    for _ in range(2):
        add(admin, "development")
    for _ in range(29):
        add(admin, "production")
    page = copy(browser, "development", "staging", "production")
    assert page.status == 400
    assert "cart has 29 strategies in production" in page.errors[0]
    assert strategies(admin, "staging") == []


@pytest.mark.parametrize(
    ("environment", "target", "words"),
    [
        ("staging", "production", "cart has no strategy in staging to copy."),
        ("development", "development", "The strategies are in development already."),
    ],
)
def test_what_can_not_be_copied_says_why(browser, admin, environment, target, words):
    add(admin, "development")
    page = browser.post(f"{PLACE}/{environment}/copy", {"targets": target})
    assert page.status == 400
    assert words in page.text


def test_an_environment_that_the_project_does_not_use_is_unknown(browser, admin):
    add(admin, "development")
    assert browser.get(f"{PLACE}/moon/copy").status == 404
    assert browser.post(f"{PLACE}/development/copy", {"targets": "moon"}).status == 404


def test_copies_to_a_guarded_environment_need_an_admin_with_a_reason(browser, admin):
    add(admin, "development")
    admin.ok("POST", f"{PLACE}/production/on")
    rules = [{"name": "production", "requiredApprovals": 2}]
    environments = ["development", "staging", "production"]
    body = {"environments": environments, "changeRequestEnvironments": rules}
    admin.ok("PUT", "/projects/default/environments", body)
    page = browser.get(f"{PLACE}/development/copy")
    assert page.has("Needs 2 approvals, so the copies go into a draft")
    sent, button = {"targets": ["staging", "production"]}, "Copy 1 strategy without approval"
    refused = browser.submit(page, sent, button=button)
    assert refused.status == 400
    assert "need 2 approvals in production" in refused.errors[0]
    assert strategies(admin, "staging") == []
    sent = {"targets": ["production"], "reason": "The shop is down"}
    browser.follow(browser.submit(page, sent, button=button))
    assert len(strategies(admin, "production")) == 2
    assert admin.ok("GET", "/events?type=change-request-bypassed")["total"] == 1


def test_people_who_may_not_add_strategies_copy_none(app, admin, people):
    add(admin, "development")
    people.person("vera")
    browser = Browser(app).sign_in("vera")
    assert "Copy to… strategies from development" not in browser.get(PAGE).links
    assert browser.post(f"{PLACE}/development/copy", {"targets": "staging"}).status == 403
