"""The pages of segments, all without scripts."""

import pytest

from tests.support.browser import Browser

LIST = "/segments"
PLACE = "/projects/default/features/cart/environments/production"
NORDIC = {"contextName": "userId", "operator": "IN", "values": ["1", "2"]}


@pytest.fixture
def nordic(admin):
    return admin.ok("POST", LIST, {"name": "Nordic", "constraints": [NORDIC]})["id"]


@pytest.fixture
def used(admin, nordic):
    admin.ok("POST", "/projects/default/features", {"name": "cart"})
    strategy = {"name": "flexibleRollout", "segments": [nordic]}
    admin.ok("POST", f"{PLACE}/strategies", strategy)
    return f"{LIST}/{nordic}"


def test_the_list_says_who_is_in_each(browser, used):
    page = browser.get(LIST)
    assert page.has("1 segment")
    assert page.has("Nordic userId is 1 or 2 All projects 1")
    assert browser.get(f"{LIST}?text=nope").has("No segment matches")


def test_an_empty_list_says_what_a_segment_is(browser):
    assert browser.get(LIST).has("A segment is a group of people that many strategies can use.")


def test_a_segment_with_two_constraints_is_created(browser, admin):
    page = browser.submit(browser.get("/new-segment"), {"step": "add-constraint"})
    typed = {
        "name": "Beta testers",
        "constraint-0-contextName": "userId",
        "constraint-0-values": "1\n2",
        "constraint-1-contextName": "appName",
        "constraint-1-operator": "STR_STARTS_WITH",
        "constraint-1-values": "WEB",
        "constraint-1-caseInsensitive": "y",
    }
    done = browser.follow(browser.submit(page, typed))
    assert "Segment Beta testers created." in done.messages
    assert done.has("userId is 1 or 2 and appName starts with WEB, ignoring case")


def test_mistakes_are_shown_where_they_are_and_nothing_is_lost(browser, nordic):
    page = browser.submit(browser.get("/new-segment"), {"name": "Nordic"})
    assert page.errors == ["Constraint 1: Enter at least one value."]
    page = browser.submit(page, {"constraint-0-values": "5"})
    assert page.errors == ["Name: A segment named 'Nordic' already exists."]
    assert page.fields("Create segment")["constraint-0-values"].strip() == "5"


def test_a_segment_in_use_is_changed_after_a_review(browser, admin, nordic, used):
    page = browser.get(used)
    assert page.has("Used by 1 strategy in 1 project")
    assert page.has("default cart production")
    review = browser.submit(page, {"constraint-0-values": "1\n2\n3"})
    assert review.has("1 strategy changes at once, in 1 feature.")
    assert review.has("userId is 1 or 2 userId is 1, 2 or 3")
    assert admin.ok("GET", used)["constraints"][0]["values"] == ["1", "2"]
    done = browser.follow(browser.submit(review, form="Save Nordic"))
    assert "Segment Nordic saved." in done.messages
    assert admin.ok("GET", used)["constraints"][0]["values"] == ["1", "2", "3"]


def test_the_review_leads_back_with_all_that_was_typed(browser, used):
    review = browser.submit(browser.get(used), {"constraint-0-values": "9", "description": "Odd"})
    back = browser.submit(review, {"back": "1"}, form="Save Nordic")
    fields = back.fields("Save segment")
    assert fields["constraint-0-values"].strip() == "9"
    assert fields["description"] == "Odd"


def test_a_review_that_no_longer_holds_is_shown_again(browser, admin, nordic, used):
    review = browser.submit(browser.get(used), {"constraint-0-values": "9"})
    strategy = {"name": "flexibleRollout", "segments": [nordic]}
    admin.ok("POST", f"{PLACE}/strategies", strategy)
    again = browser.submit(review, form="Save Nordic")
    assert again.has("no longer what you reviewed")
    assert again.has("2 strategies change at once")


def test_a_guarded_environment_asks_for_a_reason(browser, admin, used):
    admin.ok("POST", f"{PLACE}/on")
    rules = [{"name": "production", "requiredApprovals": 2}]
    body = {"environments": ["production"], "changeRequestEnvironments": rules}
    admin.ok("PUT", "/projects/default/environments", body)
    review = browser.submit(browser.get(used), {"constraint-0-values": "9"})
    assert review.has("Changes in production of default need approvals.")
    button = "Save Nordic without approval"
    refused = browser.submit(review, form=button, button=button)
    assert refused.status == 400
    assert "2 approvals in production" in refused.errors[0]


def test_an_edit_by_someone_else_is_shown_first(browser, admin, nordic):
    page = browser.get(f"{LIST}/{nordic}")
    admin.ok("PUT", f"{LIST}/{nordic}", {"description": "Theirs"})
    refused = browser.submit(page, {"description": "Mine"})
    assert refused.status == 409
    assert refused.has("They changed Description from “nothing” to “Theirs”.")


def test_only_an_unused_segment_can_be_deleted(browser, admin, used):
    page = browser.get(used)
    assert page.has("1 strategy uses it: cart. Stop using it first.")
    [strategy] = admin.ok("GET", f"{PLACE}/strategies")
    admin.ok("DELETE", f"{PLACE}/strategies/{strategy['id']}")
    done = browser.follow(browser.submit(browser.get(used), form="Delete Nordic"))
    assert "Segment Nordic deleted." in done.messages


def test_those_who_cannot_change_it_see_what_it_is(app, people, nordic):
    people.person("vic")
    reader = Browser(app).sign_in("vic")
    page = reader.get(f"{LIST}/{nordic}")
    assert page.has("You can’t change this. Ask an Admin to make you an Editor.")
    assert page.has("Who is in it userId is 1 or 2")
    assert reader.get("/new-segment").has("Ask an Admin to make you an Editor.")


def test_a_strategy_takes_its_segments_from_a_list(browser, admin, nordic):
    admin.ok("POST", "/projects/default/features", {"name": "cart"})
    page = browser.get(f"{PLACE}/strategies/new")
    assert page.has("Nordic userId is 1 or 2")
    done = browser.follow(browser.submit(page, {"segments": str(nordic), "rollout": "25"}))
    assert done.has("When on: 25% of users, by userId or sessionId, in segment Nordic")
