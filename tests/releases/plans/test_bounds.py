"""What can’t be a release is refused by name, and nothing is changed."""

from typing import Any

import pytest

from tests.releases.plans.conftest import FEATURES, PLACE, PLANS, STEPS, Releases, rollout, step
from tests.support.clients import ApiClient, problems_of

UNKNOWN = "6c3f7f52-0000-0000-0000-000000000000"


@pytest.mark.usefixtures("feature")
@pytest.mark.parametrize(
    ("body", "path", "message"),
    [
        ({}, "/templateId", "Name a template, or send milestones."),
        ({"milestones": []}, "/milestones", "Send 1 to 30 steps."),
        (
            {"milestones": [{"name": "All", "strategies": []}]},
            "/milestones/0/strategies",
            "A step needs 1 to 30 strategies: they say who gets the feature.",
        ),
        (
            {"milestones": [{**step(5), "transitionCondition": {"intervalMinutes": 0}}]},
            "/milestones/0/transitionCondition/intervalMinutes",
            "Must lie between 1 and 527040.",
        ),
        (
            {"milestones": [{**step(5), "transitionCondition": {}}]},
            "/milestones/0/transitionCondition/intervalMinutes",
            "This field is required.",
        ),
        (
            {"milestones": [{**step(5), "colour": "red"}]},
            "/milestones/0/colour",
            "Unknown field.",
        ),
        (
            {"milestones": [step(5), {"name": "All", "strategies": [rollout(100, segments=[9])]}]},
            "/milestones/1/strategies/0/segments/0",
            "Project default has no segment with the id 9.",
        ),
        (
            {"templateId": UNKNOWN},
            "/templateId",
            f"There is no release template with the id {UNKNOWN} here.",
        ),
        (
            {"milestones": STEPS, "startAt": "2001-01-01T00:00:00Z"},
            "/startAt",
            "Choose a time that is still to come.",
        ),
        (
            {"milestones": STEPS, "start": True, "startAt": "2199-01-01T00:00:00Z"},
            "/startAt",
            "Send start or startAt, not both.",
        ),
        (
            {"milestones": STEPS, "whenStopped": "pause"},
            "/whenStopped",
            "Send “off” or “restore”.",
        ),
    ],
)
def test_a_release_that_cannot_be(admin: ApiClient, body: Any, path: str, message: str) -> None:
    assert problems_of(admin.post(PLANS, body)) == {path: message}
    assert admin.ok("GET", PLANS) == []


def test_an_archived_feature(releases: Releases, admin: ApiClient) -> None:
    admin.ok("DELETE", f"{FEATURES}/base")
    answer = admin.post(PLANS, {"milestones": STEPS})
    assert answer.json["message"] == "base is archived. Revive it before you change it."


def test_an_environment_that_the_project_left(releases: Releases, admin: ApiClient) -> None:
    found = releases.create(start=False)
    admin.ok("PUT", "/projects/default/environments", {"environments": ["development"]})
    refusal = "Project default does not use an environment named production."
    assert admin.post(PLANS, {"milestones": STEPS}).json["message"] == refusal
    step = found["milestones"][0]["id"]
    assert releases.act(f"milestones/{step}/start", 404)["message"] == refusal


def test_a_target_that_is_no_later_step(releases: Releases, admin: ApiClient) -> None:
    first, second, *_ = releases.create()["milestones"]
    body = {"targetMilestone": first["id"], "transitionCondition": {"intervalMinutes": 5}}
    answer = admin.put(f"{PLACE}/progressions/{second['id']}", body)
    assert problems_of(answer) == {"/targetMilestone": "Name a step after step 2."}


def test_a_step_on_hold_does_not_start(releases: Releases) -> None:
    _, second, *_ = releases.create()["milestones"]
    releases.act("hold")
    refusal = releases.act(f"milestones/{second['id']}/start", 409)
    assert refusal["message"] == ("The release of base in production is on hold. Resume it first.")


def test_a_dry_run_says_what_each_step_will_mean_and_changes_nothing(
    admin: ApiClient, feature: None
) -> None:
    staff = {"contextName": "userId", "operator": "IN", "values": ["7"]}
    first = {
        "name": "Staff",
        "strategies": [rollout(100, constraints=[staff])],
        "transitionCondition": {"intervalMinutes": 60},
    }
    body = {"milestones": [first, step(25, manual=True), step(100)], "start": True}
    found = admin.ok("POST", f"{PLANS}?dryRun=true", body)
    review = found["review"]
    assert [(each["says"], each["starts"]) for each in review["steps"]] == [
        ("On for everyone where userId is 7", "automatically"),
        ("On for 25% of users, by userId or sessionId", "automatically"),
        ("On for everyone", "by hand"),
    ]
    assert [person["step"] for person in review["people"]] == [1, 2, 3]
    assert review["people"][0]["person"] == "userId 7"
    assert review["warnings"] == [
        "Step 2, 25%, may take the feature from people who have it by step 1, Staff."
    ]
    assert admin.ok("GET", PLANS) == []
    assert admin.ok("GET", PLACE)["enabled"] is False
