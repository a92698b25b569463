"""The approvals that an environment needs are lowered or ended only with as many approvals."""

import pytest

from tests.support.change_requests import (
    LIST,
    PLACE,
    PROJECT,
    delivery,
    new_desk,
    switching,
)
from tests.support.clients import REASON, error_of

CONFIG = f"{PLACE}/config"
OFF = {"changeRequestsEnabled": False}


def asking_for(number):
    payload = {"requiredApprovals": number}
    return {"feature": None, "action": "updateApprovals", "payload": payload}


REMOVAL = {"feature": None, "action": "removeEnvironment"}
ARCHIVING = {"feature": None, "action": "archiveProject"}


@pytest.fixture
def desk(admin, people):
    return new_desk(admin, people)


def required(desk):
    found = {each["environment"]: each for each in desk.kim.ok("GET", f"{LIST}/config")}
    return found["production"]["requiredApprovals"]


def environments(*names, **approvals):
    rules = [{"name": name, "requiredApprovals": most} for name, most in approvals.items()]
    return {"environments": list(names), "changeRequestEnvironments": rules}


BOTH = ("development", "production")


@pytest.mark.parametrize(
    ("path", "body", "becomes"),
    [
        (CONFIG, OFF, "production (no approvals)"),
        (
            CONFIG,
            {"changeRequestsEnabled": True, "requiredApprovals": 1},
            "production (1 approval)",
        ),
        (f"{PROJECT}/environments", environments(*BOTH), "production (no approvals)"),
        (f"{PROJECT}/environments", environments(*BOTH, production=1), "production (1 approval)"),
        (
            f"{PROJECT}/environments",
            environments("development", production=2),
            "production (no longer used)",
        ),
    ],
)
def test_an_owner_alone_neither_lowers_approvals_nor_removes_the_environment(
    desk, path, body, becomes
):
    refused = desk.sofia.put(path, body)
    assert error_of(refused) == (403, "NoAccessError")
    assert f"This would change {becomes}." in refused.json["message"]
    assert f"(POST /api/admin{PLACE})" in refused.json["message"]
    assert required(desk) == 2


def test_a_project_with_a_guarded_environment_is_archived_by_request_only(desk):
    desk.kim.ok("POST", f"{PROJECT}/archive", {"features": ["card", "tips"]})
    assert error_of(desk.sofia.delete(PROJECT)) == (403, "NoAccessError")
    number = desk.open(ARCHIVING, by=desk.sofia)
    for person in (desk.kim, desk.finn):
        desk.to("Approved", number, by=person)
    desk.to("Applied", number, by=desk.sofia)
    assert desk.admin.ok("GET", "/projects?archived=true")["projects"][0]["id"] == "pay"


def test_archiving_is_proposed_where_the_project_needs_the_most_approvals(desk):
    desk.kim.ok("POST", f"{PROJECT}/archive", {"features": ["card", "tips"]})
    body = environments(*BOTH, production=2, development=1)
    desk.admin.ok("PUT", f"{PROJECT}/environments", body)
    refused = desk.sofia.post(PLACE.replace("production", "development"), ARCHIVING)
    assert "also needs 2 approvals in production of project pay" in refused.json["message"]
    assert desk.draft(ARCHIVING, by=desk.sofia)["projectChanges"][0]["after"]["archived"]


def test_lowering_takes_as_many_approvals_as_today(desk):
    number = desk.open(asking_for(1), by=desk.sofia)
    desk.to("Approved", number, by=desk.kim)
    assert error_of(desk.ask("Applied", number, by=desk.sofia)) == (409, "ConflictError")
    desk.to("Approved", number, by=desk.finn)
    desk.to("Applied", number, by=desk.sofia)
    assert required(desk) == 1
    [event] = desk.recorded("approvals-lowered")
    by = f"Change request {number} by sofia, approved by kim and finn"
    assert (event["createdBy"], event["reason"]) == ("sofia", by)


def test_a_request_shows_the_rule_before_and_after(desk):
    [change] = desk.draft(asking_for(0), by=desk.sofia)["projectChanges"]
    assert change["payload"] == {"requiredApprovals": 0}
    now = {"archived": False, "used": True, "requiredApprovals": 2}
    assert (change["before"], change["after"]) == (now, now | {"requiredApprovals": 0})


def test_removing_the_environment_is_approved_with_what_that_switches_off(desk):
    desk.directly("card/environments/production/on")
    delivered = delivery(desk.admin)
    number = desk.open(REMOVAL, by=desk.sofia)
    [outcome] = desk.read(number)["outcomes"]
    assert (outcome["feature"], outcome["after"]) == ("card", None)
    for person in (desk.kim, desk.finn):
        desk.to("Approved", number, by=person)
    desk.to("Applied", number, by=desk.sofia)
    assert delivered() == {}
    assert desk.admin.ok("GET", PROJECT)["environments"] == ["development"]


def test_approvals_of_an_environment_that_left_the_project_stay_and_are_not_lowered(desk):
    body = environments("development", production=2)
    path = f"{PROJECT}/environments"
    assert desk.admin.put(path, body, headers=REASON).status_code == 200
    refused = desk.sofia.put(path, environments("development"))
    assert error_of(refused) == (403, "NoAccessError")
    assert "Add the environment first" in refused.json["message"]


def test_raising_approvals_and_adding_environments_needs_no_approval(desk):
    body = environments(*BOTH, production=3, development=1)
    desk.sofia.ok("PUT", f"{PROJECT}/environments", body)
    assert required(desk) == 3


def test_an_admin_lowers_approvals_with_a_reason_that_the_log_keeps(desk):
    assert error_of(desk.admin.put(CONFIG, OFF)) == (403, "NoAccessError")
    assert desk.admin.put(CONFIG, OFF, headers=REASON).status_code == 200
    [event] = desk.recorded("change-request-bypassed")
    assert event["data"] == {"environment": "production", "requiredApprovals": 2}
    assert event["reason"] == REASON["X-Reason"]


def test_what_is_done_to_approvals_takes_a_request_of_its_own(desk):
    refused = desk.sofia.post(PLACE, [asking_for(1), switching("card", on=True)])
    assert error_of(refused) == (409, "ConflictError")
    others = desk.draft(switching("card", on=True), by=desk.sofia)["id"]
    lowering = desk.draft(asking_for(1), by=desk.sofia)["id"]
    assert desk.draft(switching("tips", on=True), by=desk.sofia)["id"] == others
    assert [len(desk.read(id, by=desk.sofia)["projectChanges"]) for id in (others, lowering)] == [
        0,
        1,
    ]


def test_only_who_can_change_the_project_proposes_to(desk):
    for change in (asking_for(1), REMOVAL, ARCHIVING):
        assert error_of(desk.kim.post(PLACE, change)) == (403, "NoAccessError")


def test_an_applied_lowering_is_not_reversed_by_request(desk):
    number = desk.open(asking_for(1), by=desk.sofia)
    for person in (desk.kim, desk.finn):
        desk.to("Approved", number, by=person)
    desk.to("Applied", number, by=desk.sofia)
    assert error_of(desk.sofia.post(f"{LIST}/{number}/reverse")) == (409, "ConflictError")
