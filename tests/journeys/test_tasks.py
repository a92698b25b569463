"""Daily work on who gets what, by the clicks and page loads that it takes."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.journeys.hand import Hand
from tests.journeys.instance import COLLEAGUE, Instance, names
from tests.journeys.places import reload_until
from tests.journeys.steps import TEMPLATE, new_template

pytestmark = pytest.mark.one_in(2)


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
    with hand.at_most(clicks=1, loads=0):
        hand.click(page.get_by_role("switch", name=f"{name} in development"))
        expect(page.get_by_role("status")).to_contain_text("Switched on")
    assert instance.is_on(project, name)


def test_half_get_one_variant_and_half_the_other(
    page: Page, instance: Instance, feature: tuple[str, str]
):
    project, name = feature
    hand = Hand(page)
    variants = (("one-step", '{"steps": 1}'), ("classic", "{}"))
    with hand.at_most(clicks=8, keys=2, loads=2):
        hand.link("Add strategy in development")
        for number, (variant, payload) in enumerate(variants):
            hand.button("Add variant")
            focused(page, f"variant-{number}-name")
            hand.type(variant)
            hand.choose("Payload", "json")
            hand.press("Tab")
            focused(page, f"variant-{number}-payload")
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


def test_a_tenth_of_sweden_gets_it_and_that_is_undone(
    page: Page, instance: Instance, feature: tuple[str, str]
):
    project, name = feature
    toast = page.get_by_role("status")
    hand = Hand(page)
    with hand.at_most(clicks=7, loads=2):
        hand.link("Add strategy in development")
        hand.button("10%")
        hand.button("Add constraint")
        focused(page, "constraint-0-contextName")
        hand.choose("Field", "country")
        hand.pick("SE")
        hand.button("Add and switch on")
        expect(toast).to_contain_text(
            f"Strategy added in development, and {name} switched on there."
        )
    expect(page.locator("#in-development")).to_contain_text("On for 10% of users")
    assert instance.is_on(project, name)
    with hand.at_most(clicks=1, loads=0):
        hand.button("Undo adding the strategy in development")
        expect(toast).to_contain_text("Undone.")
    expect(page.locator("#in-development")).to_contain_text("No strategy yet.")
    assert not instance.is_on(project, name)


def test_a_change_waits_for_approvals_and_a_date_and_again_once_it_leads_elsewhere(
    browser: Browser, page: Page, instance: Instance, feature: tuple[str, str]
):
    project, name = feature
    path = f"/projects/{project}/features/{name}"
    done = page.get_by_role("status").first
    hand = Hand(page)
    page.goto(f"/projects/{project}/settings")
    with hand.at_most(clicks=2, loads=1):
        hand.pick("Needs approvals in production")
        hand.button("Save")
        expect(done).to_contain_text("saved")
    with instance.context(browser, COLLEAGUE) as window:
        author = Hand(window.new_page())
        author.page.goto(path)
        with author.at_most(clicks=2, loads=2):
            author.button("Propose switching on… in production")
            author.button("Send for review")
            expect(author.page.get_by_role("status").first).to_contain_text("Sent for review.")
        request = author.page.url
    assert not instance.is_on(project, name, "production")
    page.goto(request)
    with hand.at_most(clicks=1, loads=1):
        hand.button("Approve")
        expect(done).to_contain_text("It can be applied now.")
    at = f"{datetime.now(UTC) + timedelta(days=2):%Y-%m-%dT%H:%M}"
    with hand.at_most(clicks=2, loads=1):
        hand.fill("Date and time", at)
        hand.button("Schedule")
        expect(done).to_contain_text("Applies on")
    strategy = {"name": "flexibleRollout", "parameters": {"rollout": "30"}}
    instance.api("POST", f"{path}/environments/production/strategies", strategy)
    reload_until(page, page.get_by_text("Changed since it was approved"))
    with hand.at_most(clicks=1, loads=1):
        hand.button("Approve")
        expect(done).to_contain_text("It can be applied now.")
    with hand.at_most(clicks=1, loads=1):
        hand.button("Apply now")
        expect(done).to_contain_text("1 change took effect.")
    assert instance.is_on(project, name, "production")


def test_a_release_in_steps_is_started_held_resumed_and_stopped(
    page: Page, instance: Instance, feature: tuple[str, str]
):
    project, name = feature
    new_template(instance, project)
    done, release = page.get_by_role("status"), page.locator("#released-in-production")
    hand = Hand(page)
    with hand.at_most(clicks=4, loads=3):
        hand.link("Start release… in production")
        hand.click(page.get_by_role("radio", name=TEMPLATE))
        hand.button("Use these steps")
        expect(page.locator("#step-0-name")).to_have_value("25%")
        hand.button("Start release")
        expect(done).to_contain_text("Step 25% started.")
    expect(page.locator("#in-production")).to_contain_text("On for 25% of users")
    assert instance.is_on(project, name, "production")
    with hand.at_most(clicks=1, loads=1):
        hand.button("Hold this release")
        expect(done).to_contain_text(f"The release of {name} in production is on hold.")
    with hand.at_most(clicks=1, loads=1):
        hand.button("Resume")
        expect(done).to_contain_text("Resumed.")
    with hand.at_most(clicks=2, loads=1):
        hand.click(release.get_by_text("Stop this release…"))
        hand.button(f"Stop and switch off {name} in production")
        expect(done).to_contain_text(f"The release of {name} in production was stopped.")
    assert not instance.is_on(project, name, "production")


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
