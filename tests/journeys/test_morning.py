"""A morning: what happened, what needs someone, and the way to it, with and without scripts."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.journeys.hand import Hand
from tests.journeys.instance import VIEWER, Instance
from tests.journeys.places import press

pytestmark = pytest.mark.one_in(2)


@pytest.fixture
def context(browser: Browser, instance: Instance, scripts: bool) -> Iterator[BrowserContext]:
    """A window of an Admin, which runs scripts or does not."""
    with instance.context(browser, java_script_enabled=scripts) as context:
        yield context


def test_a_favourite_is_on_home_and_its_news_are_counted_until_read(page: Page, instance: Instance):
    project = instance.project(1, name="Corner shop")
    [name] = [f["name"] for f in instance.api("GET", f"/projects/{project}/features")["features"]]
    page.goto(f"/projects/{project}/features/{name}")
    star = page.get_by_role("button", name=f"Favourite: {name}")
    expect(star).to_have_attribute("aria-pressed", "false")
    star.focus()
    page.keyboard.press("Enter")
    expect(star).to_have_attribute("aria-pressed", "true")
    page.get_by_role("link", name="Home", exact=True).click()
    favourites = page.get_by_role("region", name="Favourite features")
    expect(favourites.get_by_role("link", name=name)).to_be_visible()
    page.get_by_role("link", name="Notices").click()
    expect(page.get_by_role("heading", name="Notices", level=1)).to_be_visible()
    if page.get_by_role("button", name="Mark all as read").count():
        press(page, "Mark all as read")
    expect(page.get_by_role("region", name="Unread")).to_have_count(0)
    instance.api("POST", f"/projects/{project}/features/{name}/environments/development/on")
    page.reload()
    expect(page.get_by_role("link", name=re.compile(r"^Notices 1 unread$"))).to_be_visible()
    unread = page.get_by_role("region", name="Unread")
    expect(unread.get_by_role("listitem")).to_contain_text(f"switched feature {name} on")
    press(page, "Mark all as read")
    expect(page.get_by_role("status")).to_contain_text("All notices marked as read.")
    expect(page.get_by_role("region", name="Earlier")).to_contain_text(name)


def test_filters_are_saved_used_again_and_shared(
    browser: Browser, page: Page, instance: Instance, scripts: bool
):
    name = f"Permissions {instance.next_number()}"
    page.goto("/features")
    filters = page.get_by_role("navigation", name="Saved filters")
    saved = filters.get_by_role("link", name=name)
    hand = Hand(page)
    with hand.at_most(clicks=4 if scripts else 5, loads=2 if scripts else 3):
        hand.choose("Type", "permission")
        if not scripts:
            hand.button("Filter")
        hand.link("Save filters…")
        expect(page.get_by_label("Name", exact=True)).to_be_focused()
        hand.type(name)
        hand.button("Save filters")
        expect(saved).to_have_attribute("aria-current", "true")
    page.goto("/features?stale=true")
    with hand.at_most(clicks=1, loads=1):
        hand.click(saved)
        expect(page).to_have_url(re.compile(r"/features\?type=permission$"))
    filters.get_by_role("link", name="Edit…").click()
    row = page.get_by_role("row", name=name)
    address = row.get_by_role("code").inner_text()
    with instance.context(browser, VIEWER) as window:
        other = window.new_page()
        other.goto(address)
        expect(other).to_have_url(re.compile(r"/features\?type=permission$"))
    press(page, f"Delete {name}")
    expect(page.get_by_role("status")).to_contain_text(f"Saved filters {name} deleted.")


def test_columns_and_parts_of_home_are_hidden_and_shown_again(page: Page):
    for path, link, part in (
        ("/projects", "Columns…", "Mode"),
        ("/", "Choose what shows here", "Latest changes"),
    ):
        page.goto(path)
        for now in (0, 1):
            page.get_by_role("link", name=link).click()
            box = page.get_by_label(part, exact=True)
            box.focus()
            page.keyboard.press("Space")
            press(page, "Save")
            expect(page.get_by_role("status")).to_contain_text("Saved what you see here.")
            head = page.get_by_role("columnheader", name=part, exact=True)
            region = page.get_by_role("region", name=part)
            expect(head.or_(region)).to_have_count(now)


def test_the_health_of_a_project_leads_to_the_archive_preview(page: Page, instance: Instance):
    project = instance.project(3, name="Old shop")
    instance.age(project, 100)
    page.goto(f"/projects/{project}")
    page.get_by_role("link", name="Health").click()
    expect(page.get_by_text("0% of 3 features are in good health.")).to_be_visible()
    page.get_by_role("table").last.get_by_role("checkbox").nth(1).check()
    press(page, "Archive…")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Archive 1 feature")
