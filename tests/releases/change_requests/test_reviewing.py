"""Approving, rejecting, applying and scheduling: who may, when it counts, and what it needs."""

from datetime import timedelta

import pytest

from app.core import clock
from app.core.clock import utcnow
from app.releases.change_requests import applying
from tests.support.browser import Browser
from tests.support.change_requests import LIST, PLACE, PROJECT, rollout, switching
from tests.support.clients import REASON, ApiClient, error_of, problems_of

pytestmark = pytest.mark.slow


@pytest.fixture
def later(app):
    """Lets the schedules be looked at some time later."""

    def apply_due(seconds):
        with app.app_context(), clock.at(utcnow() + timedelta(seconds=seconds)):
            return applying.apply_due()

    return apply_due


def in_seconds(seconds):
    return (utcnow() + timedelta(seconds=seconds)).isoformat()


def kinds(request):
    return [step["kind"] for step in request["history"]]


def test_as_many_people_as_it_takes_approve_and_then_it_is_applied_at_once(desk):
    number = desk.open(switching("card", on=True), switching("tips", on=True))
    assert desk.read(number, by=desk.finn)["state"] == "In review"
    assert desk.to("Approved", number, by=desk.finn)["state"] == "In review"
    assert error_of(desk.ask("Applied", number)) == (409, "ConflictError")
    assert desk.to("Approved", number, by=desk.sofia)["state"] == "Approved"
    assert not desk.feature()["enabled"]
    applied = desk.to("Applied", number)
    assert applied["state"] == "Applied"
    assert desk.feature("card")["enabled"]
    assert desk.feature("tips")["enabled"]
    assert kinds(applied) == ["opened", "approved", "approved", "applied"]
    assert [each["createdBy"]["username"] for each in applied["approvals"]] == ["finn", "sofia"]


def test_everything_that_applying_did_is_one_batch_of_events(desk):
    number = desk.approved(switching("card", on=True))
    desk.to("Applied", number)
    [applied] = desk.recorded("change-request-applied")
    events = desk.admin.ok("GET", "/events")["events"]
    batch = [event for event in events if event["batchId"] == applied["batchId"]]
    assert {event["type"] for event in batch} == {
        "feature-strategy-added",
        "feature-environment-enabled",
        "change-request-applied",
    }
    assert applied["data"]["approvedBy"] == ["finn", "sofia"]
    assert {event["createdBy"] for event in batch} == {"kim"}


def test_authors_cannot_approve_what_they_propose_not_even_admins(desk):
    number = desk.open(switching("card", on=True))
    answer = desk.ask("Approved", number)
    assert error_of(answer) == (403, "NoAccessError")
    assert "someone else has to approve" in answer.json["message"]
    own = desk.open(switching("tips", on=True), by=desk.admin)
    assert desk.ask("Approved", own, by=desk.admin).status_code == 403
    desk.to("Approved", number, by=desk.admin)


def test_only_people_of_the_project_and_admins_approve(desk, people):
    number = desk.open(switching("card", on=True))
    stranger = people.client("noa", role="Editor")
    answer = desk.ask("Approved", number, by=stranger)
    assert error_of(answer) == (403, "NoAccessError")
    assert "APPROVE_CHANGE_REQUEST" in answer.json["message"]
    robot_id = people.service_account("robot", role="Admin")
    robot = type(stranger)(people.app, people.token(robot_id))
    assert "Only people" in desk.ask("Approved", number, by=robot).json["message"]


def test_a_second_approval_of_the_same_person_does_not_count(desk):
    number = desk.open(switching("card", on=True))
    for _ in range(2):
        found = desk.to("Approved", number, by=desk.finn)
    assert (found["state"], len(found["approvals"])) == ("In review", 1)
    assert kinds(found) == ["opened", "approved"]


def test_an_approval_counts_only_while_its_giver_could_still_give_it(desk):
    number = desk.approved(switching("card", on=True))
    finn = next(
        each["createdBy"]["id"]
        for each in desk.read(number)["approvals"]
        if each["createdBy"]["username"] == "finn"
    )
    desk.admin.ok("DELETE", f"/user-admin/{finn}")
    found = desk.read(number)
    assert (found["state"], len(found["approvals"])) == ("In review", 1)
    assert "needs 1 more approval" in desk.ask("Applied", number).json["message"]


def test_an_approval_of_a_former_member_counts_in_no_list(desk, people):
    number = desk.approved(switching("card", on=True))
    finn = desk.finn.ok("GET", "/user")["user"]["id"]
    desk.admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    people.join(finn, "shop", "Owner")  # of another project, in which something is proposed as well
    rule = [{"name": "production", "requiredApprovals": 1}]
    body = {"environments": ["production"], "changeRequestEnvironments": rule}
    desk.admin.ok("PUT", "/projects/shop/environments", body)
    desk.admin.ok("POST", "/projects/shop/features", {"name": "till"})
    place = "/projects/shop/environments/production/change-requests"
    desk.finn.ok("POST", place, [switching("till", on=True)])
    assert listed_as("Approved", desk) == [number]
    desk.admin.ok("DELETE", f"{PROJECT}/access/{finn}")
    assert listed_as("Approved", desk) == []
    assert listed_as("In review", desk) == [number]
    page = Browser(desk.admin.app).sign_in("rosa").get("/projects/pay/features/card")
    assert page.has("needs 1 more approval")


def listed_as(state, desk):
    found = desk.kim.ok("GET", f"{LIST}?state={state}")
    return [each["id"] for each in found["changeRequests"]]


def test_after_an_edit_no_approval_counts(desk):
    number = desk.approved({"feature": "card", "action": "addStrategy", "payload": rollout(10)})
    change = desk.read(number)["features"][0]["changes"][0]["id"]
    body = {"feature": "card", "action": "addStrategy", "payload": rollout(90)}
    found = desk.kim.ok("PUT", f"{LIST}/{number}/changes/{change}", body)
    assert (found["state"], found["approvals"]) == ("In review", [])
    answer = desk.finn.put(f"{LIST}/{number}/changes/{change}", body)
    assert error_of(answer) == (403, "NoAccessError")


def test_approving_an_older_version_than_the_present_one_is_refused(desk):
    number = desk.open({"feature": "card", "action": "addStrategy", "payload": rollout(10)})
    seen = desk.read(number, by=desk.finn)["version"]
    change = desk.read(number)["features"][0]["changes"][0]["id"]
    body = {"feature": "card", "action": "addStrategy", "payload": rollout(90)}
    desk.kim.ok("PUT", f"{LIST}/{number}/changes/{change}", body)
    answer = desk.ask("Approved", number, by=desk.finn, version=seen)
    assert error_of(answer) == (412, "PreconditionFailedError")
    assert desk.read(number)["approvals"] == []


def test_an_approval_can_be_withdrawn(desk):
    number = desk.approved(switching("card", on=True))
    found = desk.to("In review", number, by=desk.finn)
    assert (found["state"], len(found["approvals"])) == ("In review", 1)
    assert desk.ask("In review", number, by=desk.finn).status_code == 409


def test_rejecting_needs_a_reason_and_closes_it(desk):
    number = desk.open(switching("card", on=True))
    assert list(problems_of(desk.ask("Rejected", number, by=desk.finn))) == ["/comment"]
    found = desk.to("Rejected", number, by=desk.finn, comment="Not before Monday")
    assert found["state"] == "Rejected"
    assert found["rejections"][0]["text"] == "Not before Monday"
    for state in ("Approved", "Applied", "Draft", "Cancelled"):
        assert error_of(desk.ask(state, number)) == (409, "ConflictError")


def test_its_author_or_an_admin_cancels_it_and_no_one_else(desk):
    number = desk.open(switching("card", on=True))
    assert desk.ask("Cancelled", number, by=desk.finn).status_code == 403
    assert desk.to("Cancelled", number)["state"] == "Cancelled"
    other = desk.open(switching("card", on=True))
    assert desk.to("Cancelled", other, by=desk.admin)["state"] == "Cancelled"


def test_its_author_makes_it_a_draft_again_even_beside_another(desk):
    number = desk.approved(switching("card", on=True))
    assert desk.ask("Draft", number, by=desk.finn).status_code == 403
    other = desk.draft(switching("tips", on=True))["id"]
    assert desk.to("Draft", number)["approvals"] == []
    assert desk.finn.get(f"{LIST}/{number}").status_code == 404
    strategy = {"feature": "tips", "action": "addStrategy", "payload": rollout(5)}
    assert desk.draft(strategy)["id"] == other


def test_people_who_may_approve_may_apply_and_no_one_else(desk, people):
    number = desk.approved(switching("card", on=True))
    stranger = people.client("noa")
    answer = desk.ask("Applied", number, by=stranger)
    assert "APPLY_CHANGE_REQUEST" in answer.json["message"]
    desk.to("Applied", number, by=desk.rosa)


def test_a_plan_says_what_applying_would_do_and_changes_nothing(desk):
    number = desk.open(switching("card", on=True))
    plan = desk.kim.ok("POST", f"{LIST}/{number}/plan")
    assert not plan["canBeApplied"]
    assert plan["obstacles"] == [f"Change request {number} needs 2 more approvals first."]
    [change] = plan["changes"]
    assert (change["before"]["enabled"], change["after"]["enabled"]) == (False, True)
    assert not desk.feature()["enabled"]


def test_if_one_change_fails_none_is_made(desk):
    number = desk.approved(switching("tips", on=True), switching("card", on=True))
    desk.admin.ok("POST", f"{PROJECT}/archive", {"features": ["card"]})
    answer = desk.ask("Applied", number)
    assert error_of(answer) == (409, "ConflictError")
    assert not desk.feature("tips")["enabled"]
    assert desk.read(number)["state"] == "Approved"


def test_it_is_applied_at_its_time_in_the_name_of_who_scheduled_it(desk, later):
    number = desk.approved(switching("card", on=True))
    found = desk.to("Scheduled", number, scheduledAt=in_seconds(60))
    assert (found["state"], found["schedule"]["status"]) == ("Scheduled", "pending")
    assert later(30) == 0
    assert later(70) == 1
    assert later(70) == 0
    assert desk.read(number)["state"] == "Applied"
    [event] = desk.recorded("change-request-applied")
    assert event["createdBy"] == "kim"
    assert desk.feature()["enabled"]


@pytest.mark.parametrize("at", [None, -5, 400 * 86_400])
def test_a_schedule_needs_a_time_that_is_to_come(desk, at):
    number = desk.approved(switching("card", on=True))
    given = {} if at is None else {"scheduledAt": in_seconds(at)}
    answer = desk.ask("Scheduled", number, **given)
    assert list(problems_of(answer)) == ["/scheduledAt"]


def test_what_cannot_be_applied_at_its_time_says_why_and_is_not_tried_again(desk, later):
    number = desk.approved(switching("card", on=True))
    desk.to("Scheduled", number, scheduledAt=in_seconds(60))
    rules = {"changeRequestsEnabled": True, "requiredApprovals": 3}
    desk.admin.ok("PUT", f"{PLACE}/config", rules)
    assert later(70) == 1
    assert later(80) == 0
    found = desk.read(number)
    assert (found["state"], found["schedule"]["status"]) == ("Scheduled", "failed")
    assert "needs 1 more approval" in found["schedule"]["reason"]
    [event] = desk.recorded("change-request-failed")
    assert event["data"]["comment"] == found["schedule"]["reason"]
    assert not desk.feature()["enabled"]


def test_a_schedule_can_be_moved_and_ended(desk, later):
    number = desk.approved(switching("card", on=True))
    desk.to("Scheduled", number, scheduledAt=in_seconds(60))
    desk.to("Scheduled", number, scheduledAt=in_seconds(600))
    assert later(100) == 0
    found = desk.to("Approved", number)
    assert (found["state"], found["schedule"]) == ("Approved", None)
    assert later(700) == 0


def test_withdrawing_an_approval_ends_a_schedule_that_needs_it(desk, later):
    number = desk.approved(switching("card", on=True))
    desk.to("Scheduled", number, scheduledAt=in_seconds(60))
    assert desk.to("In review", number, by=desk.finn)["state"] == "In review"
    assert later(70) == 0


def test_raising_and_lowering_approvals_holds_for_what_is_not_applied_yet(desk):
    number = desk.approved(switching("card", on=True))
    config = f"{PLACE}/config"
    desk.admin.ok("PUT", config, {"changeRequestsEnabled": True, "requiredApprovals": 3})
    assert desk.read(number)["state"] == "In review"
    one = {"changeRequestsEnabled": True, "requiredApprovals": 1}
    desk.admin.ok("PUT", config, one, headers=REASON)
    assert desk.read(number)["state"] == "Approved"
    [lowered] = desk.recorded("approvals-lowered")
    assert (lowered["preData"]["requiredApprovals"], lowered["data"]["requiredApprovals"]) == (3, 1)


def test_turning_approvals_off_leaves_approved_ones_applicable(desk):
    number = desk.approved(switching("card", on=True))
    off = {"changeRequestsEnabled": False}
    desk.admin.ok("PUT", f"{PLACE}/config", off, headers=REASON)
    desk.to("Applied", number)
    assert desk.feature()["enabled"]


def test_what_someone_has_already_done_directly_changes_nothing_more(desk):
    number = desk.approved(switching("card", on=True))
    desk.directly("card/environments/production/on")
    strategies = desk.feature()["strategies"]
    desk.to("Applied", number)
    assert desk.feature()["strategies"] == strategies


def test_the_history_of_a_feature_names_the_request_its_author_and_its_approvers(desk):
    number = desk.approved(switching("card", on=True))
    answer = desk.kim.put(
        f"{LIST}/{number}/state", {"state": "Applied"}, headers={"X-Reason": "The shop is ready"}
    )
    assert answer.status_code == 200
    [event] = desk.admin.ok("GET", "/events?type=feature-environment-enabled")["events"]
    by = f"Change request {number} by kim, approved by finn and sofia"
    assert (event["createdBy"], event["reason"]) == ("kim", f"{by}: The shop is ready")


def test_an_applied_request_offers_its_inverse(desk):
    id = desk.directly("card/environments/production/strategies", rollout(25))["id"]
    update = {"id": id, "parameters": {"rollout": "40"}}
    number = desk.approved(
        {"feature": "card", "action": "updateStrategy", "payload": update},
        {"feature": "card", "action": "addStrategy", "payload": rollout(5, title="B")},
        switching("card", on=True),
    )
    before = desk.feature()
    desk.to("Applied", number)
    draft = desk.sofia.ok("POST", f"{LIST}/{number}/reverse")
    assert (draft["state"], draft["reverses"]) == ("Draft", number)
    desk.to("In review", draft["id"], by=desk.sofia)
    for person in (desk.finn, desk.kim):
        desk.to("Approved", draft["id"], by=person)
    desk.to("Applied", draft["id"], by=desk.finn)
    assert desk.feature() == before


def test_what_was_not_applied_cannot_be_reversed(desk):
    number = desk.open(switching("card", on=True))
    assert error_of(desk.kim.post(f"{LIST}/{number}/reverse")) == (409, "ConflictError")


def test_comments_reach_everyone_who_sees_it(desk):
    number = desk.open(switching("card", on=True))
    desk.finn.ok("POST", f"{LIST}/{number}/comments", {"text": "Support has the texts."})
    [said] = desk.read(number)["comments"]
    assert (said["text"], said["createdBy"]["username"]) == ("Support has the texts.", "finn")


def test_reviewers_are_people_who_can_approve(desk):
    number = desk.open(switching("card", on=True))
    path = f"{LIST}/available-reviewers/production"
    able = {each["username"]: each["id"] for each in desk.kim.ok("GET", path)}
    assert {"kim", "finn", "sofia", "rosa"} <= set(able)
    desk.kim.ok("PUT", f"{LIST}/{number}/approvers", {"reviewers": [able["finn"]]})
    assert [each["username"] for each in desk.read(number)["reviewers"]] == ["finn"]
    answer = desk.kim.put(f"{LIST}/{number}/approvers", {"reviewers": [able["kim"], 999]})
    assert list(problems_of(answer)) == ["/reviewers/0", "/reviewers/1"]


def test_lists_say_what_waits_for_whom(desk):
    waiting = desk.open(switching("card", on=True))
    ready = desk.approved(switching("tips", on=True))
    mine = f"{LIST}?waitsFor=approval"
    assert [each["id"] for each in desk.rosa.ok("GET", mine)["changeRequests"]] == [waiting]
    assert desk.kim.ok("GET", mine)["total"] == 0
    applicable = desk.kim.ok("GET", "/search/change-requests?waitsFor=applying")
    assert [each["id"] for each in applicable["changeRequests"]] == [ready]
    for state, number in (("In%20review", waiting), ("Approved", ready)):
        found = desk.rosa.ok("GET", f"{LIST}?state={state}")["changeRequests"]
        assert [each["id"] for each in found] == [number]
    counted = desk.kim.ok("GET", f"{LIST}/count")
    assert (counted["total"], counted["reviewRequired"], counted["approved"]) == (2, 1, 1)
    pending = desk.kim.ok("GET", f"{LIST}/pending/tips")["changeRequests"]
    assert [each["id"] for each in pending] == [ready]
    assert desk.kim.ok("GET", f"{LIST}?text=tips")["total"] == 1
    assert desk.kim.ok("GET", f"{LIST}?text={waiting}")["total"] == 1


def test_configuration_is_read_by_environment(desk):
    found = {each["environment"]: each for each in desk.kim.ok("GET", f"{LIST}/config")}
    assert found["production"]["requiredApprovals"] == 2
    assert found["development"]["changeRequestEnabled"] is False


def test_people_who_cannot_see_the_project_see_no_change_request(desk, people):
    number = desk.open(switching("card", on=True))
    desk.admin.ok("PUT", PROJECT, {"mode": "private", "name": "Pay"})
    stranger = people.client("noa")
    assert stranger.get(f"{LIST}/{number}").status_code == 404
    assert stranger.ok("GET", "/search/change-requests")["total"] == 0


def test_a_direct_change_is_refused_with_how_to_propose_it(desk):
    answer = desk.kim.post(f"{PROJECT}/features/card/environments/production/on")
    assert error_of(answer) == (403, "NoAccessError")
    message = answer.json["message"]
    assert "2 approvals in production of project pay" in message
    assert f"POST /api/admin{PLACE}" in message


def test_an_admin_with_a_reason_changes_it_directly_and_the_log_marks_it(desk):
    desk.directly("card/environments/production/on")
    [event] = desk.recorded("change-request-bypassed")
    assert event["reason"] == "The shop is down"


def test_a_feature_that_was_switched_on_without_a_strategy_is_switched_off_again(desk):
    before = desk.feature()
    number = desk.approved(switching("card", on=True))
    desk.to("Applied", number)
    assert len(desk.feature()["strategies"]) == 1
    draft = desk.finn.ok("POST", f"{LIST}/{number}/reverse")["id"]
    desk.to("In review", draft, by=desk.finn)
    for person in (desk.kim, desk.sofia):
        desk.to("Approved", draft, by=person)
    desk.to("Applied", draft)
    assert desk.feature() == before


def test_several_changes_of_one_feature_are_reversed_as_one(desk):
    id = desk.directly("card/environments/production/strategies", rollout(25))["id"]
    desk.directly("card/environments/production/on")
    before = desk.feature()
    number = desk.approved(
        {"feature": "card", "action": "addStrategy", "payload": rollout(5, title="B")},
        {"feature": "card", "action": "deleteStrategy", "payload": {"id": id}},
        switching("card", on=False),
    )
    desk.to("Applied", number)
    draft = desk.finn.ok("POST", f"{LIST}/{number}/reverse")
    actions = [change["action"] for change in draft["features"][0]["changes"]]
    assert sorted(actions) == ["addStrategy", "deleteStrategy", "updateEnabled"]
    desk.to("In review", draft["id"], by=desk.finn)
    for person in (desk.kim, desk.sofia):
        desk.to("Approved", draft["id"], by=person)
    desk.to("Applied", draft["id"])
    assert desk.feature() == before


def test_what_was_reversed_already_cannot_be_reversed_again(desk):
    id = desk.directly("card/environments/production/strategies", rollout(25))["id"]
    gone = {"feature": "card", "action": "deleteStrategy", "payload": {"id": id}}
    number = desk.approved(gone)
    desk.to("Applied", number)
    drafts = [desk.finn.ok("POST", f"{LIST}/{number}/reverse")["id"]]
    drafts.append(desk.sofia.ok("POST", f"{LIST}/{number}/reverse")["id"])
    for draft, author in zip(drafts, (desk.finn, desk.sofia), strict=True):
        desk.to("In review", draft, by=author)
        for person in (desk.kim, desk.rosa):
            desk.to("Approved", draft, by=person)
    desk.to("Applied", drafts[0])
    assert error_of(desk.ask("Applied", drafts[1])) == (409, "ConflictError")
    assert error_of(desk.rosa.post(f"{LIST}/{number}/reverse")) == (409, "ConflictError")
    assert [each["id"] for each in desk.feature()["strategies"]] == [id]


def test_who_created_a_token_of_the_author_cannot_approve(app, desk, people):
    boss = people.client("boss", role="Admin")
    made = boss.ok("POST", "/service-account", {"name": "CI", "username": "ci", "rootRole": 3})
    boss.ok("POST", f"{PROJECT}/access", {"id": made["id"], "roleId": 5})
    path = f"/service-account/{made['id']}/token"
    secret = boss.ok("POST", path, {"description": "CI"})["secret"]
    number = desk.open(switching("card", on=True), by=ApiClient(app, secret))
    refused = desk.ask("Approved", number, by=boss)
    assert error_of(refused) == (403, "NoAccessError")
    assert "You created a token of ci" in refused.json["message"]
    page = Browser(app).sign_in("boss").get(f"/projects/pay/change-requests/{number}")
    assert page.has("You created a token of CI, who proposed this")
    assert "approve" not in [each.attributes.get("value") for each in page.select("button")]
    for person in (desk.finn, desk.sofia):
        desk.to("Approved", number, by=person)
    assert desk.to("Applied", number, by=desk.finn)["state"] == "Applied"


def test_who_created_a_token_that_is_revoked_can_approve(app, desk, people):
    boss = people.client("boss", role="Admin")
    made = boss.ok("POST", "/service-account", {"name": "CI", "username": "ci", "rootRole": 3})
    boss.ok("POST", f"{PROJECT}/access", {"id": made["id"], "roleId": 5})
    path = f"/service-account/{made['id']}/token"
    token = boss.ok("POST", path, {"description": "CI"})
    number = desk.open(switching("card", on=True), by=ApiClient(app, token["secret"]))
    assert boss.delete(f"{path}/{token['id']}").status_code == 200
    desk.to("Approved", number, by=boss)


def test_who_created_a_token_of_one_author_still_approves_what_others_propose(app, desk, people):
    boss = people.client("boss", role="Admin")
    made = boss.ok("POST", "/service-account", {"name": "CI", "username": "ci", "rootRole": 3})
    boss.ok("POST", f"{PROJECT}/access", {"id": made["id"], "roleId": 5})
    token = boss.ok("POST", f"/service-account/{made['id']}/token", {"description": "CI"})
    desk.open(switching("tips", on=True), by=ApiClient(app, token["secret"]))
    number = desk.open(switching("card", on=True))
    waiting = boss.ok("GET", f"{LIST}?waitsFor=approval")["changeRequests"]
    assert [each["id"] for each in waiting] == [number]
    for person in (boss, desk.sofia):
        desk.to("Approved", number, by=person)
    assert listed_as("Approved", desk) == [number]
