"""Saying who gets a feature, as people do it."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.journeys.instance import Instance
from tests.journeys.places import names, press

pytestmark = pytest.mark.one_in(2)


def choose_segment(page: Page, name: str) -> None:
    """Many segments are folded: those of the demo, and what other journeys created."""
    fold = page.get_by_text("Choose from")
    if fold.count():
        fold.click()
    page.get_by_label(name).check()


def test_the_sentence_follows_what_is_typed_and_chosen(page: Page, instance: Instance):
    project = instance.project(1)
    [name] = names(1, project)
    page.goto(f"/projects/{project}/features/{name}/environments/development/strategies/new")
    says = page.locator("#says")
    expect(says).to_contain_text("When on: everyone")
    page.get_by_label("Rollout in percent").fill("30")
    expect(says).to_contain_text("When on: 30% of users, by userId or sessionId")
    choose_segment(page, "Nordic customers")
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
            expect(page.locator(f"#constraint-{number}-contextName")).to_be_focused()
            page.locator(f"#constraint-{number}-contextName").select_option(field)
        page.get_by_role("button", name="Show what fits").first.click()
        page.get_by_role("checkbox", name="NO", exact=True).check()
        page.get_by_role("checkbox", name="SE", exact=True).check()
        page.get_by_role("checkbox", name="gold", exact=True).check()
        choose_segment(page, "Beta testers")
        for number, variant in enumerate(("one-step", "wallet", "control")):
            press(page, "Add variant")
            page.locator(f"#variant-{number}-name").fill(variant)
        page.get_by_label("Your own shares").check()
        press(page, "Check without saving")
        for number, share in enumerate(("50", "", "")):
            page.locator(f"#variant-{number}-weight").fill(share)
        press(page, "Check without saving")
        expect(page.locator("#says")).to_contain_text(
            "When on: 40% of users, by userId or sessionId, where country is NO or SE and plan is "
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
    place = f"/projects/{project}/features/{name}/environments/development"
    instance.api("POST", f"{place}/strategies", {"name": "default"})
    with instance.context(browser, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"/projects/{project}/features/{name}")
        page.get_by_role("switch", name=f"{name} in development").click()
        note = page.get_by_role("status")
        expect(note).to_contain_text(f"Switched on {name} in development.")
        expect(note).to_be_focused()
        press(page, f"Undo switching on {name} in development")
        expect(note).to_contain_text(f"Undone. You had switched feature {name} on in development.")
        switch = page.get_by_role("switch", name=f"{name} in development")
        expect(switch).to_have_attribute("aria-checked", "false")
        page.get_by_role("link", name="Copy from development… to staging").click()
        press(page, "Copy 1 strategy")
        expect(note).to_contain_text("1 strategy copied from development to staging.")
        expect(page.get_by_text("When on: everyone")).to_have_count(2)


SHIFTS = """() => {
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) window.shifted += one.value;
  }).observe({ type: "layout-shift" });
}"""


def test_a_row_is_switched_and_undone_where_it_is(
    page: Page, instance: Instance, subtests: pytest.Subtests
):
    project = instance.project(30)
    name = names(30, project)[12]
    for path in (f"/projects/{project}", f"/features?project={project}"):
        with subtests.test(path=path):
            page.goto(path)
            loads: list[str] = []
            page.on("framenavigated", lambda frame, loads=loads: loads.append(frame.url))
            switch = page.get_by_role("switch", name=f"{name} in development")
            switch.scroll_into_view_if_needed()
            place = switch.bounding_box()
            page.evaluate(SHIFTS)
            switch.click()
            toast = page.get_by_role("status")
            expect(toast).to_contain_text(f"Switched on {name} in development.")
            expect(switch).to_be_checked()
            expect(switch).to_be_focused()
            assert instance.is_on(project, name)
            press(page, f"Undo switching on {name} in development")
            expect(toast).to_contain_text(f"switched feature {name} on in development.")
            expect(switch).not_to_be_checked()
            expect(toast.get_by_role("button")).to_be_focused()
            assert not instance.is_on(project, name)
            assert switch.bounding_box() == place
            assert page.evaluate("window.shifted") == 0
            toast.get_by_role("link", name="Close").click()
            expect(toast).to_be_empty()
            assert not loads


def test_a_row_is_switched_without_scripts(browser: Browser, instance: Instance):
    project = instance.project(30)
    name = names(30, project)[20]
    with instance.context(browser, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"/projects/{project}?sort=-name")
        switch = page.get_by_role("switch", name=f"{name} in development")
        switch.click()
        expect(page).to_have_url(re.compile(rf"sort=-name#row-{name}$"))
        expect(switch).to_be_checked()
        expect(switch).to_be_in_viewport()
        press(page, f"Undo switching on {name} in development")
        expect(switch).not_to_be_checked()
        page.get_by_role("link", name="Close").click()
        expect(page.get_by_role("status")).to_be_empty()


def test_a_row_that_the_filter_leaves_out_stays_until_the_list_is_loaded_again(
    page: Page, instance: Instance
):
    project = instance.project(3, environments=["development"])
    name = names(3, project)[0]
    for each in names(3, project):
        instance.api("POST", f"/projects/{project}/features/{each}/environments/development/on")
    instance.age(project, 100)
    instance.use(project, "development")
    page.goto(f"/projects/{project}?staleProposal=everywhere")
    switch = page.get_by_role("switch", name=f"{name} in development")
    switch.click()
    expect(page.get_by_role("status")).to_contain_text(f"Switched off {name} in development.")
    expect(switch).not_to_be_checked()
    expect(switch).to_be_disabled()
    press(page, f"Undo switching off {name} in development")
    expect(page.get_by_role("status")).to_contain_text(f"Undone. You had switched feature {name}")
    page.reload()
    expect(page.locator("main tbody tr")).to_have_count(2)


def test_a_switch_says_that_the_server_is_away_and_stays_as_it_was(page: Page, instance: Instance):
    project = instance.project(1)
    [name] = names(1, project)
    page.goto(f"/projects/{project}")
    switch = page.get_by_role("switch", name=f"{name} in development")
    page.context.set_offline(True)
    switch.click()
    expect(page.get_by_role("status")).to_contain_text("The server can’t be reached")
    expect(switch).not_to_be_checked()
    page.context.set_offline(False)
    switch.click()
    expect(switch).to_be_checked()


def test_a_switch_leads_to_the_sign_in_when_the_session_has_ended(page: Page, instance: Instance):
    project = instance.project(1)
    [name] = names(1, project)
    page.goto(f"/projects/{project}")
    page.context.clear_cookies()
    page.get_by_role("switch", name=f"{name} in development").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert not instance.is_on(project, name)


def test_features_of_several_projects_are_switched_from_one_list(
    browser: Browser, instance: Instance, scripts: bool
):
    places = [(id, names(1, id)[0]) for id in (instance.project(1), instance.project(1))]
    with instance.context(browser, java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto("/features?text=night-shop&limit=1000")
        for _, name in places:
            page.get_by_label(f"Select {name}", exact=True).check()
        page.get_by_label("Environment").select_option("production")
        press(page, "Switch on…")
        press(page, "Switch on 2 features")
        expect(page.get_by_role("status")).to_contain_text("2 features switched on in production.")
        assert all(instance.is_on(id, name, "production") for id, name in places)
        press(page, "Undo changing 2 features")
        expect(page.get_by_role("status")).to_contain_text("Undone.")
        assert not any(instance.is_on(id, name, "production") for id, name in places)
