"""How much a page weighs on its way to a browser, for those with a slow line."""

import pytest
from playwright.sync_api import Browser, Page

from tests.journeys.instance import THROUGH_NGINX, Instance

FIRST, LATER = 60_000, 20_000
"""Bytes of a first visit with all styles and scripts, and of every later one."""

pytestmark = pytest.mark.skipif(
    THROUGH_NGINX, reason="Chromium keeps nothing that came by a certificate it can't check"
)


@pytest.fixture(autouse=True)
def _nothing_holds_scripts_up(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--slow-scripts"):
        pytest.skip("Chromium keeps nothing where requests are held up")


def weigh(page: Page, path: str) -> int:
    """The bytes that are transferred for the page, heads of the answers included."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("Network.enable")
    lengths = []
    devtools.on("Network.loadingFinished", lambda event: lengths.append(event["encodedDataLength"]))
    page.goto(path, wait_until="networkidle")
    return int(sum(lengths))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("list_of", ["projects", "features"])
def test_a_page_is_light(browser: Browser, instance: Instance, list_of: str, record_property):
    path = "/projects" if list_of == "projects" else f"/projects/{instance.project(60)}"
    with instance.context(browser) as context:
        first = weigh(context.new_page(), path)
        later = weigh(context.new_page(), path)
    record_property("first", first)
    record_property("later", later)
    assert later < first <= FIRST
    assert later <= LATER
