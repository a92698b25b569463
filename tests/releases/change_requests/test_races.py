"""Many people decide about the same change request at the same moment."""

from functools import partial

import pytest
import sqlalchemy as sa

from app.core.db import db
from app.releases.change_requests.models import Approval, ChangeRequest, State
from tests.support.change_requests import LIST, PLACE, PROJECT, rollout, switching
from tests.support.clients import REASON
from tests.support.races import at_once, statuses

pytestmark = [pytest.mark.slow, pytest.mark.one_in(2)]

CROWD = 20
STRATEGY = {"feature": "card", "action": "addStrategy", "payload": rollout(10)}


def id_of(client):
    return client.ok("GET", "/user")["user"]["id"]


def drafts(desk):
    with desk.kim.app.app_context():
        query = sa.select(ChangeRequest.id).where(ChangeRequest.state == State.DRAFT)
        return list(db.session.scalars(query))


def test_of_twenty_who_apply_it_at_once_one_does(desk):
    number = desk.approved(switching("card", on=True), STRATEGY)
    everyone = (desk.kim, desk.finn, desk.sofia, desk.rosa)
    answers = at_once(
        partial(desk.ask, "Applied", number, by=everyone[turn % 4]) for turn in range(CROWD)
    )
    assert statuses(answers) == {200: 1, 409: CROWD - 1}
    refused = {answer.json["message"] for answer in answers if answer.status_code == 409}
    assert refused == {f"Change request {number} is closed: applied."}
    assert len(desk.recorded("change-request-applied")) == 1
    assert len(desk.recorded("feature-environment-enabled")) == 1
    assert len(desk.feature()["strategies"]) == 2


def test_it_is_applied_or_edited_but_what_is_applied_is_what_was_approved(desk):
    for _ in range(10):
        number = desk.approved(STRATEGY)
        change = desk.read(number)["features"][0]["changes"][0]["id"]
        body = {**STRATEGY, "payload": rollout(90)}
        edited, applied = at_once(
            [
                partial(desk.kim.put, f"{LIST}/{number}/changes/{change}", body),
                partial(desk.ask, "Applied", number, by=desk.finn),
            ]
        )
        assert {edited.status_code, applied.status_code} == {200, 409}
        is_applied = applied.status_code == 200
        assert (desk.read(number)["state"] == "Applied") is is_applied
        if not is_applied:
            desk.to("Cancelled", number)
    strategies = desk.feature()["strategies"]
    assert {each["parameters"]["rollout"] for each in strategies} <= {"10"}


def test_no_approval_is_for_a_version_that_its_giver_has_not_seen(desk):
    number = desk.open(STRATEGY)
    for percent in range(20, 30):
        found = desk.read(number)
        change = found["features"][0]["changes"][0]["id"]
        body = {**STRATEGY, "payload": rollout(percent)}
        edited, *approved = at_once(
            [
                partial(desk.kim.put, f"{LIST}/{number}/changes/{change}", body),
                *(
                    partial(desk.ask, "Approved", number, by=each, version=found["version"])
                    for each in (desk.finn, desk.sofia, desk.rosa)
                ),
            ]
        )
        assert edited.status_code == 200
        assert set(statuses(approved)) <= {200, 412}
        assert desk.read(number)["approvals"] == []


def test_who_leaves_while_it_is_applied_leaves_before_or_after_it(desk):
    finn = id_of(desk.finn)
    for turn in range(10):
        number = desk.approved(switching("card", on=turn % 2 == 0))
        left, applied = at_once(
            [
                partial(desk.admin.delete, f"{PROJECT}/access/{finn}"),
                partial(desk.ask, "Applied", number),
            ]
        )
        assert left.status_code == 200
        left_first = applied.status_code == 409
        newest = [event["type"] for event in desk.admin.ok("GET", "/events?limit=10")["events"]]
        places = {type: newest.index(type) for type in set(newest)}
        if left_first:
            assert "needs 1 more approval" in applied.json["message"]
        else:
            assert places["project-access-updated"] < places["change-request-applied"]
        desk.admin.ok("POST", f"{PROJECT}/access", {"id": finn, "roleId": 5})
        if left_first:
            desk.to("Applied", number)


def test_an_approval_of_someone_who_is_just_leaving_counts_only_if_they_stay(desk):
    finn = id_of(desk.finn)
    for _ in range(10):
        number = desk.open(STRATEGY)
        desk.to("Approved", number, by=desk.sofia)
        left, approved = at_once(
            [
                partial(desk.admin.delete, f"{PROJECT}/access/{finn}"),
                partial(desk.ask, "Approved", number, by=desk.finn),
            ]
        )
        assert left.status_code == 200
        assert approved.status_code in {200, 403}
        assert desk.read(number)["state"] == "In review"
        assert desk.ask("Applied", number).status_code == 409
        desk.to("Cancelled", number)
        desk.admin.ok("POST", f"{PROJECT}/access", {"id": finn, "roleId": 5})


def test_approvals_are_raised_before_or_after_it_is_applied(desk):
    for turn in range(10):
        number = desk.approved(switching("card", on=turn % 2 == 0))
        rules = {"changeRequestsEnabled": True, "requiredApprovals": 3}
        raised, applied = at_once(
            [
                partial(desk.admin.put, f"{PLACE}/config", rules),
                partial(desk.ask, "Applied", number),
            ]
        )
        assert raised.status_code == 200
        assert applied.status_code in {200, 409}
        rules["requiredApprovals"] = 2
        desk.admin.ok("PUT", f"{PLACE}/config", rules, headers=REASON)
        if applied.status_code == 409:
            desk.to("Applied", number)


def test_who_approves_twice_at_once_approves_once(desk):
    number = desk.open(STRATEGY)
    answers = at_once(partial(desk.ask, "Approved", number, by=desk.finn) for _ in range(CROWD))
    assert statuses(answers) == {200: CROWD}
    assert len(desk.read(number)["approvals"]) == 1
    assert len(desk.recorded("change-request-approved")) == 1


def test_twenty_proposals_of_one_person_at_once_make_one_draft_that_has_them_all(desk):
    names = [f"f{number:02}" for number in range(CROWD)]
    for name in names:
        desk.admin.ok("POST", f"{PROJECT}/features", {"name": name})
    answers = at_once(partial(desk.kim.post, PLACE, switching(name, on=True)) for name in names)
    assert statuses(answers) == {200: CROWD}, [a.text for a in answers if a.status_code != 200]
    [number] = drafts(desk)
    found = desk.read(number)
    assert {feature["name"] for feature in found["features"]} == set(names)
    assert found["version"] == CROWD + 1


def test_a_draft_is_sent_with_what_is_proposed_at_that_moment_or_a_new_one_begins(desk):
    for _ in range(10):
        number = desk.draft(switching("card", on=True))["id"]
        sent, proposed = at_once(
            [
                partial(desk.ask, "In review", number),
                partial(desk.kim.post, PLACE, switching("tips", on=True)),
            ]
        )
        assert (sent.status_code, proposed.status_code) == (200, 200)
        names = {feature["name"] for feature in desk.read(number)["features"]}
        is_new = proposed.json["id"] != number
        assert names == ({"card"} if is_new else {"card", "tips"})
        desk.to("Cancelled", number)
        if is_new:
            desk.kim.ok("DELETE", f"{LIST}/{proposed.json['id']}")
    assert drafts(desk) == []


def test_every_decision_at_once_leaves_one_that_holds(desk):
    comment = {"comment": "Not now"}
    for turn in range(10):
        number = desk.approved(switching("card", on=turn % 2 == 0))
        answers = at_once(
            [
                partial(desk.ask, "Applied", number),
                partial(desk.ask, "Rejected", number, by=desk.rosa, **comment),
                partial(desk.ask, "Cancelled", number, by=desk.admin),
                partial(desk.ask, "Draft", number),
                partial(desk.ask, "In review", number, by=desk.finn),
            ]
        )
        assert set(statuses(answers)) <= {200, 404, 409}, [answer.text for answer in answers]
        found = desk.read(number)
        is_applied = answers[0].status_code == 200
        assert (found["state"] == "Applied") is is_applied
        assert desk.feature()["enabled"] is (turn % 2 == 0 if is_applied else turn % 2 == 1)
        if found["state"] == "Draft":
            desk.kim.ok("DELETE", f"{LIST}/{number}")
        elif found["state"] == "In review":
            desk.to("Cancelled", number)
        if not is_applied:
            desk.directly(f"card/environments/production/{'on' if turn % 2 == 0 else 'off'}")
    with desk.kim.app.app_context():
        left = sa.select(sa.func.count()).select_from(Approval).join(ChangeRequest)
        assert db.session.scalar(left.where(ChangeRequest.state == State.DRAFT)) == 0
