"""Search over any page, by keyboard; and the same without scripts."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.journeys.instance import CHECKOUT, VIEWER, Instance
from tests.journeys.places import reload_until

pytestmark = pytest.mark.one_in(2)

INPUT = "Search for anything"


@pytest.fixture
def palette(page: Page) -> Page:
    """The list of features of Checkout with search open over it."""
    page.goto(CHECKOUT)
    page.get_by_label("Name or description").focus()
    page.keyboard.press("Control+k")
    expect(page.get_by_label(INPUT)).to_be_focused()
    return page


def selected(page: Page) -> str | None:
    """The option that the input says is the active one, which is also the one that is marked."""
    id = page.get_by_label(INPUT).get_attribute("aria-activedescendant")
    marked = page.locator("#palette [aria-selected=true]")
    if id is None:
        expect(marked).to_have_count(0)
        return None
    expect(marked).to_have_id(id)
    return marked.locator("span").first.inner_text()


def visit_link(page: Page, name: str) -> Locator:
    """The link to what a person visited, which is written a little later than they did."""
    return page.get_by_role("region", name="Recently visited").get_by_role("link", name=name)


def ask(page: Page, text: str, words: str | re.Pattern[str]) -> None:
    page.get_by_label(INPUT).fill(text)
    expect(page.locator("#palette [role=status]")).to_have_text(words)


def test_it_opens_over_any_page_and_gives_the_focus_back(palette: Page):
    expect(palette.get_by_role("dialog", name="Search")).to_be_visible()
    palette.keyboard.press("Escape")
    expect(palette.get_by_role("dialog")).to_have_count(0)
    expect(palette.get_by_label("Name or description")).to_be_focused()
    palette.get_by_role("link", name="Search").click()
    expect(palette.get_by_label(INPUT)).to_be_focused()
    palette.get_by_role("button", name="Close").click()
    expect(palette.get_by_role("link", name="Search")).to_be_focused()


def test_the_page_behind_is_out_of_reach(palette: Page):
    for _ in range(8):
        palette.keyboard.press("Tab")
        assert palette.locator("main :focus, .side :focus").count() == 0


def test_before_anyone_types_it_has_what_was_seen_last_and_actions(page: Page, instance: Instance):
    project = instance.project(1, name="Just seen")  # others have been seen by each process
    page.goto(f"/projects/{project}")
    page.goto("/search")
    reload_until(page, visit_link(page, "Just seen"))
    page.keyboard.press("Control+k")
    expect(page.get_by_role("group", name="Actions")).to_be_visible()
    visited = page.get_by_role("group", name="Recently visited")
    expect(visited.get_by_role("option").first).to_contain_text("Just seen")


def test_arrows_choose_and_enter_opens(palette: Page):
    ask(palette, "checkout.basket", re.compile(r"\d+ results"))
    expect(palette.locator("#palette .hit").first).to_contain_text("checkout.basket")
    first = selected(palette)
    palette.keyboard.press("ArrowDown")
    second = selected(palette)
    assert first != second
    palette.keyboard.press("ArrowUp")
    assert selected(palette) == first
    palette.keyboard.press("ArrowUp")
    assert selected(palette) not in {first, second}
    palette.keyboard.press("ArrowDown")
    assert selected(palette) == first
    palette.keyboard.press("Enter")
    expect(palette.get_by_role("heading", level=1)).to_have_text(str(first))


def test_home_and_end_stay_with_the_text(palette: Page):
    ask(palette, "checkout.basket", re.compile(r"\d+ results"))
    first = selected(palette)
    palette.keyboard.press("Home")
    palette.keyboard.type("x")
    expect(palette.get_by_label(INPUT)).to_have_value("xcheckout.basket")
    palette.keyboard.press("Backspace")
    expect(palette.get_by_label(INPUT)).to_have_value("checkout.basket")
    expect(palette.locator("#palette .hit").first).to_contain_text(str(first))


def test_enter_with_control_opens_a_new_tab(palette: Page):
    ask(palette, "checkout.basket.off", "1 result")
    with palette.context.expect_page() as opened:
        palette.keyboard.press("Control+Enter")
    expect(opened.value.get_by_role("heading", level=1)).to_have_text("checkout.basket.off")
    expect(palette.get_by_label(INPUT)).to_be_focused()


def test_enter_before_there_are_results_opens_the_page_of_the_search(palette: Page):
    palette.route("**/search/hits*", lambda route: route.abort())
    palette.get_by_label(INPUT).fill("checkout.basket.off")
    palette.keyboard.press("Enter")
    palette.wait_for_url("**/search?q=checkout.basket.off")
    expect(palette.get_by_role("heading", name="1 result")).to_be_visible()


def test_what_may_have_been_meant_is_one_key_away(palette: Page):
    ask(palette, "chekcuot", "Nothing matches. Did you mean checkout?")
    palette.keyboard.press("Enter")
    expect(palette.get_by_label(INPUT)).to_have_value("checkout")
    expect(palette.locator("#palette [role=status]")).to_have_text(re.compile(r"\d+ results"))
    ask(palette, "qqqqqqq", "Nothing matches")
    expect(palette.locator("#palette [role=status]")).to_be_visible()
    expect(palette.get_by_role("listbox")).to_have_count(0)


def test_only_the_last_answer_is_shown(palette: Page):
    ask(palette, "checkout", re.compile("results"))
    field = palette.get_by_label(INPUT)
    for text in ("p", "pa", "pay"):
        field.fill(text)
    expect(palette.locator("#palette .hit").first).to_contain_text("pay")
    field.fill("")
    expect(palette.get_by_role("group", name="Actions")).to_be_visible()
    assert selected(palette) is None


def test_without_scripts_the_same_is_found_on_the_page(browser: Browser, instance: Instance):
    with instance.context(browser, VIEWER, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(CHECKOUT)
        page.get_by_role("link", name="Search").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Search")
        reload_until(page, visit_link(page, "Checkout"))
        page.get_by_role("searchbox", name="Search for").fill("checkout.basket.off")
        page.keyboard.press("Enter")
        page.get_by_role("link", name="checkout.basket.off").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("checkout.basket.off")
