"""Work on people and on your own account, by the clicks and page loads that it takes."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.journeys.hand import Hand
from tests.journeys.instance import PASSWORD, Instance
from tests.journeys.places import code_of, press

pytestmark = pytest.mark.one_in(2)
NEW = "five more words that are hard to guess"


def test_the_inactive_are_deactivated_and_that_is_undone(page: Page, instance: Instance):
    away = instance.absent(3, days=2_000)  # so they are the first of the list
    page.goto("/")
    hand = Hand(page)
    with hand.at_most(clicks=5, loads=2):
        hand.click(page.get_by_role("link", name=re.compile("users have been inactive")))
        hand.pick(*(f"Select {name}" for name in away))
        hand.button("Deactivate")
        expect(page.get_by_role("status")).to_contain_text("3 people deactivated")
    assert still_let_in(instance, away) == []
    with hand.at_most(clicks=1, loads=0):
        hand.button("Undo deactivating 3 people")
        expect(page.get_by_role("status")).to_contain_text("Undone.")
    assert still_let_in(instance, away) == away


def test_someone_sets_up_their_password_second_step_token_and_display(
    browser: Browser, instance: Instance
):
    username = f"newcomer-{instance.next_number()}"
    instance.api("POST", "/user-admin", {"username": username, "rootRole": 2})
    with instance.context(browser, username) as window:
        page = window.new_page()
        hand = Hand(page)
        page.goto("/account")
        with hand.at_most(clicks=5, loads=3):
            hand.link("Security")
            hand.link("Change password")
            hand.fill("Current password", PASSWORD)
            hand.fill("New password", NEW)
            hand.button("Change password")
            expect(page.get_by_role("status")).to_contain_text("Password changed")
        page.goto("/account")
        with hand.at_most(clicks=5, loads=4):
            hand.link("Security")
            hand.link("Set up two-step sign-in")
            hand.button("Set up two-step sign-in")
            hand.fill("Code", code_of(page))
            hand.button("Turn on")
            expect(page.get_by_role("heading", level=1)).to_have_text("Recovery codes")
        page.goto("/account")
        with hand.at_most(clicks=3, loads=2):
            hand.link("New token")
            hand.fill("Description", "laptop")
            hand.button("Create token")
            token = page.locator(".secret code").inner_text()
        headers = {"Authorization": token}
        answer = page.request.get(f"{instance.address}/api/admin/user", headers=headers)
        assert answer.json()["user"]["username"] == username
        page.goto("/account")
        with hand.at_most(clicks=2, loads=1):
            hand.pick("Dark")
            hand.button("Use in this browser")
            expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        page.context.clear_cookies()
        page.goto("/sign-in")
        page.get_by_label("User name or e-mail").fill(username)
        page.get_by_label("Password", exact=True).fill(NEW)
        press(page, "Sign in")
        expect(page.get_by_role("heading", level=1)).to_have_text("Enter your code")


def test_someone_who_needs_no_access_loses_it_in_a_review(page: Page, instance: Instance):
    project = instance.project()
    access = f"/projects/{project}/access"
    kept = [
        {"id": one["id"], "roleId": one["roleId"]} for one in instance.api("GET", access)["members"]
    ]
    person = {"username": f"was-in-{project}", "name": "Xi Lu", "rootRole": 3}
    left = {"id": instance.api("POST", "/user-admin", person)["id"], "roleId": 5}
    instance.api("PUT", access, {"members": [*kept, left]})
    page.goto(f"/projects/{project}/members")
    hand = Hand(page)
    with hand.at_most(clicks=4, loads=2):
        hand.link("Review access…")
        hand.click(page.get_by_role("group", name="Xi Lu").get_by_label("Remove"))
        hand.button("Keep everyone who is left")
        expect(page.get_by_role("group", name="Tomás Herrera").get_by_label("Keep")).to_be_checked()
        hand.button("Sign off")
        expect(page.get_by_role("status")).to_contain_text("Signed off.")
        expect(page.get_by_role("row", name="Xi Lu")).to_contain_text("Removed")
    assert [one["id"] for one in instance.api("GET", access)["members"]] == [kept[0]["id"]]


def test_a_group_gives_a_role_in_a_project(page: Page, instance: Instance):
    project = instance.project()
    name = f"buyers-{project}"
    page.goto("/")
    hand = Hand(page)
    with hand.at_most(clicks=9, loads=3):
        hand.menu("People", "Groups")
        hand.link("New group")
        hand.fill("Name", name)
        hand.choose("Also in the project", project)
        hand.choose("Role there", "Owner")
        hand.button("Create group")
        expect(page.get_by_role("status")).to_contain_text(name)
    [made] = [one for one in instance.api("GET", "/groups")["groups"] if one["name"] == name]
    assert made["projects"] == [{"id": project, "roleId": 4}]


def still_let_in(instance: Instance, usernames: list[str]) -> list[str]:
    people = instance.api("GET", "/user-admin?limit=1000")["users"]
    let_in = {one["username"] for one in people if not one.get("deactivatedAt")}
    return [name for name in usernames if name in let_in]
