"""A real browser without a window."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Route, sync_playwright

QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--renderer-process-limit=1",
    "--js-flags=--no-opt",
]
"""The last two for pages that are seen for a second: the tabs of a window share a process, with
what it has compiled, and nothing is compiled a second time to run faster from then on."""

SCRIPTS = re.compile(r"\.js(\?|$)")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--slow-scripts",
        action="store_true",
        help="let each script arrive at each page a second late, as on a busy machine: a test "
        "that fails then looks before what it waits for is there",
    )


def chromium() -> str | None:
    """The path of Chromium: of the variant without a window, which starts pages 4 times as fast."""
    return shutil.which("chromium-headless-shell") or shutil.which("chromium")


@contextmanager
def open_browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=QUIET)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def chromium_browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """One for all tests of a process: Playwright can't be started twice in it."""
    if chromium() is None and "CI" not in os.environ:
        pytest.skip("this needs Chromium; on Debian: apt-get install chromium-headless-shell")
    with open_browser() as browser, pytest.MonkeyPatch.context() as patch:
        if request.config.getoption("--slow-scripts"):
            _slow_down(browser, patch)
        yield browser


def _slow_down(browser: Browser, patch: pytest.MonkeyPatch) -> None:
    new_context = browser.new_context
    clock = browser.new_page()  # which outlives the pages that wait

    def arrive_late(route: Route) -> None:
        clock.wait_for_timeout(1000)  # other pages go on
        with suppress(Error):  # of a page that is closed by then
            route.continue_()

    def new_slow_context(**options: Any) -> BrowserContext:
        context = new_context(**options)
        context.route(SCRIPTS, arrive_late)
        close = context.close

        def close_after_all(**options: Any) -> None:
            context.unroute_all(behavior="wait")
            close(**options)

        patch.setattr(context, "close", close_after_all)
        return context

    patch.setattr(browser, "new_context", new_slow_context)
