"""What JavaScript makes quicker: each convenience of it, once."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from tests.journeys.instance import PASSWORD, Instance
from tests.journeys.places import choose, picker, press

pytestmark = pytest.mark.one_in(2)


def test_rows_are_chosen_all_at_once_and_by_stretches(page: Page, instance: Instance):
    id = instance.project(60)
    page.goto(f"/projects/{id}")
    count = page.locator("[data-count]")
    boxes = page.locator("tbody [type=checkbox]")
    expect(boxes).to_have_count(50)
    bar = page.get_by_role("group", name="With the selected features")
    expect(bar).to_be_hidden()
    all_of_page = page.get_by_label("Select the 50 on this page")
    all_of_page.check()
    expect(count).to_have_text("50 selected on this page")
    boxes.nth(3).uncheck()
    expect(count).to_have_text("49 selected on this page")
    assert all_of_page.evaluate("box => box.indeterminate")
    all_of_page.check()
    all_of_page.uncheck()
    expect(bar).to_be_hidden()
    boxes.nth(2).click()
    boxes.nth(8).click(modifiers=["Shift"])
    expect(count).to_have_text("7 selected on this page")
    page.get_by_role("link", name="Select all 60 that match").click()
    expect(count).to_have_text("All 60 that match are selected")
    press(page, "Edit tags")
    expect(page.get_by_role("heading", level=1)).to_have_text("Edit tags of 60 features")


def test_times_are_in_the_time_zone_of_the_browser(browser: Browser, instance: Instance):
    [who] = instance.absent(1)
    with instance.context(browser, None, timezone_id="Asia/Tokyo") as context:
        page = context.new_page()
        page.goto(instance.link(who))
        page.get_by_label("New password").fill(PASSWORD)
        with page.expect_response("**/account/time-zone"):
            press(page, "Set password")
        page.goto("/account")
        expect(page.get_by_text("Times are shown in the time of Tokyo (UTC+9).")).to_be_visible()


def test_leaving_one_out_of_all_that_match_leaves_the_other_pages_alone(
    page: Page, instance: Instance
):
    id = instance.project(60)
    page.goto(f"/projects/{id}?all=1")
    page.locator("tbody [type=checkbox]").nth(5).uncheck()
    expect(page.locator("[data-count]")).to_have_text("49 selected on this page")
    press(page, "Edit tags")
    expect(page.get_by_role("heading", level=1)).to_have_text("Edit tags of 49 features")


def test_tags_are_filtered_while_one_types(page: Page, instance: Instance):
    picker(page, instance)
    field = page.get_by_label("Find a tag")
    field.press_sequentially("team ba")
    expect(page.locator("#tags tbody tr:visible th[scope=row]")).to_have_text(["team:basket"])
    expect(page.get_by_text("1 shown")).to_be_visible()
    field.fill("")
    expect(page.locator("#tags tbody tr[data-text]:visible")).not_to_have_count(1)


def test_what_is_typed_can_be_created_unless_it_exists(page: Page, instance: Instance):
    picker(page, instance)
    field, create = page.get_by_label("Find a tag"), page.locator("[data-create]")
    expect(create).to_be_hidden()
    field.fill("team:winter")
    expect(create).to_have_text("Create “team:winter”")
    field.fill("winter")
    expect(create).to_have_text("Create “simple:winter”")
    field.fill("risk:low")
    expect(create).to_be_hidden()
    field.fill("simple:winter")
    create.click()
    expect(page.locator("#tags tbody").first).to_contain_text("simple:winter")
    expect(page.locator("[data-changes]")).to_have_text("1 tag to change")


def test_enter_filters_and_adds_but_never_reviews(page: Page, instance: Instance):
    picker(page, instance)
    heading = page.get_by_role("heading", level=1)
    page.get_by_label("Find a tag").fill("team:ba")
    page.keyboard.press("Enter")
    expect(heading).to_have_text("Edit tags of 12 features")
    expect(page.get_by_label("Find a tag")).to_have_value("team:ba")
    page.get_by_label("Value").fill("winter")
    page.keyboard.press("Enter")
    expect(heading).to_have_text("Edit tags of 12 features")
    expect(page.locator("[data-changes]")).to_have_text("1 tag to change")


def test_a_tag_has_one_control(page: Page, instance: Instance):
    picker(page, instance)
    row = page.locator("#tags tr[data-text]").first
    expect(row.get_by_role("checkbox")).to_have_count(1)
    expect(row.get_by_role("radio")).to_have_count(0)


def test_what_a_filter_hides_counts_too(page: Page, instance: Instance):
    picker(page, instance)
    page.goto(f"{page.url}&add=risk:low&remove=team:basket&type=risk")
    expect(page.locator("[data-changes]")).to_have_text("2 tags to change")
    choose(page, "risk:high", "Add to all")
    expect(page.locator("[data-changes]")).to_have_text("3 tags to change")


def test_the_copy_button_copies(context: BrowserContext, instance: Instance):
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto("/projects")
    page.get_by_text("API equivalent").click()
    page.get_by_role("button", name="Copy").first.click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("curl")


def test_a_password_is_shown_and_not_sent_so(browser: Browser, instance: Instance):
    with instance.context(browser, None) as context:
        page = context.new_page()
        page.goto("/sign-in")
        field = page.get_by_label("Password", exact=True)
        field.fill("not the right one")
        press(page, "Show")
        expect(field).to_have_attribute("type", "text")
        expect(page.get_by_role("button", name="Hide")).to_have_attribute("aria-pressed", "true")
        press(page, "Hide")
        expect(field).to_have_attribute("type", "password")


def test_an_id_is_suggested_until_one_types_it(page: Page):
    page.goto("/new-project")
    name, id = page.get_by_label("Name"), page.get_by_label("Project id")
    name.press_sequentially("Night & Day  Shop")
    expect(id).to_have_value("night-day-shop")
    id.fill("no id")
    expect(id).to_have_attribute("aria-invalid", "true")
    id.fill("nds")
    expect(id).to_have_attribute("aria-invalid", "false")
    name.fill("Something else")
    expect(id).to_have_value("nds")


def test_what_one_types_before_the_scripts_arrive_counts(page: Page, instance: Instance):
    with held_back(page, "**/js/suggest_id.js*"):
        page.goto("/new-project", wait_until="commit")
        page.get_by_label("Name").fill("Night shop")
    expect(page.get_by_label("Project id")).to_have_value("night-shop")
    picker(page, instance)
    with held_back(page, "**/js/filter.js*"):
        page.reload(wait_until="commit")
        page.get_by_label("Find a tag").fill("team ba")
    expect(page.locator("#tags tbody tr:visible th[scope=row]")).to_have_text(["team:basket"])


def test_the_slash_is_a_letter_where_one_types(page: Page, instance: Instance):
    page.goto(f"/projects/{instance.project(1)}/new-feature")
    page.get_by_label("Name").press_sequentially("a/b")
    expect(page.get_by_label("Name")).to_have_value("a/b")
    page.goto("/projects")
    page.keyboard.press("/")
    expect(page.get_by_label("Name or id")).to_be_focused()


@contextmanager
def held_back(page: Page, script: str) -> Iterator[None]:
    """The script arrives only after the block, in which the page must ask for it."""
    asked: list[Route] = []
    is_over = False

    def hold_back(route: Route) -> None:
        if is_over:
            route.continue_()
        else:
            asked.append(route)

    page.route(script, hold_back)
    with page.expect_request(script):
        yield
    is_over = True
    for route in asked:
        route.continue_()


def test_a_request_of_the_api_page_changes_something_only_without_dry_run(
    page: Page, instance: Instance
):
    instance.let_password_be_given(datetime.now(UTC))
    page.goto("/api/try#/tags/tagsCreateType")
    page.get_by_label("Body").fill('{"name": "tried"}')
    for is_dry, status in ((True, 404), (False, 200)):
        page.get_by_label("Dry run").set_checked(is_dry)
        with page.expect_response("**/api/admin/tag-types") as answered:
            page.get_by_role("button", name="Execute").click()
        assert answered.value.status == 201
        assert ("x-dry-run" in answered.value.headers) is is_dry
        assert page.request.get("/tags/types/tried").status == status
    instance.api("DELETE", "/tag-types/tried")
