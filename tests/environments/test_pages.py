"""The pages of environments, in a browser without a script."""

import pytest
from flask import Flask

from tests.browser import Browser
from tests.clients import ApiClient
from tests.people import People


def test_environments_are_listed_in_their_order_with_their_use(browser: Browser):
    page = browser.get("/environments")
    rows = [row.text for row in page.root.all("tbody")[0].all("tr")]
    assert rows == [
        "development Development In use 1 1",
        "production Production In use 2 1",
    ]


def test_an_environment_is_created_and_deprecated(browser: Browser, admin: ApiClient):
    page = browser.get("/environments/new")
    typed = {"name": "staging", "type": "preproduction", "reason": "rehearsals"}
    page = browser.submit(page, typed, button="Create the environment")
    assert browser.follow(page).messages == ["Environment staging created. No project has it yet."]
    page = browser.get("/environments/staging")
    assert page.has("On in 0 projects")
    assert page.has("No project has it now.")
    page = browser.submit(page, {"deprecated": "y", "sort_order": "7"}, button="Save")
    assert browser.follow(page).messages == ["Environment staging saved."]
    row = admin.ok("GET", "/environments")["environments"][-1]
    assert row == {
        "name": "staging",
        "type": "preproduction",
        "sortOrder": 7,
        "deprecated": True,
    }
    page = browser.submit(browser.get("/environments/staging"), {"deprecated": None}, button="Save")
    assert browser.follow(page).has("staging Preproduction In use")


@pytest.mark.parametrize(
    "bad",
    [
        {"name": "a b", "type": "test"},
        {"name": "ok", "type": "test", "sortOrder": -1},
        {"name": "ok", "type": "nonsense"},
        {"name": "ok", "type": "test", "sortOrder": "five"},
    ],
)
def test_form_and_json_refuse_an_environment_in_the_same_words(browser, admin, bad):
    refusal = admin.post("/environments", json=bad)
    typed = {"sort_order" if name == "sortOrder" else name: value for name, value in bad.items()}
    page = browser.post("/environments/new", typed)
    assert (refusal.status_code, page.status) == (400, 400)
    for detail in refusal.json["details"]:
        assert any(detail["message"] in error for error in page.errors)


@pytest.mark.parametrize(
    "bad", [{"type": "nonsense"}, {"sortOrder": 10_000}, {"sortOrder": "five"}]
)
def test_form_and_json_refuse_a_change_of_an_environment_in_the_same_words(browser, admin, bad):
    refusal = admin.put("/environments/production", json=bad)
    typed = {
        "sort_order" if name == "sortOrder" else name: str(value) for name, value in bad.items()
    }
    page = browser.submit(browser.get("/environments/production"), typed, button="Save")
    assert (refusal.status_code, page.status) == (400, 400)
    for detail in refusal.json["details"]:
        assert any(detail["message"] in error for error in page.errors)


def test_deprecating_says_what_becomes_of_the_projects(browser: Browser):
    page = browser.get("/environments/production")
    assert page.has("The 1 project that has it keeps it.")


def test_a_taken_name_is_told_at_its_field(browser: Browser):
    page = browser.post("/environments/new", {"name": "production", "type": "test"})
    assert page.status == 400
    assert "already exists" in page.errors[0]


def test_of_two_who_change_an_environment_the_second_is_told(browser, admin):
    mine = browser.get("/environments/production")
    admin.ok("PUT", "/environments/production", json={"deprecated": True})
    page = browser.submit(mine, {"sort_order": "9"}, button="Save")
    assert page.status == 409
    assert page.has("Deprecated from “no” to “yes”")
    assert page.fields()["sort_order"] == "9"
    assert admin.ok("GET", "/environments")["environments"][-1]["sortOrder"] == 2
    assert browser.follow(browser.submit(page, button="Save")).messages == [
        "Environment production saved."
    ]


def test_who_may_only_look_sees_why(app: Flask, people: People):
    people.person("looker", role="Editor")
    browser = Browser(app).sign_in("looker")
    assert browser.get("/environments").has("Needs ADMIN; an Admin can grant it.")
    assert browser.get("/environments/production").has("Place in the order")
    assert browser.get("/environments/new").status == 403
    assert browser.post("/environments/production", {"type": "test"}).status == 403
    assert browser.get("/environments/unknown").status == 404
