"""The pages of environments, without JavaScript."""

import pytest
from flask import Flask

from tests.support.browser import Browser, Page, text_of
from tests.support.clients import ApiClient
from tests.support.people import People


def rows(page: Page) -> list[str]:
    return [text_of(row) for row in page.select("tbody")[0].css("tr")]


def test_environments_are_listed_in_order_with_their_projects(browser: Browser):
    page = browser.get("/environments")
    assert rows(page) == [
        "development Development In use 1 1",
        "production Production In use 2 1",
    ]


def test_an_environment_is_created_and_deprecated(browser: Browser, admin: ApiClient):
    page = browser.get("/new-environment")
    typed = {"name": "staging", "type": "preproduction", "reason": "rehearsals"}
    page = browser.submit(page, typed, button="Create environment")
    assert browser.follow(page).messages == ["Environment staging created. No project uses it yet."]
    page = browser.get("/environments/staging")
    assert page.has("No projects")
    page = browser.submit(page, {"sort_order": "7"}, button="Save")
    assert browser.follow(page).messages == ["Environment staging saved."]
    page = browser.submit(browser.get("/environments/staging"), form="Deprecate staging")
    assert browser.follow(page).messages == [
        "Environment staging is deprecated. New projects no longer get it."
    ]
    row = admin.ok("GET", "/environments")["environments"][-1]
    assert row == {
        "name": "staging",
        "type": "preproduction",
        "sortOrder": 7,
        "deprecated": True,
        "enabled": False,
        "protected": False,
    }
    page = browser.submit(browser.get("/environments/staging"), form="Use staging again")
    assert browser.follow(page).messages == [
        "Environment staging is in use again. New projects get it."
    ]
    assert browser.get("/environments").has("staging Preproduction In use")


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
    page = browser.post("/new-environment", typed)
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


def test_deprecating_says_what_happens_to_projects(browser: Browser):
    page = browser.get("/environments/production")
    assert page.links["1 project"] == "/projects?environment=production"
    assert page.has("New projects will no longer get it. Projects that use it keep it.")


def test_counts_lead_to_the_projects(browser: Browser, admin: ApiClient):
    body = {"id": "shop", "name": "Shop", "environments": ["production"]}
    admin.ok("POST", "/projects", json=body)
    page = browser.get("/environments")
    assert page.links["2"] == "/projects?environment=production"
    assert browser.get("/projects?environment=production").has("2 projects match")
    assert browser.get("/projects?environment=development").has("1 project matches")
    assert browser.get("/projects?environment=none").has("No project matches")


def test_projects_that_the_reader_cannot_see_are_not_counted(app: Flask, people: People, admin):
    body = {"id": "secret", "name": "Secret", "mode": "private", "environments": ["production"]}
    admin.ok("POST", "/projects", json=body)
    people.person("looker")
    people.join(people.person("member"), "secret")
    people.person("boss", role="Admin")
    for name, count in (("looker", "1"), ("member", "2"), ("boss", "2")):
        browser = Browser(app).sign_in(name)
        [row] = [row for row in rows(browser.get("/environments")) if row.startswith("production")]
        assert row.split()[-1] == count, name
        page = browser.get("/environments/production")
        assert page.links.get("1 project" if count == "1" else "2 projects")
    browser = Browser(app).sign_in("looker")
    assert browser.get("/environments").has("projects that you can’t see aren’t counted")


def test_nothing_is_called_saved_when_nothing_changed(browser: Browser, admin: ApiClient):
    page = browser.submit(browser.get("/environments/production"), button="Save")
    assert browser.follow(page).messages == ["Nothing changed."]
    assert admin.ok("GET", "/events?type=environment-updated")["total"] == 0


def test_a_taken_name_is_an_error_at_its_field(browser: Browser):
    page = browser.post("/new-environment", {"name": "production", "type": "test"})
    assert page.status == 400
    assert "already exists" in page.errors[0]


def test_of_two_who_change_an_environment_the_second_sees_the_other_change(browser, admin):
    mine = browser.get("/environments/production")
    admin.ok("PUT", "/environments/production", json={"type": "test"})
    page = browser.submit(mine, {"sort_order": "9"}, button="Save")
    assert page.status == 409
    assert page.has("Type from “production” to “test”")
    assert page.fields()["sort_order"] == "9"
    assert admin.ok("GET", "/environments")["environments"][-1]["sortOrder"] == 2
    assert browser.follow(browser.submit(page, button="Save")).messages == [
        "Environment production saved."
    ]


def test_people_without_permission_see_why(app: Flask, people: People):
    people.person("looker", role="Editor")
    browser = Browser(app).sign_in("looker")
    assert browser.get("/environments").has("You can’t change this. Only Admins can.")
    assert browser.get("/environments/production").has("Position")
    assert browser.get("/new-environment").status == 403
    assert browser.post("/environments/production", {"type": "test"}).status == 403
    assert browser.get("/environments/unknown").status == 404
