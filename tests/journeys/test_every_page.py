"""Every page in every state, by eye and by screen reader: both themes, wide and narrow."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import cache

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.journeys.instance import Instance
from tests.journeys.layout import HEAD_TAKES, OUTSIDE, show_in
from tests.journeys.places import PLACES, Place
from tests.support.selection import Choose

WIDE, TABLET, NARROW, NARROWEST = 1280, 768, 390, 320
SMALLEST = 24
EVERYTHING = {"resultTypes": ["violations"], "preload": False}
OF_COLOUR = ["color-contrast", "link-in-text-block"]
COLOURS = EVERYTHING | {"runOnly": {"type": "rule", "values": OF_COLOUR}}
ALL_ELSE = EVERYTHING | {"rules": {rule: {"enabled": False} for rule in OF_COLOUR}}
LOOKS = ((WIDE, "light", EVERYTHING), (WIDE, "dark", COLOURS), (NARROW, "dark", ALL_ELSE))
"""What axe looks at: with another theme only what a theme changes, with another width the rest."""
WINDOW = {"viewport": {"width": WIDE, "height": 900}}

BARRIERS = """options => axe.run(options).then(({ violations }) => violations.flatMap(
  ({ id, nodes }) => nodes.map((node) => [id, node.html.slice(0, 160), node.failureSummary])))"""
TOO_SMALL = """least => {
  const targets = "a, button, summary, select, textarea, input, label.pick";
  return [...document.querySelectorAll(targets)].filter((one) => {
    if (!one.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
    if (one.matches(".quiet-text, .skip, [type=hidden]")) return false;
    if (one.matches("a") && getComputedStyle(one).display === "inline") return false;
    const target = one.matches("input") ? one.closest("label") ?? one : one;
    const { height, width } = target.getBoundingClientRect();
    return height < least || width < least;
  }).map((one) => one.outerHTML.slice(0, 160));
}"""
ROWS = 8
FEWER_ROWS = """most => document.querySelectorAll("tbody, .panel:has(> .event)").forEach((list) =>
  [...list.children].slice(most).forEach((row) => row.remove()))"""
"""Of many rows, axe looks at all only once: the others are like the first."""
USUAL = re.compile(r"Failed to load resource: .* status of 4\d\d|Clear-Site-Data header .* Cleared")
"""What Chromium says of a refusal, and of a sign-out."""


@pytest.fixture(scope="module")
def windows(browser: Browser, instance: Instance) -> Iterator[Callable[[str], BrowserContext]]:
    """The window of each person. A tab of it stays open, so that all its tabs are one process."""
    with ExitStack() as stack:

        @cache
        def window(who: str) -> BrowserContext:
            context = stack.enter_context(instance.context(browser, who, **WINDOW))
            context.new_page()
            return context

        yield window


@pytest.fixture
def page(
    place: Place,
    browser: Browser,
    instance: Instance,
    windows: Callable[[str], BrowserContext],
) -> Iterator[Page]:
    if place.who is None or place.has_own_window:
        with instance.context(browser, place.who, **WINDOW) as context:
            yield context.new_page()
    else:
        instance.let_password_be_given(datetime.now(UTC))
        with windows(place.who).new_page() as page:
            yield page


@pytest.mark.one_in(8)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_page_is_accessible(place: Place, page: Page, instance: Instance, by_turns: Choose):
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    place.way(page, instance)
    expect(page.locator("h1")).to_have_text(re.compile(f"^{re.escape(place.heading)}"))
    page.wait_for_load_state()
    page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true })")
    for width in (TABLET, NARROWEST):
        page.set_viewport_size({"width": width, "height": 1024})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(OUTSIDE) == [], f"{width} wide"
        if width == TABLET:
            assert page.evaluate(HEAD_TAKES) <= 1024 / 3
    page.evaluate(AXE_SCRIPT)
    looked_for = [EVERYTHING, *by_turns([COLOURS, ALL_ELSE])]
    for width, theme, rules in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        show_in(page, theme)
        assert page.evaluate(TOO_SMALL, SMALLEST) == []
        if rules in looked_for:
            assert page.evaluate(BARRIERS, rules) == [], f"{theme}, {width} wide"
        page.evaluate(FEWER_ROWS, ROWS)
    assert [words for words in said if not USUAL.match(words)] == []
    assert [url for url in asked if not url.startswith(instance.pages)] == []
