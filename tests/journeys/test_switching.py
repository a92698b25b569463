"""Saying who gets a feature, as people do it."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.journeys.instance import Instance
from tests.journeys.places import names, press

pytestmark = pytest.mark.one_in(2)


def test_the_sentence_follows_what_is_typed_and_chosen(page: Page, instance: Instance):
    project = instance.project(1)
    [name] = names(1, project)
    page.goto(f"/projects/{project}/features/{name}/environments/development/strategies/new")
    says = page.locator("#says")
    expect(says).to_contain_text("On for everyone")
    page.get_by_label("Rollout in percent").fill("30")
    expect(says).to_contain_text("On for 30% of users, by userId or sessionId")
    page.get_by_label("Nordic customers").check()
    expect(says).to_contain_text("in segment Nordic customers")
    page.get_by_label("Rollout in percent").fill("a third")
    expect(says).to_contain_text("Enter a whole number from 0 to 100.")
    expect(page.get_by_label("Rollout in percent")).to_be_focused()


def test_a_strategy_is_built_without_scripts(browser: Browser, instance: Instance):
    project = instance.project(1)
    [name] = names(1, project)
    place = f"/projects/{project}/features/{name}/environments/development"
    with instance.context(browser, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{place}/strategies/new")
        page.get_by_label("Rollout in percent").fill("40")
        for number, field in enumerate(("country", "plan")):
            press(page, "Add constraint")
            page.locator(f"#constraint-{number}-contextName").select_option(field)
        page.locator("#constraint-0-values").fill("NO\nSE")
        page.locator("#constraint-1-values").fill("gold")
        page.get_by_label("Beta testers").check()
        for number, variant in enumerate(("one-step", "wallet", "control")):
            press(page, "Add variant")
            page.locator(f"#variant-{number}-name").fill(variant)
        page.locator("#variant-0-weight").fill("50")
        for number in (1, 2):
            page.locator(f"[name=variant-{number}-rest]").check()
        press(page, "Check without saving")
        expect(page.locator("#says")).to_contain_text(
            "On for 40% of users, by userId or sessionId, where country is NO or SE and plan is "
            "gold, in segment Beta testers"
        )
        press(page, "Add strategy")
        expect(page.get_by_text("Strategy added in development.")).to_be_visible()
        shares = page.get_by_role("list", name="Variants").first
        expect(shares).to_contain_text("one-step 50%")
        expect(shares).to_contain_text("control 25%")
    [made] = instance.api("GET", f"{place}/strategies")
    assert len(made["constraints"]) == 2


def test_a_switch_is_undone_and_strategies_are_copied_without_scripts(
    browser: Browser, instance: Instance
):
    project = instance.project(1, environments=["development", "staging"])
    [name] = names(1, project)
    with instance.context(browser, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"/projects/{project}/features/{name}")
        page.get_by_role("switch", name=f"{name} in development").click()
        note = page.get_by_role("status")
        expect(note).to_contain_text("Switched on in development.")
        expect(note).to_be_focused()
        press(page, "Undo switching on in development")
        expect(note).to_contain_text("Switched off in development.")
        switch = page.get_by_role("switch", name=f"{name} in development")
        expect(switch).to_have_attribute("aria-checked", "false")
        page.get_by_role("link", name="Copy from development… to staging").click()
        press(page, "Copy 1 strategy")
        expect(note).to_contain_text("1 strategy copied from development to staging.")
        expect(page.get_by_text("On for everyone")).to_have_count(2)
