"""Where an environment needs approvals, people approve a release with all its steps at once."""

from datetime import timedelta
from typing import Any

from flask import Flask

from app.core import clock
from app.core.clock import in_text, utcnow
from app.releases.change_requests import applying
from tests.releases.plans.conftest import STEPS, rollout, run, segment, step
from tests.support.change_requests import LIST, PROJECT, Desk
from tests.support.clients import REASON, problems_of

PLACE = f"{PROJECT}/features/card/environments/production"
PLANS = f"{PLACE}/release-plans"


def proposal(**payload: Any) -> dict[str, Any]:
    return {
        "feature": "card",
        "action": "addReleasePlan",
        "payload": {"milestones": STEPS, **payload},
    }


def applied(desk: Desk, *changes: dict[str, Any]) -> Any:
    """The release that a request started."""
    number = desk.approved(*changes)
    desk.to("Applied", number)
    return desk.kim.ok("GET", PLANS)[0]


def test_no_one_starts_one_directly(desk: Desk) -> None:
    answer = desk.kim.post(PLANS, {"milestones": STEPS, "start": True})
    assert answer.status_code == 403
    assert "need 2 approvals in production of project pay" in answer.json["message"]
    draft = desk.kim.ok("POST", PLANS, {"milestones": STEPS})
    path = f"{PLANS}/{draft['id']}/milestones/{draft['milestones'][0]['id']}/start"
    assert desk.kim.post(path).status_code == 403
    assert desk.shares() is None


def test_the_steps_of_an_approved_release_need_no_further_approval(app: Flask, desk: Desk) -> None:
    release = applied(desk, proposal())
    assert (release["state"], desk.shares()) == ("running", ["5"])
    for hours, share in ((1, "25"), (2, "50"), (3, "100")):
        run(app, timedelta(hours=hours))
        assert desk.shares() == [share]


def test_the_request_takes_the_steps_that_its_template_had(app: Flask, desk: Desk) -> None:
    body = {"name": "Short", "milestones": [step(5), step(100)]}
    template = desk.admin.ok("POST", "/release-plan-templates", body)
    change = {**proposal(), "payload": {"templateId": template["id"]}}
    number = desk.approved(change)
    desk.admin.ok("PUT", f"/release-plan-templates/{template['id']}", {"milestones": [step(100)]})
    desk.admin.ok("DELETE", f"/release-plan-templates/{template['id']}")
    desk.to("Applied", number)
    assert desk.shares() == ["5"]
    run(app, timedelta(hours=1))
    assert desk.shares() == ["100"]


def test_reviewers_see_every_step(desk: Desk) -> None:
    found = desk.read(desk.open(proposal(whenStopped="restore")))
    [outcome] = found["outcomes"]
    plan = outcome["after"]["release"]
    assert [each["name"] for each in plan["steps"]] == ["5%", "25%", "50%", "100%"]
    assert plan["steps"][1]["strategies"][0]["parameters"]["rollout"] == "25"
    assert found["title"] == "Start a release in 4 steps of card"
    [change] = found["features"][0]["changes"]
    sent = change["payload"]["milestones"][0]
    assert sent["transitionCondition"] == {"intervalMinutes": 60, "manual": False}


def test_holding_and_stopping_need_none(desk: Desk) -> None:
    release = applied(desk, proposal())
    desk.kim.ok("POST", f"{PLANS}/{release['id']}/hold", {})
    desk.kim.ok("POST", f"{PLANS}/{release['id']}/resume")
    desk.kim.ok("POST", f"{PLANS}/{release['id']}/stop", {"reason": "Empty results"})
    assert desk.shares() is None


def test_stopping_brings_back_what_was_approved_before(desk: Desk) -> None:
    desk.directly("card/environments/production/strategies", rollout(10))
    desk.directly("card/environments/production/on")
    release = applied(desk, proposal(whenStopped="restore"))
    assert desk.shares() == ["5"]
    desk.kim.ok("POST", f"{PLANS}/{release['id']}/stop", {})
    assert desk.shares() == ["10"]


def test_starting_a_step_early_needs_approvals(desk: Desk, app: Flask) -> None:
    release = applied(desk, proposal())
    second, third = (each["id"] for each in release["milestones"][1:3])
    path = f"{PLANS}/{release['id']}/milestones"
    assert desk.kim.post(f"{path}/{second}/start").status_code == 403
    assert desk.shares() == ["5"]
    early = {"planId": release["id"], "milestoneId": third}
    number = desk.approved({"feature": "card", "action": "startMilestone", "payload": early})
    desk.to("Applied", number)
    assert desk.shares() == ["50"]
    run(app, timedelta(hours=1))
    assert desk.shares() == ["100"]


def test_a_step_after_its_waiting_time_needs_none(desk: Desk) -> None:
    release = applied(desk, proposal(milestones=[step(5, 60, manual=True), step(100)]))
    path = f"{PLANS}/{release['id']}/milestones/{release['milestones'][1]['id']}/start"
    assert desk.kim.post(path).status_code == 403
    with clock.at(utcnow() + timedelta(hours=1)):
        desk.kim.ok("POST", path)
    assert desk.shares() == ["100"]


def test_a_change_of_an_approved_release_needs_approvals(desk: Desk) -> None:
    release = applied(desk, proposal())
    path = f"{PLACE}/progressions/{release['milestones'][0]['id']}"
    body = {"transitionCondition": {"intervalMinutes": 1}}
    answer = desk.kim.put(path, body)
    assert answer.status_code == 403
    assert "People approved this release with all its steps" in answer.json["message"]
    assert desk.admin.put(path, body, headers=REASON).status_code == 200


def test_a_segment_that_changes_after_the_approval_is_noticed_before_applying(
    app: Flask, desk: Desk
) -> None:
    staff = segment(desk.admin, "1")
    third = {**step(50), "strategies": [rollout(50, segments=[staff])]}
    number = desk.approved(proposal(milestones=[step(5), third]))
    body = {"constraints": [{"contextName": "userId", "operator": "IN", "values": ["2"]}]}
    desk.admin.ok("PUT", f"/segments/{staff}", body)
    assert desk.ask("Applied", number).status_code == 409
    with app.app_context():
        applying.check_outcomes()
    found = desk.read(number)
    assert (found["isOutdated"], found["state"]) == (True, "In review")
    assert desk.shares() is None


def test_a_segment_that_changes_while_it_is_under_way_holds_the_release(
    app: Flask, desk: Desk
) -> None:
    staff = segment(desk.admin, "1")
    second = {**step(50), "strategies": [rollout(50, segments=[staff])]}
    release = applied(desk, proposal(milestones=[step(5), second]))
    body = {"constraints": [{"contextName": "userId", "operator": "IN", "values": ["2"]}]}
    desk.admin.ok("PUT", f"/segments/{staff}", body)
    run(app, timedelta(hours=1))
    [found] = desk.kim.ok("GET", PLANS)
    assert found["summary"] == (
        "On hold at step 1 of 2: Step 50% would give card to other people than was approved. "
        "Something that it uses, such as a segment, has changed since."
    )
    assert desk.shares() == ["5"]
    again = {"planId": release["id"], "milestoneId": release["milestones"][1]["id"]}
    number = desk.approved({"feature": "card", "action": "startMilestone", "payload": again})
    desk.to("Applied", number)
    assert desk.shares() == ["50"]


def test_an_approved_release_can_start_at_its_time(app: Flask, desk: Desk) -> None:
    release = applied(desk, proposal(startAt="2199-01-01T09:00:00Z"))
    assert (release["state"], desk.shares()) == ("draft", None)
    run(app, timedelta(days=365 * 175))
    assert desk.shares() == ["5"]


def test_a_time_that_passed_before_it_was_applied_is_refused(desk: Desk) -> None:
    number = desk.approved(proposal(startAt="2199-01-01T09:00:00Z"))
    with clock.at(utcnow() + timedelta(days=365 * 175)):
        answer = desk.ask("Applied", number)
    assert answer.status_code == 400
    assert problems_of(answer) == {"/0/payload/startAt": "Choose a time that is still to come."}


def test_an_admin_who_gives_a_reason_starts_it_for_all_of_its_steps(app: Flask, desk: Desk) -> None:
    body = {"milestones": STEPS, "start": True}
    assert desk.admin.post(PLANS, body, headers=REASON).status_code == 201
    run(app, timedelta(hours=1))
    assert desk.shares() == ["25"]


def test_an_environment_that_gets_approvals_holds_what_was_not_approved(
    app: Flask, desk: Desk
) -> None:
    place = f"{PROJECT}/features/card/environments/development"
    desk.kim.ok("POST", f"{place}/release-plans", {"milestones": STEPS, "start": True})
    rules = [{"name": name, "requiredApprovals": 2} for name in ("development", "production")]
    desk.sofia.ok(
        "PUT",
        f"{PROJECT}/environments",
        {"environments": ["development", "production"], "changeRequestEnvironments": rules},
    )
    run(app, timedelta(hours=1))
    [found] = desk.kim.ok("GET", f"{place}/release-plans")
    assert found["state"] == "held"
    assert "need 2 approvals in development" in found["summary"]


def test_a_request_about_strategies_of_a_release_says_why_it_cannot_be_applied(
    desk: Desk,
) -> None:
    applied(desk, proposal())
    change = {"feature": "card", "action": "addStrategy", "payload": rollout(10)}
    answer = desk.kim.post(f"{PLACE}/change-requests".replace("/features/card", ""), change)
    assert answer.status_code == 409
    assert "A release decides who gets card in production" in answer.json["message"]


def test_an_applied_release_is_not_reversed_by_a_request(desk: Desk) -> None:
    number = desk.approved(proposal())
    desk.to("Applied", number)
    answer = desk.kim.post(f"{LIST}/{number}/reverse")
    assert answer.status_code == 409
    assert "Do it by hand" in answer.json["message"]


def test_a_scheduled_request_starts_the_release_at_its_time(app: Flask, desk: Desk) -> None:
    number = desk.approved(proposal())
    desk.to("Scheduled", number, scheduledAt=in_text(utcnow() + timedelta(hours=1)))
    with clock.at(utcnow() + timedelta(hours=1)), app.app_context():
        applying.apply_due()
    assert desk.shares() == ["5"]
