"""Proposing a change where it needs approvals, from the page of the feature to its draft."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.journeys.instance import Instance, names

pytestmark = pytest.mark.one_in(2)


def _guarded(instance: Instance) -> tuple[str, str]:
    """The path of a feature, and its name; its production needs an approval."""
    rules = [{"name": "production", "requiredApprovals": 1}]
    project = instance.project(
        1, environments=["development", "production"], changeRequestEnvironments=rules
    )
    [name] = names(1, project)
    return f"/projects/{project}/features/{name}", name


def _is_on(instance: Instance, path: str) -> bool:
    states = instance.api("GET", path)["environments"]
    return any(state["enabled"] for state in states if state["name"] == "production")


def test_switching_on_is_proposed_by_keyboard(browser: Browser, instance: Instance):
    path, name = _guarded(instance)
    with instance.context(browser) as context:
        page = context.new_page()
        page.goto(path)
        button = page.get_by_role("button", name="Propose switching on… in production")
        _tab_to(page, "Propose switching on…")
        expect(button).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_contain_text(f"Switch on {name}")
        page.goto(path)
        expect(page.get_by_text("1 change in your draft: on for everyone.")).to_be_visible()
        expect(button).to_have_count(0)
    assert not _is_on(instance, path)


def test_what_is_off_is_prepared_and_switching_it_on_is_proposed_without_scripts(
    browser: Browser, instance: Instance
):
    path, _ = _guarded(instance)
    with instance.context(browser, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(path)
        page.get_by_role("link", name="Add strategy in production").click()
        page.get_by_label("Rollout in percent").fill("30")
        page.get_by_role("button", name="Check without saving").click()
        expect(page.locator("#says")).to_contain_text("When on: 30% of users")
        page.get_by_role("button", name="Add strategy").click()
        expect(page.get_by_text("Strategy added in production.")).to_be_visible()
        page.get_by_role("button", name="Propose switching on… in production").click()
        expect(page.get_by_role("region", name="What applications get")).to_contain_text(
            "On for 30% of users, by userId or sessionId"
        )
        page.goto(path)
        outcome = "1 change in your draft: on for 30% of users, by userId or sessionId."
        expect(page.get_by_text(outcome)).to_be_visible()
    assert not _is_on(instance, path)


def _tab_to(page: Page, text: str) -> None:
    """Press Tab until the button with this text has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if text in page.evaluate("document.activeElement.textContent"):
            return
    raise AssertionError(f"Tab does not lead to {text}")
