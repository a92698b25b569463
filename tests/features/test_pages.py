"""The pages of a project's features, in a browser without a script."""

from collections.abc import Callable

import pytest
from flask import Flask

from tests.browser import Browser
from tests.clients import ApiClient
from tests.people import People

HOME = "/projects/default"
Make = Callable[..., None]


@pytest.fixture
def make(admin: ApiClient) -> Make:
    """Makes features of the project default, with tags as ``type:value``."""

    def make(*names: str, tags: tuple[str, ...] = (), **fields: object) -> None:
        for name in names:
            admin.ok("POST", "/projects/default/features", json={"name": name, **fields})
        if tags:
            added = [dict(zip(("type", "value"), tag.split(":"), strict=True)) for tag in tags]
            body = {"features": list(names), "tags": {"addedTags": added, "removedTags": []}}
            admin.ok("PUT", "/projects/default/tags", json=body)

    return make


def names_of(page) -> list[str]:
    """The features that a list shows."""
    table = page.root.all("table")[0]
    return [row.all("th")[0].all("a")[0].text for row in table.all("tbody")[0].all("tr")]


def test_a_project_without_a_feature_says_what_to_do(browser: Browser):
    page = browser.get(HOME)
    assert page.has("No feature yet")
    assert page.links["Create a feature"] == f"{HOME}/features/new"


def test_the_list_is_narrowed_by_its_filters_and_says_by_which(browser: Browser, make: Make):
    make("pay.cards", "pay.sepa", tags=("simple:beta",), type="experiment")
    make("ship.express", stale=True)
    page = browser.get(f"{HOME}?text=pay&tag=simple:beta&type=experiment&stale=false")
    assert names_of(page) == ["pay.cards", "pay.sepa"]
    assert page.has("2 features match, of 3 in this project")
    assert page.links["Text: pay remove"] == "?tag=simple%3Abeta&type=experiment&stale=false"
    assert names_of(browser.get(f"{HOME}?withoutTag=beta")) == ["ship.express"]
    assert names_of(browser.get(f"{HOME}?stale=true")) == ["ship.express"]


def test_the_filters_keep_what_was_asked_for(browser: Browser, make: Make):
    make("pay.cards")
    fields = browser.get(f"{HOME}?text=pay&type=release&sort=-name").fields()
    assert fields["text"] == "pay"
    assert fields["type"] == "release"
    assert fields["sort"] == "-name"


def test_what_an_address_asks_for_in_error_is_named_and_left_out(browser: Browser, make: Make):
    make("pay.cards")
    page = browser.get(f"{HOME}?type=nonsense&limit=x&text=pay")
    assert names_of(page) == ["pay.cards"]
    assert any("type: Must be one of" in message for message in page.messages)


def test_a_filter_without_result_offers_a_way_on(browser: Browser, make: Make):
    make("pay.cards")
    page = browser.get(f"{HOME}?text=nothing-like-that")
    assert page.has("No feature matches")
    assert page.links["All features"] == HOME


def test_the_list_is_sorted_both_ways_by_its_heads(browser: Browser, make: Make):
    make("b", "a", "c")
    page = browser.get(HOME)
    assert names_of(page) == ["a", "b", "c"]
    assert names_of(browser.get(HOME + page.links["Name"])) == ["c", "b", "a"]


def test_long_lists_come_in_pages(browser: Browser, make: Make):
    make(*(f"f{number:02}" for number in range(55)))
    page = browser.get(HOME)
    assert page.has("1–50 of 55")
    rest = browser.get(HOME + page.links["Next 5"])
    assert names_of(rest) == [f"f{number}" for number in range(50, 55)]
    assert rest.links["Previous 50"] == HOME


def test_a_feature_is_created_and_the_next_one_right_after_it(browser: Browser):
    page = browser.get(f"{HOME}/features/new")
    page = browser.submit(page, {"name": "one"}, button="Create, and then another")
    assert page.location == f"{HOME}/features/new"
    page = browser.submit(browser.follow(page), {"name": "two"}, button="Create the feature")
    assert page.location == f"{HOME}/features/two"
    assert names_of(browser.get(HOME)) == ["one", "two"]


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"name": "a b"},
        {"name": ".."},
        {"name": "x" * 101},
        {"name": "ok", "type": "nonsense"},
        {"name": "ok", "description": "x" * 5_001},
        {"name": "ok", "description": "a\x07b"},
    ],
)
def test_form_and_json_refuse_a_new_feature_in_the_same_words(browser, admin, bad):
    refusal = admin.post("/projects/default/features", json=bad)
    page = browser.post(f"{HOME}/features/new", {"name": "", "type": "release", **bad})
    assert (refusal.status_code, page.status) == (400, 400)
    assert page.title.startswith("Error:")
    if bad:  # a form sends an empty name where JSON can leave it out
        for detail in refusal.json["details"]:
            assert any(detail["message"] in error for error in page.errors)


def test_a_name_that_is_taken_is_told_at_its_field_and_nothing_is_lost(browser, make):
    make("pay.cards")
    typed = {"name": "pay.cards", "type": "release", "description": "mine"}
    page = browser.post(f"{HOME}/features/new", typed)
    assert page.status == 400
    assert "already exists" in page.errors[0]
    assert page.fields()["description"] == "mine"


def test_a_feature_is_changed_with_its_parent(browser: Browser, admin: ApiClient, make: Make):
    make("base", "child")
    page = browser.get(f"{HOME}/features/child")
    typed = {"description": "new words", "stale": "y", "parent": "base", "reason": "tidying"}
    page = browser.submit(page, typed, button="Save")
    assert browser.follow(page).messages == ["Feature child saved."]
    row = admin.ok("GET", "/projects/default/features/child")
    assert (row["description"], row["stale"], row["dependencies"]) == ("new words", True, ["base"])
    reasons = {event["reason"] for event in admin.ok("GET", "/events?feature=child")["events"]}
    assert "tidying" in reasons
    page = browser.submit(browser.get(f"{HOME}/features/child"), {"parent": ""}, button="Save")
    assert admin.ok("GET", "/projects/default/features/child")["dependencies"] == []


@pytest.mark.parametrize(
    ("parent", "words"), [("nope", "no feature named nope"), ("me", "can't depend on itself")]
)
def test_a_parent_that_can_not_be_is_refused_and_nothing_is_saved(
    browser, admin, make, parent, words
):
    make("me")
    page = browser.get(f"{HOME}/features/me")
    page = browser.submit(page, {"description": "typed", "parent": parent}, button="Save")
    assert page.status == 400
    assert words in page.errors[0]
    assert page.fields()["description"] == "typed"
    assert admin.ok("GET", "/projects/default/features/me")["description"] is None


def test_of_two_who_change_a_feature_the_second_chooses_and_nothing_is_lost(browser, admin, make):
    make("pay.cards", description="first")
    mine = browser.get(f"{HOME}/features/pay.cards")
    admin.ok(
        "PUT", "/projects/default/features/pay.cards", json={"description": "theirs", "stale": True}
    )
    page = browser.submit(mine, {"description": "mine", "impression_data": "y"}, button="Save")
    assert page.status == 409
    assert page.has("Somebody else changed this feature")
    chosen = page.fields()
    assert chosen["take-description"] == "mine"
    assert chosen["take-stale"] == "theirs"
    page = browser.submit(page, button="Save what is chosen")
    assert browser.follow(page).messages == ["Feature pay.cards saved."]
    row = admin.ok("GET", "/projects/default/features/pay.cards")
    assert (row["description"], row["stale"], row["impressionData"]) == ("mine", True, True)


def test_whoever_was_overtaken_can_go_back_to_the_form_with_what_was_typed(browser, admin, make):
    make("pay.cards")
    mine = browser.get(f"{HOME}/features/pay.cards")
    admin.ok("PUT", "/projects/default/features/pay.cards", json={"description": "theirs"})
    page = browser.submit(mine, {"description": "mine"}, button="Save")
    page = browser.submit(page, button="Back to the form")
    assert page.fields()["description"] == "mine"
    assert admin.ok("GET", "/projects/default/features/pay.cards")["description"] == "theirs"


def test_who_may_only_look_sees_why_and_from_whom_to_get_more(app: Flask, people: People, make):
    make("pay.cards")
    people.person("looker")
    browser = Browser(app).sign_in("looker")
    page = browser.get(HOME)
    assert names_of(page) == ["pay.cards"]
    assert page.has("Needs UPDATE_FEATURE in default; an Admin, or an Owner of project default,")
    assert "New feature" not in page.links
    assert browser.get(f"{HOME}/features/pay.cards").has("Needs UPDATE_FEATURE in default")
    refused = browser.post(f"{HOME}/features/pay.cards", {"description": "x"})
    assert refused.status == 403
    assert refused.has("You need the permission UPDATE_FEATURE in project default")


def test_a_private_project_is_as_unknown_as_one_that_is_not_there(app, people, admin):
    admin.ok("POST", "/projects", json={"id": "secret", "name": "Secret", "mode": "private"})
    people.person("looker")
    browser = Browser(app).sign_in("looker")
    hidden, absent = browser.get("/projects/secret"), browser.get("/projects/absent")
    assert (hidden.status, absent.status) == (404, 404)
    assert (
        hidden.words.split("request ")[0].replace("secret", "absent")
        == (absent.words.split("request ")[0])
    )


def test_archived_features_have_a_list_of_their_own_and_can_be_revived_from_it(
    browser, admin, make
):
    make("base", "child")
    admin.ok("POST", "/projects/default/features/child/dependencies", json={"feature": "base"})
    admin.ok("POST", "/projects/default/archive", json={"features": ["base", "child"]})
    page = browser.get(HOME)
    assert page.has("No feature yet")
    page = browser.get(page.links["archived"])
    assert names_of(page) == ["base", "child"]
    page = browser.submit(page, {"feature": ["base", "child"]}, form="Revive", button="Revive")
    page = browser.follow(page)
    assert page.messages[0] == "2 features revived. 1 depends on the same parent again."
    assert names_of(page) == ["base", "child"]


def test_an_archived_feature_says_so_and_can_be_revived(browser, admin, make):
    make("pay.cards")
    admin.ok("POST", "/projects/default/archive", json={"features": ["pay.cards"]})
    page = browser.get(f"{HOME}/features/pay.cards")
    assert page.has("Programs that ask for it get “off”")
    browser.follow(browser.submit(page, form="/revive", button="Revive"))
    assert names_of(browser.get(HOME)) == ["pay.cards"]


def test_reviving_nothing_says_so(browser: Browser):
    page = browser.post(f"{HOME}/revive", {})
    assert browser.follow(page).messages == [
        "Choose at least one archived feature first; nothing was changed."
    ]
