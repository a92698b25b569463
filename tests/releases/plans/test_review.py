"""What a release will mean is said before it starts, step by step."""

from typing import Any

import pytest
import time_machine

from tests.releases.plans.conftest import PLACE, PLANS, STEPS, Releases, rollout, step
from tests.support.browser import Browser, Page, text_of
from tests.support.clients import ApiClient

pytestmark = pytest.mark.usefixtures("feature")

PAGE = "/projects/default/features/base"
NEW = f"{PAGE}/environments/production/new-release"
NOON = "2027-03-01T12:00:00Z"
STAFF = {"contextName": "userId", "operator": "IN", "values": ["7"]}
SHOP = {"contextName": "appName", "operator": "IN", "values": ["shop"]}


def some(*strategies: Any, name: str = "Some") -> dict[str, Any]:
    """A step with these strategies."""
    return {
        "name": name,
        "strategies": [*strategies],
        "transitionCondition": {"intervalMinutes": 60},
    }


def by(stickiness: str, share: int) -> dict[str, Any]:
    parameters = {"rollout": str(share), "stickiness": stickiness}
    return {"name": "flexibleRollout", "parameters": parameters}


def review(admin: ApiClient, *steps: Any, **more: Any) -> Any:
    body = {"milestones": steps, "start": True, **more}
    return admin.ok("POST", f"{PLANS}?dryRun=true", body)["review"]


def warnings(admin: ApiClient, *steps: Any) -> list[str]:
    found: list[str] = review(admin, *steps)["warnings"]
    return found


def dates(found: Any) -> list[str | None]:
    """When each step starts, to the minute."""
    return [each["dueAt"] and each["dueAt"][:16] for each in found["steps"]]


def turn_on(admin: ApiClient, *strategies: dict[str, Any]) -> None:
    """Let the feature be on with these strategies."""
    for strategy in strategies:
        admin.ok("POST", f"{PLACE}/strategies", strategy)
    admin.ok("POST", f"{PLACE}/on")


@pytest.fixture
def staff(admin: ApiClient) -> int:
    body = {"name": "Staff", "constraints": [STAFF]}
    return int(admin.ok("POST", "/segments", body)["id"])


def aside(page: Page) -> str:
    """What the page says beside the form."""
    [found] = page.select('aside[aria-label="What will happen"]')
    return text_of(found)


def test_each_step_is_a_sentence_about_all_of_its_strategies(admin: ApiClient, staff: int) -> None:
    of_staff = rollout(100, segments=[staff])
    found = review(
        admin,
        some(of_staff),
        some(of_staff, rollout(25, constraints=[SHOP])),
        some(of_staff, rollout(50, disabled=True)),
        some(rollout(50, disabled=True)),
        some({"name": "default"}),
    )
    assert [each["says"] for each in found["steps"]] == [
        "On for everyone in segment Staff",
        (
            "On for everyone in segment Staff, or for 25% of users, by userId or sessionId, "
            "where appName is shop"
        ),
        "On for everyone in segment Staff",
        "On for no one",
        "On for everyone",
    ]


def test_dates_add_up_the_waiting_times_from_now_on(admin: ApiClient) -> None:
    steps = [step(5, 90), step(25, 24 * 60, manual=True), step(100, None)]
    with time_machine.travel(NOON, tick=False):
        found = review(admin, *steps)
    assert dates(found) == ["2027-03-01T12:00", "2027-03-01T13:30", "2027-03-02T13:30"]
    assert [each["starts"] for each in found["steps"]] == [
        "automatically",
        "automatically",
        "by hand",
    ]


def test_dates_count_from_the_time_at_which_it_starts_by_itself(admin: ApiClient) -> None:
    at = {"start": False, "startAt": "2199-01-01T09:00:00Z"}
    found = review(admin, step(5), step(100), **at)
    assert dates(found) == ["2199-01-01T09:00", "2199-01-01T10:00"]


def test_after_a_step_without_a_waiting_time_no_date_is_known(admin: ApiClient) -> None:
    found = review(admin, step(5), step(25, None), step(50), step(100))
    assert [at is None for at in dates(found)] == [False, False, True, True]
    assert [each["starts"] for each in found["steps"]][2:] == ["by hand", "automatically"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([rollout(50)], [rollout(25)]),
        ([rollout(10)], [rollout(50, constraints=[SHOP])]),
        ([rollout(10)], [rollout(50, disabled=True)]),
        ([rollout(5), rollout(100, constraints=[STAFF])], [rollout(50)]),
        ([rollout(10)], [by("userId", 50)]),
    ],
)
def test_a_step_that_may_take_the_feature_from_someone_has_a_warning(
    admin: ApiClient, one: Any, other: Any
) -> None:
    assert warnings(admin, some(*one, name="One"), some(*other, name="Other"), step(100)) == [
        "Step 2, Other, may take the feature from people who have it by step 1, One."
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([rollout(25)], [rollout(25)]),
        ([rollout(10, constraints=[STAFF])], [rollout(10)]),
        ([rollout(10, constraints=[STAFF])], [rollout(20, constraints=[STAFF])]),
        ([by("userId", 10)], [rollout(100)]),
        ([rollout(10), rollout(100, disabled=True)], [{"name": "default"}]),
        ([rollout(100, constraints=[STAFF])], [rollout(5), rollout(100, constraints=[STAFF])]),
    ],
)
def test_steps_that_only_add_people_have_none(admin: ApiClient, one: Any, other: Any) -> None:
    assert warnings(admin, some(*one), some(*other), step(100)) == []


def test_a_first_step_is_compared_with_what_is_there_now(admin: ApiClient, staff: int) -> None:
    says = "Step 1, 10%, may take the feature from people who have it by what is there now."
    admin.ok("POST", f"{PLACE}/strategies", rollout(20, segments=[staff]))
    assert warnings(admin, step(10), step(100)) == []
    admin.ok("POST", f"{PLACE}/on")
    assert warnings(admin, step(10), step(100)) == [says]
    assert warnings(admin, step(20), step(100)) == []


def test_people_are_those_who_get_it_first_at_a_step_with_the_reason(
    admin: ApiClient, staff: int
) -> None:
    of_staff = rollout(100, segments=[staff])
    found = review(admin, some(of_staff), some(of_staff, rollout(30)), step(100))["people"]
    assert [each["step"] for each in found] == [1, 2, 3]
    assert (found[0]["person"], found[0]["why"]) == ("userId 7", "in segment Staff")
    falls = int(found[1]["why"].removeprefix("at ").removesuffix(" of 100"))
    assert falls <= 30
    assert found[2]["why"] == "everyone gets it"


def test_someone_whom_no_step_reaches_is_among_the_people(admin: ApiClient) -> None:
    *_, last = review(admin, step(5), step(25))["people"]
    assert (last["step"], last["why"]) == (None, "not in any step")


def test_the_page_says_the_same_as_the_form_is_now(browser: Browser, admin: ApiClient) -> None:
    with time_machine.travel(NOON, tick=False):
        page = browser.sign_in("boss").get(NEW)
        page = browser.submit(page, {"template_id": "", "step": "template"})
        page = browser.submit(page, {"step": "add-step", "advance": "automatic", "last": None})
        page = browser.submit(page, {"step-1-share": "30", "step": "check"})
        found = review(admin, step(5, 24 * 60), step(30, None))
        wrong = browser.submit(page, {"step-1-share": "", "step": "check"})
    says = aside(page)
    assert "If it starts now: 5% 1 Mar 2027, 12:00 UTC On for 5% of users" in says
    assert "30% 2 Mar 2027, 12:00 UTC On for 30% of users" in says
    for one in found["people"]:
        when = f"Step {one['step']}" if one["step"] else "Never"
        assert f"{one['person']} {when}: {one['why']}" in says
    assert aside(wrong) == "What will happen Correct the form to see what each step will mean."


def test_while_a_share_shrinks_nothing_is_promised(browser: Browser) -> None:
    page = browser.sign_in("boss").get(NEW)
    sent = {**page.fields(0), "step-3-share": "4"}
    assert "Correct the form" in browser.post(f"{NEW}/review", sent).text
    assert "Correct the form" in aside(browser.submit(page, {"step-3-share": "4", "step": "check"}))


def test_the_page_warns_before_the_release_takes_the_feature_from_someone(
    browser: Browser, admin: ApiClient
) -> None:
    warning = "Step 1, 5%, may take the feature from people who have it by what is there now."
    page = browser.submit(browser.get(NEW), {"template_id": "", "step": "template"})
    assert warning not in aside(page)
    turn_on(admin, rollout(20))
    assert warning in aside(browser.submit(page, {"step": "check"}))


def test_a_draft_that_someone_starts_has_no_dates(
    browser: Browser, releases: Releases, admin: ApiClient
) -> None:
    releases.create(step(5), step(25), step(100), start=False)
    rungs = [text_of(each) for each in browser.get(PAGE).select(".rung__when")]
    assert rungs == [
        "Someone starts it",
        "Starts automatically, after 1 hour",
        "Starts automatically, after 1 hour",
    ]
    [found] = admin.ok("GET", "/releases")["releases"]
    assert (found["summary"], found["nextAt"]) == ("Not started.", None)


def test_a_draft_that_was_left_says_that_it_never_started(
    browser: Browser, releases: Releases, admin: ApiClient
) -> None:
    releases.create(start=False)
    admin.ok("DELETE", f"{PLANS}/{releases.id}")
    assert releases.read()["summary"] == "Left before it started."
    page = browser.get(f"{PAGE}/environments/production/releases/{releases.id}")
    assert page.has("Left before it started.")
    stages = [text_of(each) for each in page.select(".rung__word")]
    assert stages == ["Never started"] * len(STEPS)
    assert browser.get("/releases/ended").has("base default, production Left before it started")
