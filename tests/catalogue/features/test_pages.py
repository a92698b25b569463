"""The pages of a project's features, in a browser without a script."""

from collections.abc import Callable
from urllib.parse import urljoin

import pytest
from flask import Flask

from tests.support.browser import Browser, text_of
from tests.support.clients import ApiClient
from tests.support.dependencies import parents
from tests.support.people import People

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
    return [text_of(row.css_first("th a")) for row in page.select("tbody")[0].css("tr")]


def test_a_project_without_features_says_what_to_do(browser: Browser):
    page = browser.get(HOME)
    assert page.has("No features yet")
    assert page.links["New feature"] == f"{HOME}/new-feature"


def test_the_list_is_filtered_and_names_the_filters(browser: Browser, make: Make):
    make("pay.cards", "pay.sepa", tags=("simple:beta",), type="experiment")
    make("ship.express", stale=True)
    page = browser.get(f"{HOME}?text=pay&tag=simple:beta&type=experiment&stale=false")
    assert names_of(page) == ["pay.cards", "pay.sepa"]
    assert page.has("2 features match, of 3 in this project")
    assert page.links["Text: pay remove"] == "?tag=simple%3Abeta&type=experiment&stale=false"
    assert names_of(browser.get(f"{HOME}?withoutTag=beta")) == ["ship.express"]
    assert names_of(browser.get(f"{HOME}?stale=true")) == ["ship.express"]


def test_the_filters_keep_their_values(browser: Browser, make: Make):
    make("pay.cards")
    fields = browser.get(f"{HOME}?text=pay&type=release&sort=-name").fields()
    assert fields["text"] == "pay"
    assert fields["type"] == "release"
    assert fields["sort"] == "-name"


def test_invalid_filters_in_an_address_are_named_and_ignored(browser: Browser, make: Make):
    make("pay.cards")
    page = browser.get(f"{HOME}?type=nonsense&limit=x&text=pay")
    assert names_of(page) == ["pay.cards"]
    assert any("type: Must be one of" in message for message in page.messages)


def test_a_filter_without_results_offers_all_features(browser: Browser, make: Make):
    make("pay.cards")
    page = browser.get(f"{HOME}?text=nothing-like-that")
    assert page.has("No feature matches")
    assert page.links["All features"] == HOME


def test_the_list_is_sorted_both_ways_by_its_heads(browser: Browser, make: Make):
    make("b", "a", "c")
    page = browser.get(HOME)
    assert names_of(page) == ["a", "b", "c"]
    page = browser.follow(browser.submit(page, form="Edit tags", button="Name"))
    assert names_of(page) == ["c", "b", "a"]
    assert page.path == f"{HOME}?sort=-name"


def test_people_who_can_not_select_features_can_sort_them(app: Flask, people: People, make: Make):
    make("b", "a", "c")
    people.person("viewer")
    browser = Browser(app).sign_in("viewer")
    page = browser.get(HOME)
    assert names_of(browser.get(HOME + page.links["Name"])) == ["c", "b", "a"]


def selected_in(page) -> list[str]:
    """The features that are selected on this page of the list."""
    found = page.fields("Edit tags").get("feature", [])
    return [found] if isinstance(found, str) else found


def test_sorting_keeps_the_selection(browser: Browser, make: Make):
    make("b", "a", "c")
    page = browser.get(f"{HOME}?text=")
    page = browser.submit(page, {"feature": ["a", "c"]}, form="Edit tags", button="Name")
    page = browser.follow(page)
    assert names_of(page) == ["c", "b", "a"]
    assert selected_in(page) == ["c", "a"]
    page = browser.follow(browser.submit(page, {"feature": "c"}, form="Edit tags", button="Name"))
    assert selected_in(page) == ["c"]
    page = browser.follow(browser.submit(page, {"feature": None}, form="Edit tags", button="Age"))
    assert selected_in(page) == []


def test_a_selection_over_several_pages_of_the_list_is_acted_on_as_a_whole(
    browser: Browser, make: Make
):
    make("a", "b", "c", "d")
    page = browser.get(f"{HOME}?limit=2")
    page = browser.submit(page, {"feature": ["a", "b"]}, form="Edit tags", button="Next 2")
    page = browser.follow(page)
    assert page.has("2 features selected")
    page = browser.submit(page, {"feature": "c"}, form="Edit tags", button="Previous 2")
    page = browser.follow(page)
    assert selected_in(page) == ["a", "b"]
    page = browser.submit(page, {"feature": "b"}, form="Edit tags", button="Edit tags")
    page = browser.follow(page)
    assert page.has("2 features in Default: b and c")


def test_all_that_match_stay_selected_when_the_list_is_sorted(browser: Browser, make: Make):
    make("a", "b", "c", "other")
    page = browser.get(f"{HOME}?limit=2&text=&all=1")
    page = browser.follow(browser.submit(page, form="Edit tags", button="Name"))
    assert page.has("All 4 that match are selected")


def test_a_row_shows_two_tags_and_the_number_of_the_others(browser: Browser, make: Make):
    make("pay", tags=("simple:a", "simple:b", "simple:c", "simple:d"))
    [row] = browser.get(HOME).select("tbody")[0].css("tr")
    assert "simple:a simple:b +2 more" in text_of(row)
    title = row.css("span.tags--line")[0].attributes["title"]
    assert title == "simple:a, simple:b, simple:c, simple:d"


def test_an_empty_list_of_names_stays_on_the_page_with_an_error(browser: Browser):
    page = browser.get(f"{HOME}/paste")
    page = browser.submit(page, {"names": " ,;\n"}, button="Archive…")
    assert page.status == 400
    assert page.title == "Error: Paste a list of names · Flagstaff"
    assert page.errors == ["Feature names: Enter at least one feature name"]


def test_more_names_than_a_selection_can_have_are_refused(browser: Browser):
    names = " ".join(f"f{number}" for number in range(50_001))
    page = browser.submit(browser.get(f"{HOME}/paste"), {"names": names}, button="Archive…")
    assert page.status == 400
    assert page.errors == ["Feature names: Enter at most 50,000 names"]


def test_long_lists_come_in_pages(browser: Browser, make: Make):
    make(*(f"f{number:02}" for number in range(55)))
    page = browser.get(HOME)
    assert page.has("1–50 of 55")
    rest = browser.follow(browser.submit(page, form="Edit tags", button="Next 5"))
    assert names_of(rest) == [f"f{number}" for number in range(50, 55)]
    page = browser.submit(rest, form="Edit tags", button="Previous 50")
    assert page.location == HOME


def test_a_feature_is_created_and_the_next_one_right_after_it(browser: Browser):
    page = browser.get(f"{HOME}/new-feature")
    page = browser.submit(page, {"name": "one"}, button="Create and add another")
    assert page.location == f"{HOME}/new-feature"
    page = browser.submit(browser.follow(page), {"name": "two"}, button="Create feature")
    assert page.location == f"{HOME}/features/two"
    assert names_of(browser.get(HOME)) == ["one", "two"]


def test_form_and_json_refuse_a_new_feature_in_the_same_words(browser, admin, subtests):
    for bad in (
        {},
        {"name": "a b"},
        {"name": ".."},
        {"name": "x" * 101},
        {"name": "ok", "type": "nonsense"},
        {"name": "ok", "description": "x" * 5_001},
        {"name": "ok", "description": "a\x07b"},
    ):
        with subtests.test(bad=bad):
            refusal = admin.post("/projects/default/features", json=bad)
            page = browser.post(f"{HOME}/new-feature", {"name": "", "type": "release", **bad})
            assert (refusal.status_code, page.status) == (400, 400)
            assert page.title.startswith("Error:")
            if bad:  # a form sends an empty name where JSON can leave it out
                for detail in refusal.json["details"]:
                    assert any(detail["message"] in error for error in page.errors)


def test_a_name_that_is_taken_is_an_error_at_its_field_and_nothing_is_lost(browser, make):
    make("pay.cards")
    typed = {"name": "pay.cards", "type": "release", "description": "mine"}
    page = browser.post(f"{HOME}/new-feature", typed)
    assert page.status == 400
    assert "already exists" in page.errors[0]
    assert page.fields()["description"] == "mine"


def test_a_page_of_a_feature_says_what_it_is(browser: Browser, admin: ApiClient, make: Make):
    make("base")
    make("child", description="One step", type="experiment", tags=("simple:beta",))
    admin.ok("POST", f"{HOME}/features/child/dependencies", {"feature": "base"})
    page = browser.get(f"{HOME}/features/child")
    assert page.has("One step On in 0 of 2 environments Experiment Project: Default Created")
    assert page.has("by admin Depends on base simple:beta")
    tabs = page.select("nav.tabs")[0].css("a")
    names = ["Overview", "Usage", "Tags & dependencies", "History", "Settings"]
    assert [text_of(tab) for tab in tabs] == names
    for tab in tabs:
        assert browser.get(urljoin(page.path, tab.attributes["href"])).status == 200
    assert browser.get(page.links["History"]).has("admin created feature child")


def test_only_those_who_may_read_events_see_who_acted(app, people: People, make: Make):
    make("cart")
    people.person("looker")
    page = Browser(app).sign_in("looker").get(f"{HOME}/features/cart")
    assert "History" not in text_of(page.select("nav.tabs")[0])
    assert not page.has("by admin")


def test_the_settings_of_a_feature_are_changed(browser: Browser, admin: ApiClient, make: Make):
    make("cart")
    page = browser.get(f"{HOME}/features/cart/settings")
    typed = {"description": "new words", "stale": "y", "reason": "tidying"}
    page = browser.submit(page, typed, button="Save")
    assert browser.follow(page).messages == ["Feature cart saved."]
    row = admin.ok("GET", "/projects/default/features/cart")
    assert (row["description"], row["stale"]) == ("new words", True)
    reasons = {event["reason"] for event in admin.ok("GET", "/events?feature=cart")["events"]}
    assert "tidying" in reasons


TAGS = f"{HOME}/features/me/tags"


def test_a_feature_gets_a_parent_and_loses_it(browser: Browser, admin: ApiClient, make: Make):
    make("base", "me")
    page = browser.submit(browser.get(TAGS), {"parent": "base"}, form="Save", button="Save")
    assert browser.follow(page).messages == ["Feature me saved."]
    assert parents(admin, f"{HOME}/features/me") == ["base"]
    base = browser.get(f"{HOME}/features/base/tags")
    assert base.has("1 feature depends on this one, so it can’t depend on another.")
    assert base.has("Needed by me")
    browser.submit(browser.get(TAGS), {"parent": ""}, form="Save", button="Save")
    assert parents(admin, f"{HOME}/features/me") == []


@pytest.mark.parametrize(
    ("parent", "words"), [("nope", "no feature named nope"), ("me", "cannot depend on itself")]
)
def test_a_parent_that_can_not_be_is_refused_and_stays_typed(browser, make, parent, words):
    make("me")
    page = browser.submit(browser.get(TAGS), {"parent": parent}, form="Save", button="Save")
    assert page.status == 400
    assert words in page.errors[0]
    assert page.fields("Save")["parent"] == parent


def test_a_parent_that_someone_else_chose_first_is_shown_first(browser, admin, make):
    make("base", "other", "me")
    mine = browser.get(TAGS)
    admin.ok("POST", f"{HOME}/features/me/dependencies", {"feature": "other"})
    page = browser.submit(mine, {"parent": "base"}, form="Save", button="Save")
    assert page.status == 409
    assert page.has("They changed Depends on from “nothing” to “other”.")
    assert parents(admin, f"{HOME}/features/me") == ["other"]
    browser.follow(browser.submit(page, form="Save", button="Save"))
    assert parents(admin, f"{HOME}/features/me") == ["base"]


def test_tags_are_edited_from_their_page(browser, make):
    make("me", tags=("simple:beta",))
    page = browser.get(TAGS)
    assert page.has("Tags Edit tags simple:beta")
    page = browser.follow(browser.submit(page, form="Edit tags", button="Edit tags"))
    assert page.h1 == "Edit tags of 1 feature"


def test_of_two_people_who_change_a_feature_the_second_one_chooses_and_nothing_is_lost(
    browser, admin, make
):
    make("pay.cards", description="first")
    mine = browser.get(f"{HOME}/features/pay.cards/settings")
    admin.ok(
        "PUT", "/projects/default/features/pay.cards", json={"description": "theirs", "stale": True}
    )
    page = browser.submit(mine, {"description": "mine", "impression_data": "y"}, button="Save")
    assert page.status == 409
    assert page.has("Someone else changed this feature while you were editing")
    chosen = page.fields()
    assert chosen["take-description"] == "theirs"
    assert chosen["take-stale"] == "theirs"
    assert "take-impression_data" not in chosen
    page = browser.submit(page, {"take-description": "mine"}, button="Save what is selected")
    assert browser.follow(page).messages == ["Feature pay.cards saved."]
    row = admin.ok("GET", "/projects/default/features/pay.cards")
    assert (row["description"], row["stale"], row["impressionData"]) == ("mine", True, True)


def test_back_from_a_conflict_keeps_what_was_typed(browser, admin, make):
    make("pay.cards")
    mine = browser.get(f"{HOME}/features/pay.cards/settings")
    admin.ok("PUT", "/projects/default/features/pay.cards", json={"description": "theirs"})
    page = browser.submit(mine, {"description": "mine"}, button="Save")
    page = browser.submit(page, button="Back to the form")
    assert page.fields()["description"] == "mine"
    assert admin.ok("GET", "/projects/default/features/pay.cards")["description"] == "theirs"


def test_people_who_can_only_view_see_whom_to_ask(app: Flask, people: People, make):
    make("pay.cards")
    people.person("looker")
    browser = Browser(app).sign_in("looker")
    page = browser.get(HOME)
    assert names_of(page) == ["pay.cards"]
    assert page.has(
        "You can’t change this. Ask an Admin or an Owner of project Default to make you a Member."
    )
    assert "New feature" not in page.links
    settings = f"{HOME}/features/pay.cards/settings"
    assert browser.get(settings).has("You can’t change this.")
    refused = browser.post(settings, {"description": "x"})
    assert refused.status == 403
    assert refused.has("You can’t change features and their tags in project default. Ask an Admin")


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
    assert page.has("No features yet")
    page = browser.get(page.links["archived"])
    assert names_of(page) == ["base", "child"]
    page = browser.submit(page, {"feature": ["base", "child"]}, form="Revive", button="Revive")
    page = browser.follow(page)
    assert page.messages[0] == "2 features revived. 1 feature depends on the same parent again."
    assert names_of(page) == ["base", "child"]


def test_an_archived_feature_says_so_and_can_be_revived(browser, admin, make):
    make("pay.cards")
    reason = {"X-Reason": "no longer needed"}
    admin.ok("POST", f"{HOME}/archive", json={"features": ["pay.cards"]}, headers=reason)
    page = browser.get(f"{HOME}/features/pay.cards")
    assert page.has("Archived just now by admin Applications get “off” for it everywhere.")
    assert page.has("Reason given: “no longer needed”. Revive it to change anything.")
    assert browser.get(page.links["Settings"]).has("Revive this feature")
    browser.follow(browser.submit(page, form="/revive", button="Revive feature"))
    assert names_of(browser.get(HOME)) == ["pay.cards"]


def test_reviving_nothing_says_so(browser: Browser):
    page = browser.post(f"{HOME}/revive", {})
    assert browser.follow(page).messages == ["Select at least one archived feature first."]
