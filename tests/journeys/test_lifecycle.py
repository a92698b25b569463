"""A feature comes to its end: it is proposed as stale, marked, completed, and archived."""

import pytest
from playwright.sync_api import Browser, expect

from tests.journeys.instance import Instance
from tests.journeys.places import names, press

pytestmark = pytest.mark.one_in(2)


def test_a_feature_comes_to_its_end(browser: Browser, instance: Instance, scripts: bool):
    project = instance.project(2, environments=["development"])
    [name, other] = names(2, project)
    place = f"/projects/{project}/features"
    instance.api("POST", f"{place}/{name}/environments/development/on")
    instance.age(project, days=60)
    instance.use(project, "development")
    with instance.context(browser, java_script_enabled=scripts) as context:
        page = context.new_page()
        page.goto(f"/projects/{project}?staleProposal=any")
        row = page.get_by_role("row").filter(has_text=name)
        expect(row).to_contain_text("On for everyone for 30 days")
        expect(page.get_by_role("row").filter(has_text=other)).to_have_count(0)
        row.get_by_role("button", name=f"Mark as stale… {name}").click()
        expect(page.get_by_text("1 of 1 feature will change.")).to_be_visible()
        press(page, "Change 1 feature")
        page.goto(f"{place}/{name}/settings")
        page.get_by_role("link", name="Complete…").click()
        page.get_by_text("Kept", exact=True).check()
        page.get_by_label("Variant").fill("one-step")
        press(page, "Complete feature")
        lifecycle = page.get_by_role("region", name="Lifecycle")
        expect(lifecycle).to_contain_text("kept, one-step")
        press(page, "Undo completion")
        expect(lifecycle).not_to_contain_text("kept")
        page.get_by_role("link", name="Complete…").click()
        page.get_by_text("Discarded", exact=True).check()
        press(page, "Complete feature")
        press(page, "Archive…")
        press(page, "Archive 1 feature")
    stages = [row["stage"] for row in instance.api("GET", f"{place}/{name}/lifecycle")]
    assert stages == ["initial", "pre-live", "completed", "archived"]
