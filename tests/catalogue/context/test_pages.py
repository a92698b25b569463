"""The pages of context fields."""

import pytest

from tests.support.browser import Browser

LIST = "/context-fields"


@pytest.fixture
def plan(admin):
    values = [{"value": "free"}, {"value": "gold", "description": "Pays monthly"}]
    body = {"name": "plan", "description": "What they pay for", "legalValues": values}
    admin.ok("POST", "/context", body)
    return f"{LIST}/plan"


def test_the_list_shows_own_fields_apart_from_built_in_ones(browser, plan):
    page = browser.get(LIST)
    assert page.has("7 fields, 6 of them built in")
    assert page.has("Yours plan What they pay for free and gold No")
    assert page.has("Built in SDKs send these themselves")
    assert page.has("userId The person who asks Any Can be used")
    assert page.links["plan"] == plan


def test_a_field_is_created_with_a_value_on_each_line(browser, admin):
    page = browser.get("/new-context-field")
    typed = {
        "name": "country",
        "description": "Where they live",
        "legal_values": "NO Norway\n\n  SE   Sweden \nDK",
        "stickiness": "y",
    }
    done = browser.follow(browser.submit(page, typed))
    assert "Context field country created." in done.messages
    found = admin.ok("GET", "/context/country")
    assert found["stickiness"] is True
    assert [(each["value"], each["description"]) for each in found["legalValues"]] == [
        ("NO", "Norway"),
        ("SE", "Sweden"),
        ("DK", ""),
    ]


def test_a_wrong_value_is_shown_with_all_that_was_typed(browser):
    typed = {"name": "country", "legal_values": "NO Norway\nNO again"}
    page = browser.submit(browser.get("/new-context-field"), typed)
    assert page.status == 400
    assert page.errors == ["Legal values: Is in the list twice."]
    assert page.fields("Create field")["legal_values"].strip() == "NO Norway\nNO again"


def test_saving_keeps_what_was_not_touched(browser, admin, plan):
    before = admin.ok("GET", "/context/plan")
    done = browser.follow(browser.submit(browser.get(plan), {"description": "Their plan"}))
    assert "Context field plan saved." in done.messages
    assert admin.ok("GET", "/context/plan") == before | {"description": "Their plan"}


def test_an_edit_by_someone_else_is_shown_first(browser, admin, plan):
    page = browser.get(plan)
    admin.ok("POST", "/context/plan/legal-values", {"value": "plus"})
    refused = browser.submit(page, {"description": "Mine"})
    assert refused.status == 409
    assert refused.has("free, gold")
    assert refused.has("free, gold, plus")


def test_an_own_field_is_deleted_and_a_built_in_one_says_why_not(browser, admin, plan):
    built_in = browser.get(f"{LIST}/userId")
    assert built_in.has("SDKs send it by themselves.")
    done = browser.follow(browser.submit(browser.get(plan), form="Delete plan"))
    assert "Context field plan deleted." in done.messages
    assert "plan" not in [row["name"] for row in admin.ok("GET", "/context")]


def test_the_page_of_a_field_says_which_values_strategies_use(browser, admin, plan):
    assert browser.get(plan).has("Not used")
    admin.ok("POST", "/projects/default/features", {"name": "cart"})
    constraint = {"contextName": "plan", "operator": "IN", "values": ["gold", "free"]}
    place = "/projects/default/features/cart/environments/production/strategies"
    for _ in range(2):
        admin.ok("POST", place, {"name": "default", "constraints": [constraint]})
    page = browser.get(plan)
    assert page.has("Used by 2 strategies in 1 feature")
    assert page.has("gold 2")
    assert page.has("2 strategies of 1 feature use it. Stop using it first.")


def test_viewers_see_the_settings_and_whom_to_ask(people, app, plan):
    people.person("vera")
    page = Browser(app).sign_in("vera").get(plan)
    assert page.has("Ask an Admin to make you an Editor.")
    assert page.has("Legal values free and gold")
