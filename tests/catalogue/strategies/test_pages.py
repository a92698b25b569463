"""The pages of strategy types, all without scripts."""

import pytest

from tests.support.browser import Browser

LIST = "/strategy-types"
API = "/strategies"
REGIONS = {"name": "regions", "type": "list", "description": "By name", "required": True}
PLACE = "/projects/default/features/cart/environments/production/strategies"


@pytest.fixture
def by_region(admin):
    body = {"name": "by-region", "description": "Shops nearby", "parameters": [REGIONS]}
    admin.ok("POST", API, body)
    return f"{LIST}/by-region"


@pytest.fixture
def used(admin, by_region):
    admin.ok("POST", "/projects/default/features", {"name": "cart"})
    admin.ok("POST", PLACE, {"name": "by-region", "parameters": {"regions": "north"}})
    return by_region


def test_the_list_has_own_types_apart_from_built_in_ones(browser, by_region):
    page = browser.get(LIST)
    assert page.has("9 types, 8 of them built in")
    assert page.has("Yours Applications implement these themselves. Flagstaff can’t evaluate them.")
    assert page.has("by-region Shops nearby regions (list, required)")
    assert page.has("userWithId People by their userId userIds")
    assert page.links["by-region"] == by_region
    assert "userWithId" not in page.links


def test_a_type_with_two_parameters_is_created(browser, admin):
    page = browser.submit(browser.get("/new-strategy-type"), {"step": "add-parameter"})
    page = browser.submit(page, {"parameter-0-name": "regions", "step": "add-parameter"})
    typed = {
        "name": "by-region",
        "description": "Shops nearby",
        "parameter-0-type": "list",
        "parameter-0-required": "y",
        "parameter-1-name": "limit",
        "parameter-1-type": "percentage",
        "parameter-1-description": "At most",
    }
    done = browser.follow(browser.submit(page, typed))
    assert "Strategy type by-region created." in done.messages
    assert admin.ok("GET", f"{API}/by-region")["parameters"] == [
        REGIONS | {"description": ""},
        {"name": "limit", "type": "percentage", "description": "At most", "required": False},
    ]


def test_mistakes_are_shown_where_they_are_and_nothing_is_lost(browser, by_region):
    page = browser.submit(browser.get("/new-strategy-type"), {"step": "add-parameter"})
    page = browser.submit(page, {"name": "by-region", "parameter-0-description": "By name"})
    assert page.errors == ["Parameter 1: Enter 1 to 100 characters."]
    page = browser.submit(page, {"parameter-0-name": "regions"})
    assert page.errors == ["Name: A strategy type named 'by-region' already exists."]
    assert page.fields("Create type")["parameter-0-description"] == "By name"


def test_a_type_is_changed_and_a_parameter_removed(browser, admin, by_region):
    page = browser.submit(browser.get(by_region), {"step": "remove-parameter-0"})
    done = browser.follow(browser.submit(page, {"description": "Stores nearby"}))
    assert "Strategy type by-region saved." in done.messages
    found = admin.ok("GET", f"{API}/by-region")
    assert (found["description"], found["parameters"]) == ("Stores nearby", [])
    done = browser.follow(browser.submit(browser.get(by_region)))
    assert "Nothing changed." in done.messages


def test_parameters_of_a_type_in_use_stay_and_all_else_can_change(browser, admin, used):
    page = browser.get(used)
    assert page.has("Used by 1 strategy")
    assert page.has("1 strategy has this type with these parameters, so they can’t be changed.")
    assert not page.has("Add parameter")
    browser.follow(browser.submit(page, {"description": "Stores nearby"}))
    found = admin.ok("GET", f"{API}/by-region")
    assert (found["description"], found["parameters"]) == ("Stores nearby", [REGIONS])


def test_parameters_that_were_typed_before_the_type_was_used_are_kept(browser, admin, by_region):
    page = browser.get(by_region)
    admin.ok("POST", "/projects/default/features", {"name": "cart"})
    admin.ok("POST", PLACE, {"name": "by-region", "parameters": {"regions": "north"}})
    refused = browser.submit(page, {"parameter-0-name": "areas"})
    assert refused.status == 400
    assert "Create another type instead." in refused.errors[0]
    assert refused.fields("Save")["parameter-0-name"] == "areas"


def test_an_edit_by_someone_else_is_shown_first(browser, admin, by_region):
    page = browser.get(by_region)
    admin.ok("PUT", f"{API}/by-region", {"parameters": []})
    refused = browser.submit(page, {"description": "Mine"})
    assert refused.status == 409
    assert refused.has("They changed Parameters from “regions (list, required)” to “nothing”.")


def test_a_type_is_deprecated_and_reactivated(browser, admin, by_region):
    admin.ok("POST", "/projects/default/features", {"name": "cart"})
    done = browser.follow(browser.submit(browser.get(by_region), form="Deprecate by-region"))
    assert "Strategy type by-region deprecated." in done.messages
    assert browser.get(LIST).has("by-region Deprecated")
    assert not browser.get(f"{PLACE}/new").has("by-region")
    done = browser.follow(browser.submit(done, form="Reactivate by-region"))
    assert "Strategy type by-region reactivated." in done.messages
    assert browser.get(f"{PLACE}/new").has("by-region")


def test_only_an_unused_type_can_be_deleted(browser, admin, used):
    page = browser.get(used)
    assert page.has("1 strategy has the type by-region. Stop using it first.")
    [strategy] = admin.ok("GET", PLACE)
    admin.ok("DELETE", f"{PLACE}/{strategy['id']}")
    done = browser.follow(browser.submit(browser.get(used), form="Delete by-region"))
    assert "Strategy type by-region deleted." in done.messages
    assert browser.get(used).status == 404


def test_viewers_see_what_it_is_and_whom_to_ask(app, people, by_region):
    people.person("vera")
    page = Browser(app).sign_in("vera").get(by_region)
    assert page.has("Ask an Admin to make you an Editor.")
    assert page.has("Parameters regions (list, required)")


def test_the_event_log_leads_to_strategy_types(browser, by_region):
    page = browser.get("/events?type=strategy-type-created")
    assert page.links["by-region"] == LIST
