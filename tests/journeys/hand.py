"""What people do on a page, and how much of it."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Locator, Page, expect


class Hand:
    """Works on a page with a mouse and a keyboard.

    ``clicks``: one for a field to type in, two for a choice from a list. ``keys``: those that move
    or act, as Tab and Enter do. ``loads``: how many pages came.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = self.keys = self.loads = 0
        page.on("domcontentloaded", self._count_load)

    @contextmanager
    def at_most(self, *, clicks: int, keys: int = 0, loads: int | None = None) -> Iterator[None]:
        """What is done within takes no more than that. ``loads`` of None: any number."""
        self.clicks = self.keys = self.loads = 0
        yield
        self.page.wait_for_load_state("domcontentloaded")
        assert self.clicks <= clicks
        assert self.keys <= keys
        assert loads is None or self.loads <= loads

    def click(self, target: Locator) -> None:
        self._reach(target).click()

    def button(self, name: str) -> None:
        self.click(self.page.get_by_role("button", name=name, exact=True).first)

    def link(self, name: str) -> None:
        self.click(self.page.get_by_role("link", name=name, exact=True).first)

    def menu(self, group: str, name: str) -> None:
        """Unfold a group of the menu, and follow a link of it."""
        menu = self.page.get_by_role("navigation", name="Main")
        self.click(menu.get_by_text(group, exact=True))
        self.click(menu.get_by_role("link", name=name, exact=True))

    def pick(self, *names: str) -> None:
        """Click check boxes or radios."""
        for name in names:
            self.click(self.page.get_by_label(name, exact=True))

    def choose(self, label: str, option: str) -> None:
        """Open a list and click an option of it."""
        choices = self._reach(self.page.get_by_label(label, exact=True).last)
        choices.focus()
        choices.select_option(option)
        self.clicks += 1

    def fill(self, label: str, text: str) -> None:
        """Click into a field, and type or paste."""
        self._reach(self.page.get_by_label(label, exact=True)).fill(text)

    def fill_next(self, label: str, text: str) -> None:
        """Go on to the next field by keyboard, and type."""
        self.press("Tab")
        expect(self.page.get_by_label(label, exact=True)).to_be_focused()
        self.type(text)

    def type(self, text: str) -> None:
        """Type where the focus is."""
        self.page.keyboard.type(text)

    def press(self, key: str) -> None:
        self.keys += 1
        self.page.keyboard.press(key)

    def _reach(self, target: Locator) -> Locator:
        """What is to be clicked, once its page has all its scripts: no one is faster than them."""
        target.wait_for()
        self.page.wait_for_load_state()
        self.clicks += 1
        return target

    def _count_load(self, _: Page) -> None:
        self.loads += 1
