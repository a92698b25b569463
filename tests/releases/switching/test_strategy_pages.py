"""The pages where a strategy is added, edited and deleted, all without scripts."""

import pytest

PAGE = "/projects/default/features/cart"
PLACE = f"{PAGE}/environments/production"
NEW = f"{PLACE}/strategies/new"


@pytest.fixture(autouse=True)
def cart(admin):
    admin.ok("POST", "/projects/default/features", {"name": "cart"})


def saved(admin):
    return admin.ok("GET", f"{PLACE}/strategies")


def test_a_strategy_with_two_constraints_is_added(browser, admin):
    page = browser.get(NEW)
    assert page.fields(0)["rollout"] == "100"
    page = browser.submit(page, {"title": "Nordic", "rollout": "25", "step": "add-constraint"})
    assert page.fields(0)["title"] == "Nordic"
    page = browser.submit(page, {"constraint-0-values": "1\r\n 2 \n\n3", "step": "add-constraint"})
    second = {
        "constraint-1-contextName": "appName",
        "constraint-1-operator": "STR_STARTS_WITH",
        "constraint-1-values": "web",
        "constraint-1-inverted": "y",
    }
    assert saved(admin) == []
    done = browser.follow(browser.submit(page, second))
    assert "Strategy added in production." in done.messages
    assert done.has(
        "On for 25% of users, by userId or sessionId, where userId is 1, 2 or 3 and appName "
        "doesn’t start with web Nordic"
    )
    [made] = saved(admin)
    assert made["constraints"][0]["values"] == ["1", "2", "3"]


def test_mistakes_are_shown_where_they_are_and_nothing_is_lost(browser, admin):
    page = browser.submit(browser.get(NEW), {"step": "add-constraint"})
    page = browser.submit(page, {"rollout": "120", "title": "Kept"})
    assert page.status == 400
    assert page.errors == ["Constraint 1: Enter at least one value."]
    number = {"constraint-0-operator": "NUM_GT", "constraint-0-values": "many"}
    page = browser.submit(page, number)
    assert page.errors == ["Constraint 1: Must be a number, like 5 or -0.5."]
    page = browser.submit(page, {"constraint-0-values": "5"})
    assert page.errors == ["Rollout in percent: Enter a whole number from 0 to 100."]
    assert page.fields(0)["title"] == "Kept"
    browser.submit(page, {"rollout": "12"})
    assert saved(admin)[0]["constraints"][0]["value"] == "5"


def test_a_strategy_is_edited_from_the_page_of_its_feature(browser, admin):
    constraint = {"contextName": "userId", "operator": "IN", "values": ["1"]}
    variants = [{"name": "a"}, {"name": "b"}]
    body = {"name": "flexibleRollout", "constraints": [constraint], "variants": variants}
    made = admin.ok("POST", f"{PLACE}/strategies", body)
    link = next(
        href for text, href in browser.get(PAGE).links.items() if text.startswith("Edit strategy 1")
    )
    page = browser.get(link)
    assert page.has("On for everyone where userId is 1 a 50% b 50%")
    page = browser.submit(page, {"rollout": "40", "step": "remove-constraint-0"})
    done = browser.follow(browser.submit(page, {"disabled": "y"}))
    assert "Strategy in production saved." in done.messages
    [changed] = saved(admin)
    assert (changed["constraints"], changed["disabled"]) == ([], True)
    assert changed["parameters"] == made["parameters"] | {"rollout": "40"}
    assert changed["variants"] == made["variants"]
    again = browser.follow(browser.submit(browser.get(link)))
    assert "Nothing changed." in again.messages


def test_an_edit_by_someone_else_is_shown_first(browser, admin):
    made = admin.ok("POST", f"{PLACE}/strategies", {"name": "flexibleRollout"})
    path = f"{PLACE}/strategies/{made['id']}"
    page = browser.get(path)
    admin.ok("PUT", path, {"parameters": {"rollout": "7"}})
    refused = browser.submit(page, {"rollout": "50"})
    assert refused.status == 409
    assert refused.has("They changed Rollout from “100” to “7”.")
    browser.submit(refused)
    assert saved(admin)[0]["parameters"]["rollout"] == "50"


def test_a_strategy_is_deleted_and_the_feature_is_off(browser, admin):
    admin.ok("POST", f"{PLACE}/on")
    [made] = saved(admin)
    page = browser.get(f"{PLACE}/strategies/{made['id']}")
    done = browser.follow(browser.submit(page, form="Delete strategy"))
    assert "Strategy in production deleted." in done.messages
    assert saved(admin) == []
    assert admin.ok("GET", PLACE)["enabled"] is False


def test_a_guarded_environment_asks_for_a_reason(browser, admin):
    admin.ok("POST", f"{PLACE}/on")
    rules = [{"name": "production", "requiredApprovals": 1}]
    body = {"environments": ["production"], "changeRequestEnvironments": rules}
    admin.ok("PUT", "/projects/default/environments", body)
    page = browser.follow(browser.get(NEW))
    assert page.has("Changes here need 1 approval")
    button = "Add strategy without approval"
    refused = browser.submit(page, button=button)
    assert refused.status == 400
    assert "1 approval in production" in refused.errors[0]
    browser.submit(refused, {"reason": "The shop is down"}, button=button)
    assert len(saved(admin)) == 2


def test_of_a_place_that_is_not_there_nothing_is_shown(browser):
    assert browser.get(NEW.replace("production", "moon")).status == 404
    assert browser.get(NEW.replace("cart", "nope")).status == 404


def test_saving_without_an_edit_changes_nothing(browser, admin):
    constraint = {"contextName": "userId", "operator": "IN", "values": ["Smith, John", "1"]}
    blue = {"name": "blue", "weight": 333, "weightType": "fix"}
    blue |= {"payload": {"type": "string", "value": "a\nb"}}
    body = {"constraints": [constraint], "variants": [blue, {"name": "red"}]}
    made = admin.ok("POST", f"{PLACE}/strategies", {"name": "flexibleRollout", **body})
    page = browser.get(f"{PLACE}/strategies/{made['id']}")
    lines = {"variant-0-payload": "a\r\nb", "constraint-0-values": "Smith, John\r\n1"}
    done = browser.follow(browser.submit(page, lines))
    assert "Nothing changed." in done.messages
    assert saved(admin) == [made]


@pytest.mark.parametrize("weight", ["many", "-1", "33.33", "9e999998", "\u0665"])
def test_a_weight_is_a_percentage(browser, admin, weight):
    page = browser.submit(browser.get(NEW), {"step": "add-variant"})
    page = browser.submit(page, {"variant-0-name": "blue", "variant-0-weight": weight})
    assert page.errors == ["Variant 1: Enter a weight from 0 to 100, with at most 1 decimal."]
    assert saved(admin) == []


def test_variants_follow_the_stickiness_of_their_strategy(browser, admin):
    body = {"parameters": {"stickiness": "userId"}, "variants": [BY_USER, BY_SESSION]}
    made = admin.ok("POST", f"{PLACE}/strategies", {"name": "flexibleRollout", **body})
    page = browser.get(f"{PLACE}/strategies/{made['id']}")
    browser.submit(page, {"stickiness": "random"})
    [changed] = saved(admin)
    assert [each["stickiness"] for each in changed["variants"]] == ["random", "sessionId"]


def test_a_strategy_of_another_type_is_added_and_edited(browser, admin):
    page = browser.get(NEW)
    assert page.links["userWithId"] == f"{NEW}?type=userWithId"
    page = browser.submit(browser.get(f"{NEW}?type=userWithId"))
    assert page.errors == ["userIds: Enter at least one, separated by commas."]
    done = browser.follow(browser.submit(page, {"parameter-userIds": "1,2"}))
    assert done.has("On for userId 1 or 2")
    assert browser.get(f"{NEW}?type=nope").status == 404


def test_a_parameter_that_can_be_left_out_can_be_cleared(browser, admin):
    parameters = [{"name": "regions", "required": True}, {"name": "limit", "type": "percentage"}]
    admin.ok("POST", "/strategies", {"name": "by-region", "parameters": parameters})
    given = {"regions": "north", "limit": "5"}
    body = {"name": "by-region", "parameters": given}
    made = admin.ok("POST", f"{PLACE}/strategies", body)
    admin.ok("POST", "/strategies/by-region/deprecate")
    page = browser.get(f"{PLACE}/strategies/{made['id']}")
    browser.submit(page, {"parameter-limit": ""})
    assert saved(admin)[0]["parameters"] == {"regions": "north"}


BY_USER = {"name": "blue", "stickiness": "userId"}
BY_SESSION = {"name": "red", "stickiness": "sessionId"}
