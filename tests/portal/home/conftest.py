"""The home page of people, and what is on it."""

from collections.abc import Callable

import pytest
from flask import Flask

from tests.support.browser import Browser, attribute, text_of

Home = Callable[[str], "Page"]


class Page:
    """``attention``: the lines by their words, each with the address of its next step."""

    def __init__(self, browser: Browser) -> None:
        self.page = browser.get("/")
        self.attention: dict[str, str] = {}
        for line in self.page.select('[aria-labelledby="attention"] li'):
            says, link = line.css_first(".status"), line.css_first("a")
            assert says is not None
            assert link is not None
            self.attention[text_of(says)] = attribute(link, "href")


@pytest.fixture
def home(app: Flask) -> Home:
    """The home page of a person, by their user name."""
    return lambda username: Page(Browser(app).sign_in(username))
