"""The home page of people, and what is on it."""

from collections.abc import Callable

import pytest
from bs4.element import Tag
from flask import Flask

from tests.browser import Browser, text_of

Home = Callable[[str], "Page"]


class Page:
    """``attention``: the lines by their words, each with the address of its next step."""

    def __init__(self, browser: Browser) -> None:
        self.page = browser.get("/")
        self.attention: dict[str, str] = {}
        section = self.page.soup.find(attrs={"aria-labelledby": "attention"})
        if isinstance(section, Tag):
            for line in section.find_all("li"):
                says, link = line.select_one(".status"), line.select_one("a")
                assert isinstance(says, Tag)
                assert isinstance(link, Tag)
                self.attention[text_of(says)] = str(link["href"])


@pytest.fixture
def home(app: Flask) -> Home:
    """The home page of a person, by their user name."""
    return lambda username: Page(Browser(app).sign_in(username))
