"""A feature goes through the steps of a release."""

import pytest

from tests.releases.plans.conftest import PLACE, PLANS, STEPS, Releases, rollout, step
from tests.support.clients import ApiClient


def test_the_first_step_switches_the_feature_on(releases: Releases) -> None:
    found = releases.create()
    assert found["state"] == "running"
    assert found["activeMilestoneId"] == found["milestones"][0]["id"]
    assert releases.rollouts() == ["5"]


def test_a_step_starts_when_its_waiting_time_is_over(releases: Releases) -> None:
    releases.create()
    assert releases.wait(minutes=59)["summary"] == "Step 1 of 4: on for 5% of users."
    assert releases.wait(minutes=1)["summary"] == "Step 2 of 4: on for 25% of users."
    assert releases.rollouts() == ["25"]


def test_the_release_is_done_with_its_last_step(releases: Releases) -> None:
    releases.create(step(5), step(100, None))
    found = releases.wait(hours=1)
    assert (found["state"], releases.rollouts()) == ("done", ["100"])
    assert found["summary"] == "Done: on for everyone."


def test_after_an_outage_no_step_is_left_out_and_each_waits_its_whole_time(
    releases: Releases,
) -> None:
    releases.create()
    releases.wait(days=2)
    assert releases.wait(minutes=0)["summary"] == "Step 2 of 4: on for 25% of users."
    assert releases.wait(minutes=59)["summary"] == "Step 2 of 4: on for 25% of users."
    assert releases.wait(minutes=1)["summary"] == "Step 3 of 4: on for 50% of users."


def test_a_step_that_someone_starts_waits_for_them(releases: Releases) -> None:
    found = releases.create(step(5, 60, manual=True), step(100))
    assert releases.wait(days=1)["summary"].startswith("Step 1 of 2")
    releases.act(f"milestones/{found['milestones'][1]['id']}/start")
    assert releases.rollouts() == ["100"]


def test_a_draft_starts_when_someone_starts_its_first_step(releases: Releases) -> None:
    found = releases.create(start=False)
    assert (found["state"], releases.rollouts()) == ("draft", None)
    releases.act(f"milestones/{found['milestones'][0]['id']}/start")
    assert releases.rollouts() == ["5"]


def test_a_draft_starts_by_itself_at_its_time(releases: Releases) -> None:
    releases.create(start=False, startAt="2199-01-01T09:00:00Z")
    assert releases.wait(days=1)["state"] == "draft"
    assert releases.wait(days=365 * 174)["state"] == "running"


def test_no_step_starts_while_the_release_is_on_hold(releases: Releases) -> None:
    releases.create()
    held = releases.act("hold", reason="Support is short today")
    assert held["summary"] == "On hold at step 1 of 4: Support is short today"
    assert releases.wait(days=1)["state"] == "held"
    assert releases.rollouts() == ["5"]


def test_after_a_hold_the_waiting_time_starts_again(releases: Releases) -> None:
    releases.create()
    releases.wait(minutes=30)
    releases.act("hold")
    releases.wait(minutes=30)
    releases.act("resume")
    assert releases.wait(minutes=59)["summary"].startswith("Step 1")
    assert releases.wait(minutes=1)["summary"].startswith("Step 2")


def test_stopping_switches_the_feature_off(releases: Releases) -> None:
    releases.create()
    found = releases.act("stop", reason="Empty results")
    assert (found["state"], found["reason"]) == ("stopped", "Empty results")
    assert releases.rollouts() is None
    assert releases.wait(days=1)["state"] == "stopped"


def test_stopping_can_bring_back_the_former_strategies(
    releases: Releases, admin: ApiClient
) -> None:
    admin.ok("POST", f"{PLACE}/strategies", rollout(10))
    admin.ok("POST", f"{PLACE}/on")
    releases.create(whenStopped="restore")
    assert releases.rollouts() == ["5"]
    releases.act("stop")
    assert releases.rollouts() == ["10"]


def test_leaving_changes_nothing_for_applications(releases: Releases, admin: ApiClient) -> None:
    releases.create()
    admin.ok("DELETE", f"{PLANS}/{releases.id}")
    assert releases.rollouts() == ["5"]
    assert releases.wait(days=1)["summary"] == "Left at step 1 of 4: on for 5% of users."
    admin.ok("POST", f"{PLACE}/strategies", rollout(10))


def test_a_feature_has_one_open_release_in_an_environment(
    releases: Releases, admin: ApiClient
) -> None:
    releases.create()
    refusal = admin.post(PLANS, {"milestones": STEPS})
    assert refusal.status_code == 409
    assert refusal.json["message"] == (
        "base already has a release in production, base, at step 1. Stop it or leave it first."
    )
    releases.act("stop")
    releases.create()


def test_no_step_goes_back(releases: Releases) -> None:
    first, *_ = releases.create()["milestones"]
    releases.wait(hours=1)
    refusal = releases.act(f"milestones/{first['id']}/start", 409)
    assert "Only a later step can start" in refusal["message"]


@pytest.mark.parametrize("act", ["hold", "resume", "stop"])
def test_a_release_that_is_over_can_do_nothing_more(releases: Releases, act: str) -> None:
    releases.create()
    releases.act("stop")
    assert "is over: stopped" in releases.act(act, 409)["message"]


def test_what_changes_a_waiting_time_counts_from_the_start_of_the_step(
    releases: Releases, admin: ApiClient
) -> None:
    first, second, third, _ = releases.create()["milestones"]
    releases.wait(minutes=30)
    body = {"targetMilestone": third["id"], "transitionCondition": {"intervalMinutes": 40}}
    admin.ok("PUT", f"{PLACE}/progressions/{first['id']}", body)
    found = releases.wait(minutes=10)
    assert found["summary"] == "Step 3 of 4: on for 50% of users."
    assert found["milestones"][1]["startedAt"] is None
    admin.ok("DELETE", f"{PLACE}/progressions/{third['id']}")
    assert releases.wait(days=1)["summary"].startswith("Step 3")
    refusal = admin.delete(f"{PLACE}/progressions/{second['id']}")
    assert refusal.json["message"] == "Step 2 is over. Change the present step or a later one."
