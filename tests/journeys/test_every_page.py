"""Every page in every state, by eye and by screen reader: both themes, wide and narrow."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.journeys.instance import Instance
from tests.journeys.places import PLACES, Place

WIDE, NARROW, NARROWEST = 1280, 390, 320
SMALLEST = 24
TOO_SMALL = """least => {
  const inSentence = (one) => one.matches("a") && getComputedStyle(one).display === "inline";
  const targets = document.querySelectorAll("a, button, summary, select, textarea, input, label.pick");
  return [...targets].filter((one) => {
    if (!one.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
    if (one.matches(".quiet-text, .skip, [hidden] *") || inSentence(one)) return false;
    // A box is pressed by its label.
    const target = one.matches("input") ? one.closest("label") ?? one : one;
    const { height, width } = target.getBoundingClientRect();
    return height < least || width < least;
  }).map((one) => one.outerHTML.slice(0, 160));
}"""
axe = Axe()


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_page_bars_nobody(place: Place, browser: Browser, instance: Instance):
    viewport = {"width": WIDE, "height": 900}
    with instance.context(browser, place.who, viewport=viewport) as context:
        page = context.new_page()
        asked, said = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        place.way(page, instance)
        headings = page.locator("h1").all_inner_texts()
        assert len(headings) == 1
        assert headings[0].startswith(place.heading), headings
        page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true })")
        for width in (WIDE, NARROW):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(TOO_SMALL, SMALLEST) == []
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme)
                check(page)
        page.set_viewport_size({"width": NARROWEST, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= NARROWEST
        refused = re.compile(r"Failed to load resource: .* status of 4\d\d")
        assert [words for words in said if not refused.match(words)] == []
        assert [url for url in asked if not url.startswith(instance.address)] == []


def check(page: Page) -> None:
    report = axe.run(page)
    assert report.violations_count == 0, report.generate_report()
