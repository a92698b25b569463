"""Releases in steps: from the page of a feature through each step to the end."""

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.journeys.instance import COLLEAGUE, Instance, names
from tests.journeys.places import press
from tests.journeys.steps import TEMPLATE, new_template
from tests.journeys.test_keyboard import arrive
from tests.journeys.test_keyboard import press as keys

pytestmark = pytest.mark.one_in(2)


def shares(instance: Instance, path: str, environment: str = "development") -> list[str] | None:
    """The shares of users that get the feature; None: it is off."""
    state = instance.api("GET", f"{path}/environments/{environment}")
    found = [each["parameters"]["rollout"] for each in state["strategies"]]
    return found if state["enabled"] else None


def note(page: Page) -> Locator:
    return page.get_by_role("status").first


def rungs(page: Page) -> Locator:
    """The steps of a release on the page of its feature or change request."""
    return page.locator("main .ladder > li")


@pytest.fixture
def feature(instance: Instance) -> str:
    """The path of a feature that is off; its project has a template that ends at half."""
    project = instance.project(1, environments=["development"])
    new_template(instance, project, to_all=False)
    [name] = names(1, project)
    return f"/projects/{project}/features/{name}"


@pytest.fixture
def running(instance: Instance) -> str:
    """The path of a feature whose release to everyone is at its first step."""
    project = instance.project(1, environments=["development"])
    [name] = names(1, project)
    path = f"/projects/{project}/features/{name}"
    body = {"templateId": new_template(instance, project), "start": True}
    instance.api("POST", f"{path}/environments/development/release-plans", body)
    return path


def test_a_release_is_planned_and_its_steps_start_one_after_the_other(
    browser: Browser, instance: Instance, feature: str, scripts: bool
):
    name = feature.rpartition("/")[2]
    with instance.context(browser, java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto(feature)
        page.get_by_role("link", name="Start release… in development").click()
        plan(page, scripts=scripts)
        press(page, "Start release")
        said(page, "Release in development created. Step 25% started.")
        release = page.get_by_role("region", name="Release in development")
        expect(release).to_contain_text("Step 1 of 3: on for 25% of users. 50% starts auto")
        expect(page.locator("[aria-current=step]")).to_contain_text("1. 25% Now")
        expect(rungs(page)).to_contain_text(["1. 25% Now", "2. 50% Next", "3. Everyone Later"])
        here = page.get_by_role("region", name="development", exact=True)
        expect(here).to_contain_text("Step 1 of the release sets this.")
        assert shares(instance, feature) == ["25"]
        for number, step, reached in ((2, "50%", "50% of users"), (3, "Everyone", "everyone")):
            release.get_by_role("link", name=f"Start {step} now…").click()
            sure = page.get_by_role("region", name=f"Start step {number} now?")
            expect(sure).to_contain_text("It’s due on")
            expect(sure).to_contain_text(f"{name} will then be on for {reached} in development.")
            press(page, f"Start {step}")
            said(page, f"Step {step} started in development.")
            expect(rungs(page).nth(number - 2)).to_contain_text("Done")
            expect(rungs(page).nth(number - 1)).to_contain_text(f"On for {reached}")
            assert shares(instance, feature) == ["50" if number == 2 else "100"]
        expect(release).to_contain_text("Done: on for everyone since")
        expect(here).to_contain_text("The strategy belongs to the feature again.")
        expect(page.get_by_role("link", name="Start release… in development")).to_be_visible()


def test_a_release_is_held_resumed_moved_on_and_stopped(
    browser: Browser, instance: Instance, running: str, scripts: bool
):
    name = running.rpartition("/")[2]
    with instance.context(browser, java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto(running)
        release = page.get_by_role("region", name="Release in development")
        press(page, "Hold this release")
        said(page, f"The release of {name} in development is on hold.")
        expect(release).to_contain_text("25% of users still have it.")
        expect(release).to_contain_text("Nothing moves until someone resumes or stops the release.")
        expect(rungs(page)).to_contain_text(["25% On hold", "50% Waiting", "Everyone Waiting"])
        expect(rungs(page).nth(1)).to_contain_text("No date while on hold")
        expect(release.get_by_role("link", name="Start 50% now…")).to_have_count(0)
        assert shares(instance, running) == ["25"]

        press(page, "Resume")
        said(page, "Resumed.")
        expect(release).to_contain_text("Step 1 of 3: on for 25% of users. 50% starts auto")

        release.get_by_role("link", name="Start 50% now…").click()
        press(page, "Start 50%")
        said(page, "Step 50% started in development.")
        expect(release).to_contain_text("Step 2 of 3: on for 50% of users. Everyone starts auto")
        expect(rungs(page)).to_contain_text(["25% Done", "50% Now", "Everyone Next"])
        assert shares(instance, running) == ["50"]

        page.get_by_text("Stop this release…").click()
        expect(release).to_contain_text(
            f"Everyone won’t start, and {name} goes off for everyone in development."
        )
        page.get_by_label("Reason").fill("Too many calls")
        press(page, f"Stop and switch off {name} in development")
        said(page, f"The release of {name} in development was stopped.")
        expect(release).to_contain_text("Stopped at step 2 of 3: off for everyone.")
        expect(release).to_contain_text("Stopped by Ada Lindqvist: “Too many calls”")
        expect(rungs(page)).to_contain_text(["25% Done", "50% Stopped", "Everyone Never started"])
        expect(release.get_by_role("link", name="Start a new release…")).to_be_visible()
        expect(page.get_by_role("switch")).not_to_be_checked()
    assert shares(instance, running) is None


def said(page: Page, words: str) -> None:
    """The page says it, and the person who goes on by keyboard goes on from there."""
    expect(note(page)).to_contain_text(words)
    expect(note(page)).to_be_focused()
    page.wait_for_load_state()


def plan(page: Page, *, scripts: bool) -> None:
    """Take the steps of the template, and add one for everyone."""
    happens = page.get_by_role("region", name="What will happen")
    take_steps(page)
    expect(page.locator("#step-0-share")).to_have_value("25")
    expect(page.locator("#step-1-share")).to_have_value("50")
    expect(page.locator("#step-2-who")).to_have_count(0)
    expect(happens).to_contain_text("On for 50% of users, by userId or sessionId")
    expect(happens).not_to_contain_text("On for everyone")
    press(page, "Add step")
    expect(page.locator("#step-2-name")).to_be_focused()
    page.locator("#step-2-who").select_option("Everyone")
    if not scripts:
        press(page, "Check without saving")
    expect(happens).to_contain_text("On for everyone")
    expect(page.get_by_role("region", name="When would these people get it?")).to_contain_text(
        re.compile(r"Step [123]: ")
    )


def take_steps(page: Page) -> None:
    page.get_by_role("radio", name=TEMPLATE).check()
    press(page, "Use these steps")
    expect(page.locator("#step-0-name")).to_have_value("25%")
    page.wait_for_load_state()


def test_a_step_with_too_small_a_share_is_named_and_corrected(
    browser: Browser, instance: Instance, feature: str, scripts: bool
):
    with instance.context(browser, java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto(f"{feature}/environments/development/new-release")
        take_steps(page)
        page.locator("#step-1-share").fill("20")
        press(page, "Start release")
        expect(page.locator("#errors")).to_be_focused()
        page.get_by_role("link", name="Step 2: Enter more than 25, the share of step 1.").click()
        share = page.locator("#step-1-share")
        expect(share).to_be_focused()
        expect(share).to_have_accessible_description("Enter more than 25, the share of step 1.")
        share.fill("70")
        press(page, "Start release")
        expect(note(page)).to_contain_text("Release in development created.")
        expect(rungs(page)).to_contain_text(["On for 25% of users", "On for 70% of users"])


def test_where_approvals_are_needed_a_release_is_proposed_approved_and_applied_as_a_whole(
    browser: Browser, instance: Instance, scripts: bool
):
    rules = [{"name": "production", "requiredApprovals": 1}]
    project = instance.project(1, environments=["production"], changeRequestEnvironments=rules)
    new_template(instance, project)
    [name] = names(1, project)
    feature = f"/projects/{project}/features/{name}"
    with instance.context(browser, COLLEAGUE, java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto(feature)
        page.get_by_role("link", name="Start release… in production").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Propose a release in production")
        expect(page.get_by_text("They’re given once, for all steps.")).to_be_visible()
        take_steps(page)
        press(page, "Propose release")
        shows_all_steps(page)
        press(page, "Send for review")
        expect(note(page)).to_contain_text("Sent for review.")
        request = page.url
    assert shares(instance, feature, "production") is None
    with instance.context(browser, java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto(request)
        shows_all_steps(page)
        press(page, "Approve")
        expect(note(page)).to_contain_text("It can be applied now.")
        press(page, "Apply now")
        expect(note(page)).to_contain_text("Applied. 1 change took effect.")
        page.goto(feature)
        release = page.get_by_role("region", name="Release in production")
        expect(release).to_contain_text("Step 1 of 3: on for 25% of users.")
        expect(release).to_contain_text("Approved as a whole by change request")
        assert shares(instance, feature, "production") == ["25"]
        release.get_by_role("link", name="Start 50% now…").click()
        expect(page.get_by_text("Starting it early needs approvals in production.")).to_be_visible()
        press(page, "Propose starting 50%")
        expect(note(page)).to_contain_text("Added to your draft.")
    assert shares(instance, feature, "production") == ["25"]


def shows_all_steps(request: Page) -> None:
    """The change request shows each step, who gets the feature then, and when."""
    steps = rungs(request)
    expect(steps).to_contain_text(
        ["1. 25% First", "2. 50% 1 day later", "3. Everyone 2 days later"]
    )
    expect(steps).to_contain_text(["On for 25% of users", "On for 50% of users", "On for everyone"])
    expect(steps).to_contain_text(["When the request is applied", "Automatically", "Automatically"])


def test_a_release_is_started_held_resumed_and_stopped_by_keyboard(
    browser: Browser, instance: Instance, feature: str, scripts: bool
):
    name = feature.rpartition("/")[2]
    with instance.context(browser, java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto(feature)
        page.wait_for_load_state()
        keys(page, "Tab", until=page.get_by_role("link", name="Start release… in development"))
        keys(page, "Enter")
        arrive(page, "Start a release in development")
        keys(page, "Tab", until=page.get_by_role("radio", name=re.compile("^Careful")))
        keys(page, "ArrowDown")
        expect(page.get_by_role("radio", name=TEMPLATE)).to_be_checked()
        keys(page, "Tab", until="Use these steps")
        keys(page, "Enter")
        expect(page.locator("#step-0-name")).to_have_value("25%")
        page.wait_for_load_state()
        keys(page, "Tab", until="Start release")
        keys(page, "Enter")
        said(page, "Step 25% started.")
        keys(page, "Tab", until="Hold this release")
        keys(page, "Enter")
        said(page, "is on hold.")
        keys(page, "Tab", until="Resume")
        keys(page, "Enter")
        said(page, "Resumed.")
        keys(page, "Tab", until="Stop this release…")
        keys(page, "Enter")
        expect(page.get_by_label("Reason")).to_be_visible()
        keys(page, "Tab")
        expect(page.get_by_label("Reason")).to_be_focused()
        page.keyboard.type("Too many calls")
        stop = page.get_by_role("button", name=f"Stop and switch off {name} in development")
        keys(page, "Tab")
        expect(stop).to_be_focused()
        keys(page, "Enter")
        said(page, "was stopped.")
        expect(page.get_by_text("Stopped by Ada Lindqvist: “Too many calls”")).to_be_visible()
    assert shares(instance, feature) is None
