"""The pages of tags and their types, without JavaScript."""

import pytest
from flask import Flask

from app.catalogue.tags.forms import COLOURS
from app.catalogue.tags.models import HUES
from tests.support.browser import Browser, Page, text_of
from tests.support.clients import ApiClient
from tests.support.people import People


@pytest.fixture
def tagged(admin: ApiClient) -> None:
    """Three tags of two types: simple:beta is on two features, the others on none."""
    admin.ok("POST", "/tag-types", json={"name": "team", "description": "Who answers", "hue": 4})
    for name in ("a", "b"):
        admin.ok("POST", "/projects/default/features", json={"name": name})
    for added, removed in (
        ([{"value": "beta"}, {"type": "team", "value": "pay"}], []),
        ([{"type": "team", "value": "unused"}], [{"type": "team", "value": "pay"}]),
        ([], [{"type": "team", "value": "unused"}]),
    ):
        tags = {"addedTags": added, "removedTags": removed}
        admin.ok("PUT", "/projects/default/tags", json={"features": ["a", "b"], "tags": tags})


def rows(page: Page) -> list[str]:
    return [text_of(row) for row in page.select("tbody")[1].css("tr")]


def test_tags_are_listed_with_their_uses(browser: Browser, tagged: None):
    page = browser.get("/tags")
    assert rows(page) == [
        "simple:beta simple 2",
        "team:pay team unused",
        "team:unused team unused",
    ]


@pytest.mark.parametrize(
    ("query", "number"),
    [("?text=PAY", 1), ("?type=team", 2), ("?unused=true", 2), ("?unused=false", 1)],
)
def test_tags_are_found_by_value_type_and_use_on_both_faces(browser, admin, tagged, query, number):
    assert len(rows(browser.get(f"/tags{query}"))) == number
    assert admin.ok("GET", f"/tags{query}")["total"] == number


def test_tags_are_sorted_and_paged_by_links(browser: Browser, tagged: None):
    page = browser.get("/tags?sort=-used&limit=1")
    assert rows(page) == ["simple:beta simple 2"]
    assert rows(browser.get(page.links["Next 1"].replace("?", "/tags?"))) == [
        "team:pay team unused"
    ]
    assert browser.get("/tags").links["Features"] == "?sort=used"


def test_filters_in_use_are_shown_in_words(browser: Browser, tagged: None):
    page = browser.get("/tags?unused=true&text=pay")
    assert page.has("Value: pay")
    assert page.has("Use: Unused")


def test_a_page_beyond_the_last_does_not_claim_that_there_are_no_tags(
    browser: Browser, tagged: None
):
    page = browser.get("/tags?offset=500")
    assert page.has("The list ends before this page.")
    assert not page.has("No tags yet")


def test_an_instance_without_tags_says_how_to_create_one(browser: Browser):
    assert browser.get("/tags").has("No tags yet")
    assert browser.get("/tags?text=x").has("No tag matches")


def test_a_tag_type_is_created_and_changed(browser: Browser, admin: ApiClient):
    page = browser.get("/tags/new-type")
    typed = {"name": "risk", "description": "How bad", "hue": "3", "reason": "new rules"}
    page = browser.submit(page, typed, button="Create tag type")
    assert browser.follow(page).messages == ["Tag type risk created."]
    page = browser.submit(browser.get("/tags/types/risk"), {"description": ""}, button="Save")
    assert browser.follow(page).messages == ["Tag type risk saved."]
    types = admin.ok("GET", "/tag-types")["tagTypes"]
    assert {"name": "risk", "description": "", "hue": 3} in types
    event = admin.ok("GET", "/events?type=tag-type-created")["events"][0]
    assert event["reason"] == "new rules"


@pytest.mark.parametrize(
    "bad",
    [{"name": "No Spaces"}, {"name": "x" * 51}, {"name": "ok", "hue": 9}, {"name": "-a"}],
)
def test_form_and_json_refuse_a_tag_type_in_the_same_words(browser, admin, bad):
    refusal = admin.post("/tag-types", json=bad)
    page = browser.post("/tags/new-type", {"hue": "1", **bad})
    assert (refusal.status_code, page.status) == (400, 400)
    for detail in refusal.json["details"]:
        assert any(detail["message"] in error for error in page.errors)


@pytest.mark.parametrize("bad", [{"description": "x" * 256}, {"hue": 0}, {"hue": "red"}])
def test_form_and_json_refuse_a_change_of_a_tag_type_in_the_same_words(browser, admin, tagged, bad):
    refusal = admin.put("/tag-types/team", json=bad)
    typed = {name: str(value) for name, value in bad.items()}
    page = browser.submit(browser.get("/tags/types/team"), typed, button="Save")
    assert (refusal.status_code, page.status) == (400, 400)
    for detail in refusal.json["details"]:
        assert any(detail["message"] in error for error in page.errors)


def test_of_two_who_change_a_tag_type_the_second_sees_the_other_change(browser, admin, tagged):
    mine = browser.get("/tags/types/team")
    admin.ok("PUT", "/tag-types/team", json={"description": "theirs", "hue": 6})
    page = browser.submit(mine, {"description": "mine"}, button="Save")
    assert page.status == 409
    assert page.has("Description from “Who answers” to “theirs”, Colour from “green” to “blue”")
    assert page.fields()["description"] == "mine"
    assert page.fields()["hue"] == "4"
    browser.follow(browser.submit(page, button="Save"))
    types = admin.ok("GET", "/tag-types")["tagTypes"]
    assert {"name": "team", "description": "mine", "hue": 4} in types


def test_every_colour_has_a_name():
    assert len(set(COLOURS)) == HUES


def test_deleting_a_type_names_the_tags_deleted_with_it(browser, admin, tagged):
    page = browser.get("/tags/types/team/delete")
    assert page.has("2 unused tags will be deleted with it.")
    assert page.has("team:unused")
    page = browser.submit(page, button="Delete tag type team")
    assert browser.follow(page).messages == ["Tag type team deleted."]
    assert admin.ok("GET", "/tags?type=team")["total"] == 0


def test_a_type_in_use_and_the_default_type_cannot_be_deleted(browser, admin, tagged):
    assert browser.get("/tags/types/simple/delete").has(
        "It can’t be deleted. It’s the default type."
    )
    tags = {"addedTags": [{"type": "team", "value": "pay"}], "removedTags": []}
    admin.ok("PUT", "/projects/default/tags", json={"features": ["a"], "tags": tags})
    page = browser.get("/tags/types/team/delete")
    assert page.has("Its tags are used 1 time. Remove them from all features first.")
    assert page.has("team:pay 1")
    assert browser.post("/tags/types/team/delete").status == 409


def test_people_without_permission_see_why(app: Flask, people: People, tagged: None):
    people.person("looker")
    browser = Browser(app).sign_in("looker")
    assert browser.get("/tags").has("You can’t change this. Ask an Admin to make you an Editor.")
    assert browser.get("/tags/types/team").has("Ask an Admin to make you an Editor.")
    assert browser.get("/tags/new-type").status == 403
    assert browser.post("/tags/types/team", {"description": "x"}).status == 403
    assert browser.get("/tags/types/unknown").status == 404
