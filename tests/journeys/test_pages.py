"""The pages in a real browser: what a person meets, by eye, keyboard and screen reader."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.bench.servers import FLAGSTAFF, running

CHROMIUM = shutil.which("chromium")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PASSWORD = "four words that nobody guesses"

pytestmark = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ,
    reason="the browser journeys need Chromium; on Debian: apt-get install chromium",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def address(home: Path) -> Iterator[str]:
    with running(FLAGSTAFF, "/ready", HOME=str(home)) as server:
        yield f"http://127.0.0.1:{server.port}"


@pytest.fixture
def link(home: Path, address: str) -> str:
    """A link by which a new person sets a password."""
    printed = subprocess.run(
        [sys.executable, *FLAGSTAFF[:-1], "user", "create", "--username", f"person-{uuid4()}"],
        env=os.environ | {"FLAGSTAFF_HOME": str(home), "FLAGSTAFF_BASE_URL": address},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return printed.split()[-1]


@pytest.fixture(params=["light", "dark"])
def theme(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=[1280, 390])
def context(request, browser: Browser, theme: str) -> Iterator[BrowserContext]:
    viewport = {"width": request.param, "height": 800}
    with browser.new_context(color_scheme=theme, viewport=viewport) as context:
        yield context


def check(page: Page) -> None:
    """No barrier that axe knows, no request that leaves the house, no sideways scrolling."""
    report = Axe().run(page)
    assert report.violations_count == 0, report.generate_report()
    assert page.locator("h1").count() == 1
    width = page.viewport_size["width"]
    page.set_viewport_size({"width": 320, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.set_viewport_size({"width": width, "height": 800})


def test_every_page_is_open_to_everybody(context: BrowserContext, address: str, link: str):
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    for path in ("/", "/api/", "/no-such-page"):
        page.goto(address + path)
        page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true })")
        check(page)
    page.goto(link)
    check(page)
    page.get_by_label("New password").fill("short")
    page.get_by_role("button", name="Set password").click()
    expect(page).to_have_title(re.compile("^Error:"))
    check(page)
    page.get_by_label("New password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Password set")).to_be_visible()
    check(page)
    assert [url for url in asked if not url.startswith(address)] == []


def test_a_password_is_set_by_keyboard_and_without_a_script(browser, address, link):
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(link)
        page.keyboard.press("Tab")
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Password set")).to_be_visible()
        page.goto(link)
        assert "unknown, used or expired" in page.content()
