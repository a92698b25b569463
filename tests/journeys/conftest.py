"""A real browser, and a real server for it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import APIRequestContext, Browser, BrowserContext, Page

from tests.journeys.instance import THROUGH_NGINX, Instance, furnished
from tests.support.nginx import PREFIX


@pytest.fixture(scope="session")
def browser(chromium_browser: Browser) -> Browser:
    return chromium_browser


@pytest.fixture(scope="session", autouse=True)
def _on_a_sub_path() -> Iterator[None]:
    """Behind nginx the pages are on a sub-path; the journeys name them without it."""
    with pytest.MonkeyPatch.context() as patch:
        if THROUGH_NGINX:
            patch.setattr(Page, "goto", _asks_below(Page.goto))
            for name in ("get", "post"):
                ask = getattr(APIRequestContext, name)
                patch.setattr(APIRequestContext, name, _asks_below(ask))
        yield


def _asks_below(ask: Callable[..., Any]) -> Callable[..., Any]:
    def with_prefix(asker: object, url: str, **options: Any) -> Any:
        is_path = url.startswith("/") and not url.startswith(PREFIX)
        return ask(asker, f"{PREFIX}{url}" if is_path else url, **options)

    return with_prefix


@pytest.fixture(scope="session")
def instance(tmp_path_factory: pytest.TempPathFactory, demo_home: Path) -> Iterator[Instance]:
    with furnished(tmp_path_factory.mktemp("home"), demo_home) as instance:
        yield instance


@pytest.fixture(params=["scripts", "no-scripts"])
def scripts(request: pytest.FixtureRequest) -> bool:
    """Whether the browser runs JavaScript."""
    return bool(request.param == "scripts")


@pytest.fixture
def context(browser: Browser, instance: Instance) -> Iterator[BrowserContext]:
    """A window of an Admin."""
    with instance.context(browser) as context:
        yield context


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"
