"""A change that others approve, from the proposal to what applications get."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.journeys.instance import COLLEAGUE, Instance
from tests.journeys.places import names, press
from tests.support.servers import until

pytestmark = pytest.mark.one_in(2)


def proposed(instance: Instance) -> tuple[str, str]:
    """The path of a change request that needs one approval, and the feature it switches on."""
    project = instance.project(
        1,
        environments=["production"],
        changeRequestEnvironments=[{"name": "production", "requiredApprovals": 1}],
    )
    [name] = names(1, project)
    place = f"/projects/{project}/environments/production/change-requests"
    change = {"feature": name, "action": "updateEnabled", "payload": {"enabled": True}}
    number = instance.api("POST", place, change)["id"]
    path = f"/projects/{project}/change-requests/{number}"
    instance.api("PUT", f"{path}/state", {"state": "In review"})
    return path, f"/projects/{project}/features/{name}"


@pytest.fixture
def reviewer(browser: Browser, instance: Instance, scripts: bool):
    with instance.context(browser, java_script_enabled=scripts) as context:
        yield context.new_page()


def test_a_proposal_is_found_approved_and_applied_and_then_the_feature_is_on(
    reviewer: Page, instance: Instance
):
    path, feature = proposed(instance)
    page, number = reviewer, path.rpartition("/")[2]
    page.goto("/change-requests")
    page.get_by_role("link", name=f"Review change request {number}").click()
    expect(page.get_by_text("Tomás Herrera proposed it, so they can’t approve it.")).to_be_visible()
    page.get_by_label("Comment or reason").fill("Fine by me.")
    press(page, "Approve")
    note = page.get_by_role("status").first
    expect(note).to_contain_text("Approved. It can be applied now.")
    expect(note).to_be_focused()
    expect(page.get_by_text("Fine by me.")).to_be_visible()
    press(page, "Apply now")
    expect(note).to_contain_text("Applied. 1 change took effect.")
    page.goto(feature)
    expect(page.get_by_role("region", name="production")).to_contain_text("On for everyone")
    state = instance.api("GET", f"{feature}/environments/production")
    assert state["enabled"]


def test_what_has_changed_since_its_approval_is_approved_again(reviewer: Page, instance: Instance):
    path, feature = proposed(instance)
    page = reviewer
    page.goto(path)
    press(page, "Approve")
    expect(page.get_by_role("button", name="Apply now")).to_be_visible()
    place = f"{feature}/environments/production"
    rollout = {"name": "flexibleRollout", "parameters": {"rollout": "30", "stickiness": "userId"}}
    instance.api("POST", f"{place}/strategies", rollout)
    changed = page.get_by_role("alert").filter(has_text="Changed since it was approved")
    until(lambda: page.reload() is not None and changed.is_visible())
    expect(page.get_by_role("button", name="Apply now")).to_have_count(0)
    outcome = page.get_by_role("region", name="What applications get")
    expect(outcome).to_contain_text("On for everyone")
    expect(outcome).to_contain_text("On for 30% of users")
    expect(page.get_by_text("changed something that this touches")).to_be_visible()
    press(page, "Approve")
    press(page, "Apply now")
    expect(page.get_by_role("status").first).to_contain_text("Applied. 1 change took effect.")
    [strategy] = instance.api("GET", place)["strategies"]
    assert strategy["parameters"]["rollout"] == "30"


def test_an_owner_who_lowers_approvals_gets_a_request_that_someone_else_approves(
    browser: Browser, reviewer: Page, instance: Instance, scripts: bool
):
    path, _ = proposed(instance)
    project = path.split("/")[2]
    with instance.context(browser, COLLEAGUE, java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto(f"/projects/{project}/settings")
        page.get_by_label("Needs approvals in production").uncheck()
        press(page, "Save")
        expect(page.get_by_text("Changes in production will no longer need")).to_be_visible()
        expect(page.get_by_text("and so does ending that")).to_be_visible()
        press(page, "Propose")
        expect(page.get_by_role("heading", level=1)).to_have_text(
            re.compile("^Ask for no approvals in")
        )
        page.get_by_role("button", name="Send for review").first.click()
        expect(page.get_by_role("status").first).to_be_visible()
        request = page.url
    reviewer.goto(request)
    expect(reviewer.get_by_text("Changes need 1 approval", exact=True)).to_be_visible()
    press(reviewer, "Approve")
    press(reviewer, "Apply now")
    expect(reviewer.get_by_role("status").first).to_contain_text("Applied. 1 change took effect.")
    assert instance.api("GET", f"/projects/{project}")["changeRequestEnvironments"] == []


def test_rejecting_without_a_reason_leads_to_the_comment_and_back(
    reviewer: Page, instance: Instance
):
    path, _ = proposed(instance)
    page = reviewer
    page.goto(path)
    press(page, "Reject…")
    expect(page.locator("#errors")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    comment = page.get_by_label("Comment or reason")
    expect(comment).to_be_focused()
    page.keyboard.type("Not on a Friday.")
    press(page, "Reject…")
    expect(page.get_by_role("status").first).to_contain_text("Rejected.")
    expect(page.get_by_text("Not on a Friday.")).to_be_visible()


def test_its_author_cannot_approve_it_and_cancels_it_with_the_keyboard(
    browser: Browser, instance: Instance, scripts: bool
):
    path, _ = proposed(instance)
    with instance.context(browser, COLLEAGUE, java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto(path)
        expect(page.get_by_role("button", name="Approve", exact=True)).to_have_count(0)
        page.get_by_role("button", name="Cancel it…").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_contain_text("Cancel change request")
        page.get_by_role("button", name="Cancel change request").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("status").first).to_contain_text("Cancelled. Nothing was changed.")
