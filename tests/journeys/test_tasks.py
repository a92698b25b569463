"""Daily work, by the clicks and page loads that it takes."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.journeys.instance import Instance
from tests.journeys.places import names

pytestmark = pytest.mark.one_in(2)


class Hand:
    """Works on a page with a mouse and a keyboard. ``clicks``, ``loads``: how many it took."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = self.loads = 0
        page.on("domcontentloaded", self._count_load)

    def click(self, target: Locator) -> None:
        self.clicks += 1
        target.click()

    def button(self, name: str) -> None:
        self.click(self.page.get_by_role("button", name=name, exact=True))

    def choose(self, label: str, option: str) -> None:
        """Open a list and click an option of it."""
        self.clicks += 2
        self.page.get_by_label(label, exact=True).last.select_option(option)

    def type(self, text: str) -> None:
        """Type where the focus is."""
        self.page.keyboard.type(text)

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def _count_load(self, _: Page) -> None:
        self.loads += 1


@pytest.fixture
def feature(page: Page, instance: Instance) -> tuple[str, str]:
    project = instance.project(1)
    [name] = names(1, project)
    page.goto(f"/projects/{project}/features/{name}")
    return project, name


def focused(page: Page, id: str) -> None:
    expect(page.locator(f"#{id}")).to_be_focused()


def test_a_feature_is_switched_from_the_list(page: Page, instance: Instance):
    project = instance.project(3)
    name = names(3, project)[1]
    page.goto(f"/projects/{project}")
    hand = Hand(page)
    hand.click(page.get_by_role("switch", name=f"{name} in development"))
    expect(page.get_by_role("status")).to_contain_text("Switched on")
    assert instance.is_on(project, name)
    assert (hand.clicks, hand.loads) == (1, 0)


def test_half_get_one_variant_and_half_the_other(
    page: Page, instance: Instance, feature: tuple[str, str]
):
    project, name = feature
    hand = Hand(page)
    hand.click(page.get_by_role("link", name="Add strategy in development"))
    for number, (variant, payload) in enumerate((("one-step", '{"steps": 1}'), ("classic", "{}"))):
        hand.button("Add variant")
        focused(page, f"variant-{number}-name")
        hand.type(variant)
        hand.choose("Payload", "json")
        page.locator(f"#variant-{number}-payload").focus()
        hand.type(payload)
    expect(page.locator("#says")).to_contain_text("one-step 50%")
    hand.button("Add strategy")
    expect(page.get_by_role("status")).to_contain_text("Strategy added in development.")
    place = f"/projects/{project}/features/{name}/environments/development"
    [made] = instance.api("GET", f"{place}/strategies")
    assert [(one["weight"], one["payload"]["value"]) for one in made["variants"]] == [
        (500, '{"steps": 1}'),
        (500, "{}"),
    ]
    assert hand.clicks <= 10
    assert hand.loads == 2


def test_a_tenth_of_sweden_gets_it_and_that_is_undone(
    page: Page, instance: Instance, feature: tuple[str, str]
):
    project, name = feature
    hand = Hand(page)
    hand.click(page.get_by_role("link", name="Add strategy in development"))
    hand.button("10%")
    hand.button("Add constraint")
    focused(page, "constraint-0-contextName")
    hand.choose("Field", "country")
    hand.click(page.get_by_role("checkbox", name="SE", exact=True))
    hand.button("Add and switch on")
    toast = page.get_by_role("status")
    expect(toast).to_contain_text(f"Strategy added in development, and {name} switched on there.")
    expect(page.locator("#in-development")).to_contain_text("On for 10% of users")
    assert instance.is_on(project, name)
    hand.button("Undo adding the strategy in development")
    expect(toast).to_contain_text("Undone.")
    expect(page.locator("#in-development")).to_contain_text("No strategy yet.")
    assert not instance.is_on(project, name)
    assert hand.clicks <= 12
    assert hand.loads == 2


def test_parts_of_a_strategy_come_and_go_where_one_works(
    page: Page, instance: Instance, feature: tuple[str, str]
):
    hand = Hand(page)
    hand.click(page.get_by_role("link", name="Add strategy in development"))
    page.get_by_label("Title").first.wait_for(state="attached")
    for number in range(3):
        hand.button("Add constraint")
        focused(page, f"constraint-{number}-contextName")
    page.get_by_label("Field").nth(1).select_option("userId")
    focused(page, "constraint-2-contextName")
    page.get_by_label("Values, one per line").last.fill("gold")
    before = page.evaluate("scrollY")
    hand.button("Remove constraint 1")
    expect(page.get_by_role("button", name="Add constraint")).to_be_focused()
    expect(page.locator("#constraint-0-contextName")).to_have_value("userId")
    expect(page.locator("#constraint-1-values")).to_have_value("gold")
    assert page.evaluate("scrollY") <= before
    page.get_by_label("Operator").first.focus()
    page.get_by_label("Operator").first.select_option("NUM_GT")
    expect(page.get_by_label("Number", exact=True)).to_be_visible()
    focused(page, "constraint-0-operator")
    assert hand.loads == 1


def test_the_slider_and_the_number_follow_each_other(page: Page, feature: tuple[str, str]):
    page.get_by_role("link", name="Add strategy in development").click()
    slider, number = page.get_by_role("slider"), page.get_by_label("Rollout in percent")
    number.fill("40")
    expect(slider).to_have_value("40")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(number).to_have_value("41")
    expect(page.locator("#says")).to_contain_text("41% of users")
