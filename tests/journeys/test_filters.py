"""Lists follow their filters while someone types, without a word lost or the focus moved."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.journeys.instance import CHECKOUT, Instance
from tests.journeys.usage import report

pytestmark = pytest.mark.one_in(2)

V2 = re.compile(r"\?text=v2$")


def open_list(page: Page, path: str = CHECKOUT) -> None:
    page.goto(path)
    page.get_by_role("searchbox").focus()


def rows(page: Page) -> int:
    return page.locator("main tbody tr").count()


def test_the_list_follows_what_is_typed(browser: Browser, instance: Instance):
    with instance.context(browser) as context:
        page = context.new_page()
        open_list(page)
        before = rows(page)
        page.keyboard.type("v2")
        expect(page).to_have_url(V2)
        expect(page.get_by_role("searchbox")).to_be_focused()
        expect(page.get_by_role("searchbox")).to_have_value("v2")
        assert 0 < rows(page) < before
        expect(page.locator("form.filters [data-found]")).to_have_text(
            re.compile(r"^\d+ features?$")
        )
        expect(page.get_by_role("button", name="Filter", exact=True)).to_be_hidden()


def test_the_list_follows_what_is_chosen_and_keeps_the_rest(browser: Browser, instance: Instance):
    with instance.context(browser) as context:
        page = context.new_page()
        open_list(page, f"{CHECKOUT}?text=v2&sort=-name")
        page.get_by_label("Type").focus()
        page.get_by_label("Type").select_option("release")
        expect(page).to_have_url(re.compile(r"\?sort=-name&text=v2&type=release$"))
        expect(page.get_by_label("Type")).to_be_focused()


def test_rows_of_the_new_list_can_be_selected(browser: Browser, instance: Instance):
    with instance.context(browser) as context:
        page = context.new_page()
        open_list(page)
        page.keyboard.type("v2")
        expect(page).to_have_url(V2)
        page.locator("[data-all] input").check()
        expect(page.locator("[data-count]")).to_have_text(f"{rows(page)} selected on this page")


def test_nothing_found_is_said_aloud(browser: Browser, instance: Instance):
    with instance.context(browser) as context:
        page = context.new_page()
        open_list(page)
        page.keyboard.type("nothing-like-it")
        expect(page.locator("form.filters [data-found]")).to_have_text("No feature matches")
        expect(page.get_by_role("link", name="All features")).to_be_visible()


def test_when_the_server_does_not_answer_the_list_stays(browser: Browser, instance: Instance):
    with instance.context(browser) as context:
        page = context.new_page()
        open_list(page)
        before = rows(page)
        context.set_offline(True)
        with page.expect_event("requestfailed"):
            page.keyboard.type("v2")
        assert rows(page) == before
        context.set_offline(False)
        page.keyboard.press("Enter")
        expect(page).to_have_url(V2)
        assert rows(page) < before


def test_someone_whose_session_has_ended_signs_in_and_comes_back(
    browser: Browser, instance: Instance
):
    with instance.context(browser) as context:
        page = context.new_page()
        open_list(page)
        context.clear_cookies()
        page.keyboard.type("v2")
        expect(page).to_have_url(re.compile(r"/sign-in\?next="))


def test_without_scripts_the_button_does_the_same(browser: Browser, instance: Instance):
    with instance.context(browser, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(CHECKOUT)
        page.get_by_role("searchbox").fill("v2")
        page.get_by_role("button", name="Filter", exact=True).click()
        expect(page).to_have_url(re.compile("text=v2"))


def test_usage_follows_its_period(browser: Browser, instance: Instance):
    with instance.context(browser) as context:
        page = context.new_page()
        page.goto(f"{CHECKOUT}/features/{report(instance)}/usage")
        page.get_by_label("Period").focus()
        page.get_by_label("Period").select_option("90 days")
        expect(page).to_have_url(re.compile(r"\?environment=production&period=90d$"))
        expect(page.get_by_role("heading", name="Checks per day in production")).to_be_visible()
        expect(page.get_by_label("Period")).to_be_focused()
        expect(page.get_by_label("Application")).to_have_value("")
        expect(page.locator("[data-found]")).to_have_text(re.compile("of checks said yes$"))


def test_the_values_of_a_chart_show_on_hover_and_by_keyboard(
    browser: Browser, instance: Instance, scripts: bool
):
    with instance.context(browser, java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto(f"{CHECKOUT}/features/{report(instance)}/usage")
        columns = page.get_by_role("group", name="Values by hour").locator("label")
        values = columns.locator("span")
        columns.nth(20).hover()
        expect(values.nth(20)).to_have_css("opacity", "1")
        expect(values.nth(20)).to_contain_text("On for ")
        columns.first.get_by_role("radio").focus()
        page.keyboard.press("ArrowRight")
        expect(values.nth(1)).to_have_css("opacity", "1")
        expect(values.first).to_have_css("opacity", "0")
