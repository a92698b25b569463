"""How much of a list is seen at once."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.journeys.instance import CHECKOUT, Instance
from tests.journeys.places import confirm, paste, press

WHOLE_ROWS = """() => [...document.querySelectorAll("main tbody tr")].filter((row) => {
  const { top, bottom } = row.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}).length"""


@pytest.mark.parametrize(
    ("width", "height", "least"), [(1280, 900, 12), (390, 844, 4), (1920, 1080, 17)]
)
def test_a_list_of_features_shows_many_rows_at_once(  # noqa: PLR0917 - a table of sizes
    browser: Browser, instance: Instance, scripts: bool, width: int, height: int, least: int
):
    options = {"viewport": {"width": width, "height": height}, "java_script_enabled": scripts}
    with instance.context(browser, **options) as context:
        page = context.new_page()
        page.goto(CHECKOUT)
        assert page.evaluate(WHOLE_ROWS) >= least
        expect(page.get_by_role("group", name="With the selected features")).to_be_hidden()


def test_a_wide_window_gives_the_list_its_width(browser: Browser, instance: Instance):
    with instance.context(browser, viewport={"width": 1920, "height": 1080}) as context:
        page = context.new_page()
        page.goto(CHECKOUT)
        assert page.locator("main table").bounding_box()["width"] > 1500


def test_the_bar_comes_with_the_first_selected_row(
    browser: Browser, instance: Instance, scripts: bool
):
    with instance.context(browser, java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto(CHECKOUT)
        bar = page.get_by_role("group", name="With the selected features")
        box = page.locator("tbody [type=checkbox]").first
        box.check()
        expect(bar).to_be_in_viewport()
        box.uncheck()
        expect(bar).to_be_hidden()


def test_less_used_filters_are_folded_on_a_phone(
    browser: Browser, instance: Instance, scripts: bool
):
    options = {"viewport": {"width": 390, "height": 844}, "java_script_enabled": scripts}
    with instance.context(browser, **options) as context:
        page = context.new_page()
        page.goto(CHECKOUT)
        filter = page.get_by_label("Without tag")
        expect(filter).to_be_hidden()
        page.get_by_label("More filters").check()
        expect(filter).to_be_visible()


def test_a_review_of_many_features_is_short_and_keeps_its_button_in_sight(
    page: Page, instance: Instance
):
    id = instance.project(60)
    page.set_viewport_size({"width": 1280, "height": 900})
    rows = instance.api("GET", f"/projects/{id}/features?limit=1000")["features"]
    for start, tag in ((0, "risk:low"), (20, "team:basket")):
        instance.tag(id, tag, *(row["name"] for row in rows[start : start + 20]))
    paste(page, [row["name"] for row in rows], "Edit tags", f"/projects/{id}")
    page.get_by_label("Value").fill("night-only")
    press(page, "Review")
    expect(page.locator("main .bar .button--primary")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollHeight") < 1800
    confirm(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Tags of 60 features changed")


def test_the_event_log_begins_with_events(page: Page, instance: Instance):
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto("/events")
    assert page.locator("article.event").first.bounding_box()["y"] < 280
    expect(page.get_by_role("img", name="Changes and sign-ins a day")).to_be_hidden()
    page.get_by_text("The last 26 weeks").click()
    expect(page.get_by_role("img", name="Changes and sign-ins a day")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 768, 390])
def test_a_date_field_shows_a_whole_date(page: Page, instance: Instance, width: int):
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/events?from=2026-11-14")
    if width < 1088:
        page.get_by_label("More filters").check()
    for name in ("From", "To"):
        field = page.get_by_label(name, exact=True)
        given = field.bounding_box()["width"]
        field.evaluate("one => { one.style.width = 'max-content' }")
        assert given >= field.bounding_box()["width"], name


def test_the_menu_fits_a_small_window_with_any_group_open(
    browser: Browser, instance: Instance, scripts: bool
):
    options = {"viewport": {"width": 1280, "height": 720}, "java_script_enabled": scripts}
    with instance.context(browser, **options) as context:
        page = context.new_page()
        page.goto(CHECKOUT)
        menu = page.get_by_role("navigation", name="Main")
        for group in ("Targeting", "Applications", "People", "Audit", "Instance"):
            menu.get_by_text(group, exact=True).first.click()
            expect(menu.locator("details[open]")).to_have_count(1)
            expect(page.get_by_role("button", name="Sign out")).to_be_in_viewport()
            expect(page.get_by_role("link", name="Help", exact=True)).to_be_in_viewport()
