"""Reviewing the access to a project, and signing off."""

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from flask import Flask

from app.core.clock import utcnow
from tests.access.scim.conftest import Directory, issue
from tests.support.browser import Browser
from tests.support.clients import ApiClient
from tests.support.people import People
from tests.support.sign_in import let_time_pass

PATH = "/projects/shop/access-reviews"
PAGE = "/projects/shop/access-review"


@pytest.fixture
def shop(admin: ApiClient, people: People) -> dict[str, int]:
    """A project with two Owners and a Member, and their ids."""
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    ids = {"admin": people.named("admin") or 0}
    for name, role in (("grace", "Owner"), ("kim", "Member")):
        ids[name] = people.person(name)
        people.join(ids[name], "shop", role)
    return ids


def body(client: ApiClient, **decisions: str) -> dict[str, Any]:
    seen = client.ok("GET", f"{PATH}/current")
    entries = [
        {"id": each["id"], "decision": decisions.get(each["username"], "keep")}
        for each in seen["entries"]
    ]
    return {"version": seen["version"], "entries": entries}


def test_the_review_names_everyone_with_role_source_and_last_activity(admin, shop, people, app):
    token = people.token(shop["kim"])
    ApiClient(app, token).ok("GET", "/user")
    seen = admin.ok("GET", f"{PATH}/current")["entries"]
    assert [(each["username"], each["roleId"]) for each in seen] == [
        ("admin", 4),
        ("grace", 4),
        ("kim", 5),
    ]
    assert seen[0]["source"].startswith("given by admin on ")
    assert [each["lastActiveAt"] is None for each in seen] == [False, True, False]


def test_signing_off_takes_away_what_was_not_confirmed_and_keeps_a_sheet(admin, shop):
    made = admin.ok("POST", PATH, body(admin, kim="remove") | {"comment": "Yearly"})
    assert (made["kept"], made["removed"], made["comment"]) == (2, 1, "Yearly")
    assert made["signedOffBy"] == "admin"
    members = admin.ok("GET", "/projects/shop/access")["members"]
    assert [member["id"] for member in members] == [shop["admin"], shop["grace"]]
    sheet = admin.ok("GET", f"{PATH}/{made['id']}")
    assert {entry["username"]: entry["decision"] for entry in sheet["entries"]} == {
        "admin": "keep",
        "grace": "keep",
        "kim": "remove",
    }
    assert admin.ok("GET", PATH)["total"] == 1


def test_one_act_is_one_batch_of_events(admin, shop):
    admin.ok("POST", PATH, body(admin, kim="remove"))
    newest, before, *_ = admin.ok("GET", "/events?project=shop")["events"]
    assert (newest["type"], before["type"]) == (
        "access-review-signed-off",
        "project-access-updated",
    )
    assert newest["batchId"] == before["batchId"]
    assert newest["data"]["removed"] == [shop["kim"]]


def test_the_sheet_outlives_those_it_is_about(admin, shop):
    made = admin.ok("POST", PATH, body(admin))
    admin.ok("DELETE", f"/user-admin/{shop['kim']}")
    sheet = admin.ok("GET", f"{PATH}/{made['id']}")
    assert "kim" in [entry["username"] for entry in sheet["entries"]]


def test_everyone_must_be_decided_about(admin, shop):
    sent = body(admin)
    sent["entries"].pop()
    answer = admin.post(PATH, sent)
    assert answer.status_code == 400
    assert "Missing: kim." in answer.get_json()["message"]
    sent["entries"] += [{"id": shop["kim"], "decision": "keep"}, {"id": 99, "decision": "keep"}]
    assert "99 is not a member" in admin.post(PATH, sent).get_json()["message"]


def test_no_one_is_decided_about_twice(admin, shop):
    sent = body(admin)
    sent["entries"].append(sent["entries"][0])
    assert admin.post(PATH, sent).status_code == 400


def test_a_review_of_other_members_than_those_now_changes_nothing(admin, shop, people):
    sent = body(admin, kim="remove")
    people.join(people.person("late"), "shop")
    assert admin.post(PATH, sent).status_code == 409
    assert admin.ok("GET", PATH)["total"] == 0
    assert len(admin.ok("GET", "/projects/shop/access")["members"]) == 4


def test_a_project_keeps_an_owner(admin, shop):
    answer = admin.post(PATH, body(admin, admin="remove", grace="remove"))
    assert answer.status_code == 409
    assert "needs at least one Owner" in answer.get_json()["message"]
    assert admin.ok("GET", PATH)["total"] == 0


def test_a_role_of_a_group_is_not_taken_away_here(app, admin, shop, people, browser):
    directory = Directory(app, issue(app))
    grants = [{"id": "shop", "roleId": 5}]
    admin.ok("POST", "/groups", {"name": "devs", "projects": grants})
    directory.group("devs", directory.user("eve")["id"])
    answer = admin.post(PATH, body(admin, eve="remove"))
    assert answer.status_code == 409
    assert "eve is a Member through the group devs." in answer.get_json()["message"]
    page = browser.get(PAGE)
    assert "Through the group devs" in page.words
    assert "Only its group can remove it" in page.words
    answer = admin.delete(f"/projects/shop/access/{people.named('eve')}")
    assert answer.status_code == 409


def test_the_page_decides_one_by_one_or_for_all_who_are_left(browser, shop, admin):
    page = browser.get(PAGE)
    assert page.has("Not reviewed yet.")
    page = browser.submit(page, button="Sign off")
    assert page.status == 400
    assert page.errors == ["Decide about everyone. Missing: admin, grace and kim."]
    kim = f"decision-{shop['kim']}"
    page = browser.submit(page, {kim: "remove"}, button="Keep everyone who is left")
    assert page.fields()[kim] == "remove"
    assert page.fields()[f"decision-{shop['grace']}"] == "keep"
    page = browser.follow(browser.submit(page, {"comment": "Fine"}, button="Sign off"))
    assert page.messages == ["Signed off."]
    assert "2 roles kept, 1 removed" in page.words
    assert "Fine" in page.words
    page = browser.get("/projects/shop/members")
    assert "Last reviewed" in page.words
    page = browser.get(page.links["Review access…"])
    page = browser.get(page.links["Earlier reviews"])
    assert "Fine" in page.words


def test_choices_are_kept_if_the_members_changed_since(browser, shop, people):
    page = browser.get(PAGE)
    people.join(people.person("late"), "shop")
    kim = f"decision-{shop['kim']}"
    page = browser.submit(page, {kim: "remove"}, button="Sign off")
    assert page.status == 409
    assert "Nothing was saved." in page.messages[0]
    assert page.fields()[kim] == "remove"
    assert "late" in page.words


def test_signing_off_asks_for_the_password_again(app, browser, shop):
    page = browser.get(PAGE)
    page = browser.submit(page, button="Keep everyone who is left")
    let_time_pass(app)
    page = browser.submit(page, button="Sign off")
    assert page.status == 401
    assert "sign off the access review of Shop" in page.words


def test_the_sheet_is_a_file_too_and_no_cell_is_a_formula(browser, admin, people):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    people.join(people.person("=evil"), "shop")
    made = admin.ok("POST", PATH, body(admin))
    answer = browser.client.get(f"/projects/shop/access-reviews/{made['id']}?format=csv")
    first, *rows = csv.reader(io.StringIO(answer.text))
    assert {"username", "decision", "signedOffBy"} <= set(first)
    assert not any(cell.startswith("=") for row in rows for cell in row)


def test_only_those_who_manage_members_review(app, shop, people, editor):
    for name, status in (("grace", 200), ("kim", 403)):
        client = ApiClient(app, people.token(shop[name]))
        assert client.get(f"{PATH}/current").status_code == status
    assert editor.get(f"{PATH}/current").status_code == 403
    assert Browser(app).sign_in("kim").get(PAGE).status == 403


def test_the_home_page_reminds_of_reviews_that_are_due(app: Flask, browser, shop, admin):
    later = utcnow() + timedelta(days=91)
    line = "due for an access review"
    assert line not in browser.get("/").words
    with time_machine.travel(later, tick=False):
        grace = Browser(app).sign_in("grace")
        page = grace.get("/")
        assert f"1 project is {line}" in page.words
        assert line not in Browser(app).sign_in("kim").get("/").words
        admin.ok("POST", PATH, body(admin))
        assert line not in grace.get("/").words
