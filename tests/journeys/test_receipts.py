"""After a switch: seeing whether it has arrived."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.journeys.instance import Instance, names
from tests.journeys.places import press
from tests.journeys.usage import Polling, project_of_its_own
from tests.journeys.written import await_written

pytestmark = pytest.mark.one_in(2)

WRITTEN = 20_000
"""Milliseconds within which the page certainly knows of a poll."""


@pytest.fixture
def project(instance: Instance) -> str:
    return project_of_its_own(instance)


def test_the_page_of_a_feature_follows_a_change_until_it_has_arrived(
    page: Page, instance: Instance, project: str
):
    [name] = names(1, project)
    process = Polling(instance, project)
    page.goto(f"/projects/{project}/features/{name}")
    panel = page.locator("#arrived")
    page.get_by_role("switch").click()
    expect(panel).to_contain_text("0 of 1 instance confirmed. 1 has yet to ask.")
    process.poll()
    expect(panel).to_contain_text("1 was sent the change.", timeout=WRITTEN)
    process.poll()
    expect(panel).to_contain_text("Everywhere: 1 of 1 instance", timeout=WRITTEN)


def test_an_instance_that_is_silent_is_found_and_dealt_with_without_scripts(
    browser: Browser, instance: Instance, project: str
):
    [name] = names(1, project)
    Polling(instance, project, interval=1)
    with instance.context(browser, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"/projects/{project}/features/{name}")
        page.get_by_role("switch").click()
        panel = page.locator("#arrived")
        expect(panel).to_contain_text("0 of 1 instance confirmed")
        refresh = panel.get_by_role("link", name="Refresh")
        await_written(lambda: "hasn’t been heard from" in panel.inner_text(), refresh.click)
        panel.get_by_role("link", name="By application").click()
        expect(page.get_by_text("1 instance may still have the old state")).to_be_visible()
        press(page, "Notify me when one asks again")
        expect(page.get_by_text("You get a notice when one asks again.")).to_be_visible()
        press(page, "Mark 1 as ended")
        expect(page.get_by_text("1 instance marked as ended.")).to_be_visible()
        expect(page.locator("#arrived")).to_contain_text("No instance that reads this is running.")
