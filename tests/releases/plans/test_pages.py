"""The pages of releases, all without scripts."""

import pytest

from tests.releases.plans.conftest import PLANS, Releases, step
from tests.support.browser import Browser
from tests.support.clients import ApiClient

PAGE = "/projects/default/features/base"
NEW = f"{PAGE}/environments/production/new-release"


@pytest.mark.usefixtures("feature")
def test_a_release_is_started_with_the_steps_of_a_template(
    browser: Browser, admin: ApiClient
) -> None:
    page = browser.get(NEW)
    assert page.has("Careful Staff, 5%, 25%, 50%, Everyone. 3 days and 4 hours. Not used yet")
    fields = page.fields(0)
    assert [fields[f"step-{number}-who"] for number in range(5)] == [
        "kept",
        "share",
        "share",
        "share",
        "everyone",
    ]
    assert page.has("5% ")
    done = browser.follow(browser.submit(page))
    assert done.messages == ["Release in production created. Step Staff started."]
    assert done.has("Step 1 of 5: on for everyone where userId ends with @example.com.")
    [found] = admin.ok("GET", PLANS)
    shares = [len(each["strategies"]) for each in found["milestones"]]
    assert shares == [1, 2, 2, 2, 1]
    assert found["milestones"][3]["transitionCondition"] == {
        "intervalMinutes": 1440,
        "manual": True,
    }


@pytest.mark.usefixtures("feature")
def test_another_template_shows_its_steps_before_the_release_starts(
    browser: Browser, admin: ApiClient
) -> None:
    quick = {"name": "Quick", "milestones": [step(10), step(100, None)]}
    id = admin.ok("POST", "/release-plan-templates", quick)["id"]
    page = browser.submit(browser.get(NEW), {"template_id": id})
    assert page.messages == ["You chose another template. Check its steps, which are shown now."]
    assert (page.fields(0)["step-0-share"], admin.ok("GET", PLANS)) == ("10", [])
    browser.submit(page)
    [found] = admin.ok("GET", PLANS)
    assert [each["name"] for each in found["milestones"]] == ["10%", "100%"]


@pytest.mark.usefixtures("feature")
def test_steps_are_added_removed_and_checked(browser: Browser, admin: ApiClient) -> None:
    page = browser.submit(browser.get(NEW), {"template_id": "", "step": "template"})
    assert page.fields(0)["step-0-share"] == "5"
    page = browser.submit(page, {"step": "add-step"})
    page = browser.submit(page, {"step-1-share": "4", "step": "check"})
    assert page.errors == ["Step 2: Enter more than 5, the share of step 1."]
    page = browser.submit(page, {"step-1-share": "50", "step": "add-step"})
    page = browser.submit(page, {"step-2-who": "everyone", "step": "remove-step-0"})
    assert page.has("50% ")
    browser.submit(page, {"advance": "hand"})
    [found] = admin.ok("GET", PLANS)
    names = [each["name"] for each in found["milestones"]]
    assert (names, found["isAutomatic"]) == (["50%", "Everyone"], False)


def test_people_hold_resume_start_and_stop_it(browser: Browser, releases: Releases) -> None:
    releases.create()
    page = browser.get(PAGE)
    assert page.has("Step 1 of 4: on for 5% of users.")
    assert page.has("Step 1 of the release sets this. Switching off stops the release.")
    page = browser.follow(browser.submit(page, form="/hold"))
    assert page.messages == ["The release of base in production is on hold."]
    page = browser.follow(browser.submit(page, form="/resume"))
    assert page.messages == ["Resumed. The waiting time of the step starts again."]
    sure = browser.get(page.links["Start 25% now…"])
    assert sure.has("Start step 2 now?")
    page = browser.follow(browser.submit(sure))
    assert page.messages == ["Step 25% started in production."]
    page = browser.follow(browser.submit(page, {"reason": "Empty results"}, form="/stop"))
    assert page.has("Stopped at step 2 of 4: off for everyone.")
    assert page.has("Stopped by boss: “Empty results”")
    assert releases.rollouts() is None
