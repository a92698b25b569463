"""What becomes of open change requests when people, projects and environments go."""

from datetime import timedelta

import pytest

from app.core import clock
from app.core.clock import utcnow
from app.releases.change_requests import actions, applying
from tests.support.change_requests import LIST, PLACE, PROJECT, rollout, switching
from tests.support.clients import REASON, error_of

pytestmark = pytest.mark.slow

STRATEGY = {"feature": "card", "action": "addStrategy", "payload": rollout(10)}


@pytest.fixture
def later(app):
    """Lets the schedules be looked at some time later."""

    def apply_due(seconds=70):
        with app.app_context(), clock.at(utcnow() + timedelta(seconds=seconds)):
            return applying.apply_due()

    return apply_due


def scheduled(desk, *changes):
    number = desk.approved(*(changes or (switching("card", on=True),)))
    at = (utcnow() + timedelta(seconds=60)).isoformat()
    desk.to("Scheduled", number, scheduledAt=at)
    return number


def id_of(client):
    return client.ok("GET", "/user")["user"]["id"]


def archive_project(desk):
    desk.admin.ok("POST", f"{PROJECT}/archive", {"features": ["card", "tips"]})
    desk.admin.ok("DELETE", PROJECT, headers=REASON)


def test_in_an_archived_project_nothing_is_decided_or_applied(desk):
    waiting, ready = desk.open(STRATEGY), desk.approved(STRATEGY)
    draft = desk.draft(STRATEGY)["id"]
    archive_project(desk)
    for state in ("Applied", "Cancelled", "Draft"):
        assert error_of(desk.ask(state, ready)) == (409, "ConflictError")
    assert error_of(desk.ask("Approved", waiting, by=desk.finn)) == (409, "ConflictError")
    assert error_of(desk.kim.post(PLACE, STRATEGY)) == (409, "ConflictError")
    assert error_of(desk.kim.delete(f"{LIST}/{draft}")) == (409, "ConflictError")
    assert desk.read(ready)["state"] == "Approved"
    desk.admin.ok("POST", f"{PROJECT}/restore")
    assert error_of(desk.ask("Applied", ready)) == (409, "ConflictError")
    desk.to("Cancelled", ready)


def test_what_is_scheduled_in_a_project_that_was_archived_is_not_applied_and_says_why(desk, later):
    rule = {"contextName": "userId", "operator": "IN", "values": ["1"]}
    body = {"name": "Staff", "project": "pay", "constraints": [rule]}
    segment = desk.admin.ok("POST", "/segments", body)["id"]
    wider = {"id": segment, "constraints": [{**rule, "values": ["1", "2"]}]}
    numbers = [
        scheduled(desk),
        scheduled(desk, {"feature": None, "action": "updateSegment", "payload": wider}),
    ]
    archive_project(desk)
    assert later() == 2
    for found in map(desk.read, numbers):
        assert found["schedule"] is None
        assert "archived" in found["obstacle"]
    found = desk.admin.ok("GET", f"/segments/{segment}")
    assert found["constraints"][0]["values"] == ["1"]


def test_what_is_scheduled_where_the_environment_was_removed_is_not_applied_and_says_why(
    desk, later
):
    number = scheduled(desk)
    answer = desk.admin.put(
        f"{PROJECT}/environments",
        {"environments": ["development"], "changeRequestEnvironments": []},
        headers={"X-Reason": "It moves"},
    )
    assert answer.status_code == 200, answer.text
    later()
    found = desk.read(number)
    assert (found["state"], found["schedule"]) == ("Approved", None)
    assert "production" in found["obstacle"]
    assert desk.to("Cancelled", number)["state"] == "Cancelled"


def test_what_would_change_a_deleted_feature_cannot_be_applied_and_says_why(app, desk):
    waiting, applied = desk.approved(STRATEGY), desk.approved(switching("card", on=True))
    desk.to("Applied", applied)
    desk.admin.ok("POST", f"{PROJECT}/archive", {"features": ["card"]}, headers=REASON)
    desk.admin.ok("POST", f"{PROJECT}/delete", {"features": ["card"]})
    desk.admin.ok("POST", f"{PROJECT}/features", {"name": "card"})
    assert error_of(desk.ask("Applied", waiting)) == (409, "ConflictError")
    with app.app_context():
        applying.check_outcomes()
    assert "Feature card was deleted. Discard this change." in desk.read(waiting)["obstacle"]
    assert [each["name"] for each in desk.read(applied)["features"]] == ["card"]
    assert desk.to("Cancelled", waiting)["state"] == "Cancelled"


def test_what_falls_due_in_maintenance_mode_is_applied_when_it_ends(desk, later):
    number = scheduled(desk)
    desk.admin.ok("POST", "/maintenance", {"enabled": True})
    assert later() == 0
    assert desk.read(number)["state"] == "Scheduled"
    desk.admin.ok("POST", "/maintenance", {"enabled": False})
    assert later() == 1
    assert desk.read(number)["state"] == "Applied"


def test_what_someone_scheduled_who_was_deleted_since_is_applied_in_their_name(desk, later):
    number = scheduled(desk)
    desk.admin.ok("DELETE", f"/user-admin/{id_of(desk.kim)}")
    later()
    assert desk.feature()["enabled"]
    found = desk.read(number, by=desk.finn)
    assert (found["state"], found["createdBy"]["username"]) == ("Applied", "kim")
    [event] = desk.recorded("change-request-applied")
    assert event["createdBy"] == "kim"


def test_requests_of_a_deleted_person_stay_for_others_to_decide(desk):
    first, second = desk.open(STRATEGY), desk.open(switching("tips", on=True))
    desk.admin.ok("DELETE", f"/user-admin/{id_of(desk.kim)}")
    for person in (desk.finn, desk.sofia):
        desk.to("Approved", first, by=person)
    desk.to("Applied", first, by=desk.rosa)
    assert desk.ask("Cancelled", second, by=desk.finn).status_code == 403
    desk.to("Cancelled", second, by=desk.admin)


def test_a_draft_of_a_deleted_person_is_seen_by_no_one_until_they_are_restored(desk, people):
    number = desk.draft(STRATEGY)["id"]
    kim = id_of(desk.kim)
    desk.admin.ok("DELETE", f"/user-admin/{kim}")
    for person in (desk.admin, desk.sofia):
        assert person.get(f"{LIST}/{number}").status_code == 404
        assert person.ok("GET", LIST)["total"] == 0
    desk.admin.ok("POST", f"/user-admin/{kim}/restore")
    restored = type(desk.kim)(people.app, people.token(kim, "new"))
    assert desk.read(number, by=restored)["state"] == "Draft"


def test_who_leaves_the_project_can_no_longer_edit_it_into_something_else(desk):
    desk.admin.ok("PUT", PROJECT, {"name": "Pay", "mode": "protected"})
    number = desk.approved(STRATEGY)
    desk.admin.ok("DELETE", f"{PROJECT}/access/{id_of(desk.kim)}")
    change = desk.read(number)["features"][0]["changes"][0]["id"]
    body = {**STRATEGY, "payload": rollout(90)}
    answer = desk.kim.put(f"{LIST}/{number}/changes/{change}", body)
    assert error_of(answer) == (403, "NoAccessError")
    assert desk.read(number)["state"] == "Approved"


def test_one_that_breaks_keeps_no_other_from_being_applied(desk, later, monkeypatch):
    broken, sound = scheduled(desk, STRATEGY), scheduled(desk, switching("tips", on=True))

    def fail(*_):
        raise RuntimeError("a bolt came loose")

    monkeypatch.setitem(actions._WAYS, actions.Action.ADD_STRATEGY, fail)
    assert later() == 2
    found = desk.read(broken)
    assert found["schedule"]["status"] == "failed"
    assert "went wrong on our side" in found["schedule"]["reason"]
    assert desk.read(sound)["state"] == "Applied"
    assert later() == 0
