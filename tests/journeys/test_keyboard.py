"""The tag picker from the list to the end, without touching a mouse."""

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.journeys.instance import Instance, names

pytestmark = pytest.mark.one_in(2)


@pytest.fixture
def prepared(instance: Instance) -> str:
    """A project with three features, of which the first carries a tag."""
    id = instance.project(3)
    instance.tag(id, "risk:low", names(3, id)[0])
    return id


def test_the_picker_by_keyboard(browser: Browser, instance: Instance, prepared: str):
    first, _, last = names(3, prepared)
    with instance.context(browser) as context:
        page = context.new_page()
        page.goto(f"/projects/{prepared}")
        press(page, "Tab", until=f"Select {first}")
        press(page, "Space", "ArrowDown", "Space", "ArrowDown", "Space")
        press(page, "Tab", until="Edit tags")
        press(page, "Enter")
        arrive(page, "Edit tags of 3 features")
        press(page, "/")
        expect(page.get_by_label("Find a tag")).to_be_focused()
        page.keyboard.type("risk:")
        expect(page.get_by_text("3 shown")).to_be_visible()
        press(page, "Tab", until="risk:low")  # first, since it is on one of the features
        low, medium = (page.get_by_role("checkbox", name=f"risk:{n}") for n in ("low", "medium"))
        expect(low).to_have_attribute("aria-checked", "mixed")
        for state in ("true", "false", "mixed", "true"):
            press(page, "Space")
            expect(low).to_have_attribute("aria-checked", state)
        press(page, "ArrowDown", "ArrowDown")
        expect(medium).to_be_focused()
        expect(medium).to_have_attribute("aria-checked", "false")
        press(page, "Space")
        expect(medium).to_have_attribute("aria-checked", "true")
        press(page, "Space")  # on none, so there is nothing to remove
        expect(medium).to_have_attribute("aria-checked", "false")
        expect(page.get_by_text("1 tag to change")).to_be_visible()
        finish(page)
    assert "risk:low" in instance.tags(prepared, last)


def test_the_picker_by_keyboard_without_scripts(
    browser: Browser, instance: Instance, prepared: str
):
    first, second, _ = names(3, prepared)
    with instance.context(browser, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"/projects/{prepared}")
        press(page, "Tab", until=f"Select {first}")
        press(page, "Space")
        press(page, "Tab", until=f"Select {second}")
        press(page, "Space")
        expect(page.locator("tbody :checked")).to_have_count(2)
        press(page, "Tab", until="Edit tags")
        press(page, "Enter")
        arrive(page, "Edit tags of 2 features")
        low = page.get_by_role("group", name="risk:low", exact=True)
        keep = low.get_by_role("radio", name="Keep")
        press(page, "Tab", until=keep)
        expect(keep).to_be_focused()
        press(page, "ArrowRight")
        expect(low.get_by_role("radio", name="Add to all")).to_be_checked()
        finish(page)
    assert "risk:low" in instance.tags(prepared, second)


def press(page: Page, *keys: str, until: str | Locator | None = None) -> None:
    """Press each key; with ``until``: again and again, until what is called so has the focus."""
    for _ in range(200 if until else 1):
        for key in keys:
            page.keyboard.press(key)
        if until is None or has_focus(page, until):
            return
    raise AssertionError(f"{until!r} is not reached by keyboard")


def has_focus(page: Page, one: str | Locator) -> bool:
    if isinstance(one, Locator):
        return one.and_(page.locator(":focus")).count() > 0
    return focused(page) == one


def focused(page: Page) -> str:
    """What the element with the focus is called."""
    one = page.locator(":focus")
    return (one.get_attribute("aria-label") or one.inner_text()) if one.count() else ""


def finish(page: Page) -> None:
    press(page, "Tab", until="Review")
    press(page, "Enter")
    arrive(page, "Review the tags of")
    button = page.locator("main .bar .button--primary").inner_text()
    press(page, "Tab", until=button)
    press(page, "Enter")
    arrive(page, "changed")


def arrive(page: Page, heading: str) -> None:
    """Wait for the page with this in its heading, and for its scripts, which hear the keys."""
    expect(page.get_by_role("heading", level=1)).to_contain_text(heading)
    page.wait_for_load_state()
