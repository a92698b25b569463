"""Deleting inactive users, and a service account's token from its first use to its end."""

import csv
import json
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.journeys.instance import Instance, furnished, names
from tests.journeys.places import choose_people, press
from tests.support.processes import FLAGSTAFF, running

pytestmark = pytest.mark.one_in(2)

INACTIVE = 12
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@pytest.fixture
def larkspur(home: Path, demo_home: Path) -> Iterator[Instance]:
    """The demo's organisation, unchanged."""
    with furnished(home, demo_home) as instance:
        yield instance


def test_seven_of_the_inactive_go_and_who_came_back_stays(
    browser: Browser, larkspur: Instance, scripts: bool
):
    found = larkspur.api("GET", "/user-admin/inactive")["inactiveUsers"]
    assert len(found) == INACTIVE
    names = [person["name"] for person in found[:7]]
    returner = found[3]
    with larkspur.context(browser, java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto("/users")
        page.get_by_role("link", name="Inactive 12").click()
        expect(page.locator(".verdict")).to_contain_text(f"{INACTIVE} of ")
        choose_people(page, *names)
        if scripts:
            expect(page.locator("[data-count]")).to_contain_text("7")
        press(page, "Delete…")
        expect(_heading(page)).to_have_text("Delete 7 users")
        for name in names:
            expect(page.get_by_role("rowheader").filter(has_text=name)).to_be_visible()
        page.get_by_text("Add a reason").click()
        page.get_by_label("Reason").fill("left long ago")
        with larkspur.context(browser, returner["username"]):
            pass  # signed in for real, while the review is open
        press(page, "Delete 7 users")
        expect(_heading(page)).to_have_text("6 users deleted")
        left_alone = page.get_by_role("table", name="1 skipped, and why")
        expect(left_alone).to_contain_text(returner["name"])
        expect(left_alone).to_contain_text("Active since your review")
        page.locator("main form .button").first.click()
        expect(page.get_by_role("status")).to_contain_text("restored. Their roles are back")
    people = larkspur.api("GET", "/user-admin?limit=1000")["users"]
    there = {person["id"] for person in people}
    assert returner["id"] in there
    chosen = {person["id"] for person in found[:7]}
    assert len(chosen & there) == 2
    assert {person["id"] for person in found[7:]} <= there
    events = larkspur.api("GET", "/events?type=inactive-users-deleted")["events"]
    assert [event["reason"] for event in events] == ["left long ago"]


def test_a_service_account_gets_a_token_then_another_and_then_none(
    browser: Browser, instance: Instance, scripts: bool
):
    with instance.context(browser, java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto("/service-accounts")
        page.get_by_role("link", name="New service account").click()
        page.get_by_label("Name (optional)", exact=True).fill("Night deploys")
        page.get_by_role("radio", name="Editor").check()
        page.get_by_label("First token").fill("pipeline")
        press(page, "Create service account")
        old = _secret(page)
        assert _called(instance.address, old) == "Night deploys"
        page.get_by_role("link", name="Done").click()
        expect(page.get_by_text(old)).to_have_count(0)
        page.get_by_role("link", name="Rotate… pipeline").click()
        press(page, "Rotate token")
        new = _secret(page)
        assert new != old
        assert (_called(instance.address, old), _called(instance.address, new)) == (
            "Night deploys",
        ) * 2
        page.get_by_role("link", name="Done").click()
        page.get_by_role("link", name="Revoke… pipeline", exact=True).click()
        with running(FLAGSTAFF, "/ready", HOME=str(instance.home)) as other:
            there = f"http://127.0.0.1:{other.port}"
            assert _called(there, new) == "Night deploys"
            press(page, "Revoke token")
            expect(page.get_by_role("status")).to_contain_text("revoked. It no longer works.")
            assert _called(there, new) == HTTPStatus.UNAUTHORIZED
            assert _called(instance.address, new) == HTTPStatus.UNAUTHORIZED
        assert _called(instance.address, old) == "Night deploys"
        page.goto("/service-accounts/find-token")
        page.get_by_label("The token you found").fill(new)
        press(page, "Check token")
        expect(page.locator("main").get_by_role("status")).to_contain_text("It was revoked")


def test_a_member_asks_for_their_permissions(browser: Browser, instance: Instance, scripts: bool):
    id = instance.project(1, mode="protected")
    member = instance.api("POST", "/user-admin", {"username": f"member-of-{id}", "rootRole": 3})
    access = {"members": [{"id": member["id"], "roleId": 5}]}
    owners = instance.api("GET", f"/projects/{id}/access")["members"]
    kept = [{"id": owner["id"], "roleId": owner["roleId"]} for owner in owners]
    instance.api("PUT", f"/projects/{id}/access", {"members": kept + access["members"]})
    with instance.context(browser, member["username"], java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto("/account/permissions")
        for action, answer in (
            ("Change features and their tags", f"Member of {id}, given by "),
            ("Add and remove members", "Needs PROJECT_USER_ACCESS_WRITE in Night shop."),
        ):
            page.get_by_label("Action").select_option(label=action)
            page.get_by_label("Project").select_option(value=id)
            press(page, "Check")
            expect(page.locator("main").get_by_role("status")).to_contain_text(answer)
        status = page.locator("main").get_by_role("status")
        expect(status).to_contain_text("or an Admin can give it to you.")
        page.goto(f"/projects/{id}/members")
        expect(page.locator(".why")).to_contain_text("Ask Tomás Herrera to make you")


def test_the_log_is_narrowed_and_kept_as_a_file_without_a_formula(
    browser: Browser, instance: Instance, scripts: bool
):
    id = instance.project(2)
    first, second = names(2, id)
    for feature in (first, second):
        path = f"/projects/{id}/features/{feature}"
        instance.api("PUT", path, {"name": feature, "description": "=HYPERLINK(1)"})
    with instance.context(browser, java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto("/events")
        page.get_by_label("What").select_option(label="Feature updated")
        page.get_by_label("Project", exact=True).fill(id)
        if not scripts:  # the list follows what is typed
            press(page, "Filter")
        expect(page.locator(".event")).to_have_count(2)
        with page.expect_download() as downloading:
            page.get_by_role("link", name="as CSV").click()
        file = downloading.value
        assert file.suggested_filename == "events.csv"
        with Path(file.path()).open(encoding="utf-8-sig", newline="") as text:
            rows = list(csv.DictReader(text))
    assert [row["featureName"] for row in rows] == [second, first]
    cells = [cell for row in rows for cell in row.values()]
    assert [cell for cell in cells if cell.lstrip().startswith(FORMULA_STARTS)] == []


def _heading(page: Page) -> Locator:
    return page.get_by_role("heading", level=1)


def _secret(page: Page) -> str:
    expect(_heading(page)).to_contain_text("New token of")
    return page.locator(".secret__value code").inner_text()


def _called(address: str, secret: str) -> str | int:
    """What the API there calls the holder of the token, or the status that it refuses with."""
    request = Request(f"{address}/api/admin/user", headers={"Authorization": secret})
    try:
        with urlopen(request, timeout=30) as answer:
            return json.load(answer)["user"]["name"]
    except HTTPError as error:
        return error.code
