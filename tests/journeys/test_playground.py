"""Asking who gets what, in a real browser."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.journeys.instance import Instance
from tests.journeys.places import press

pytestmark = pytest.mark.one_in(2)


def shop(instance: Instance) -> str:
    """A project with a feature that is on for a third of the people."""
    id = instance.project(2)
    [first, *_] = instance.api("GET", f"/projects/{id}/features")["features"]
    place = f"/projects/{id}/features/{first['name']}/environments/production"
    strategy = {"name": "flexibleRollout", "parameters": {"rollout": "33", "stickiness": "userId"}}
    instance.api("POST", f"{place}/strategies", strategy)
    instance.api("POST", f"{place}/on")
    return id


def ask(page: Page, id: str, user: str) -> None:
    page.goto("/playground")
    page.get_by_label("userId").fill(user)
    page.get_by_label("Project").select_option(id)
    press(page, "Try it")


def test_the_answer_has_an_address_that_others_can_open(page: Page, instance: Instance):
    id = shop(instance)
    ask(page, id, "42")
    verdict = page.locator(".verdict")
    expect(verdict).to_have_text(re.compile("User 42 gets [01] of 2 features of .* in production"))
    said, address = verdict.inner_text(), page.url
    assert "context.userId=42" in address
    page.goto("/projects")
    page.goto(address)
    expect(verdict).to_have_text(said)


def test_a_row_unfolds_into_its_reasons_by_keyboard(page: Page, instance: Instance):
    ask(page, shop(instance), "42")
    row = page.locator(".matrix__row").first
    expect(row.locator(".reasons").first).to_be_hidden()
    row.locator("summary").press("Enter")
    expect(row.get_by_text(re.compile(r"falls at \d+ of 100")).first).to_be_visible()


def test_without_scripts_the_same_is_answered(browser: Browser, instance: Instance):
    id = shop(instance)
    with instance.context(browser, java_script_enabled=False) as context:
        page = context.new_page()
        ask(page, id, "42,43")
        expect(page.locator(".verdict")).to_contain_text("for at least one of 2 people")
        expect(page.get_by_role("button", name="Copy link")).to_have_count(0)
        page.get_by_role("link", name="Compare with another person").click()
        page.get_by_label("userId").nth(1).fill("2")
        press(page, "Compare")
        expect(page.locator(".verdict")).to_contain_text("between user 42,43 and user 2")


def test_what_is_asked_without_a_link_is_in_no_address(page: Page, instance: Instance):
    shop(instance)
    page.goto("/playground")
    page.get_by_label("userId").fill("someone@example.org")
    press(page, "Keep it private")
    expect(page.locator(".verdict")).to_contain_text("User someone@example.org")
    assert "example.org" not in page.url


def test_people_beside_a_strategy_follow_what_is_typed(page: Page, instance: Instance):
    id = instance.project(1)
    [feature] = instance.api("GET", f"/projects/{id}/features")["features"]
    page.goto(f"/projects/{id}/features/{feature['name']}/environments/production/strategies/new")
    people = page.locator("[data-samples] li")
    expect(people).to_have_count(1)
    page.get_by_label("Rollout in percent").fill("40")
    expect(people).to_have_count(2)
    expect(people.last).to_contain_text("the rollout stops at 40%")
