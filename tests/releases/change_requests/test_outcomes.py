"""People approve what applications get in the end. If something else changes that, they are asked
again.
"""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.clock import utcnow
from app.core.db import db, unit_of_work
from app.releases.change_requests import applying
from app.releases.change_requests.models import Action, Approval, ChangeRequest, Outcome
from tests.support.approving import comparable, documents
from tests.support.change_requests import LIST, PROJECT, delivery, rollout, switching
from tests.support.clients import ApiClient, error_of

FEATURES = f"{PROJECT}/features"
RULE = {"contextName": "userId", "operator": "IN", "values": ["boss"]}
EVERYONE = [RULE | {"operator": "NOT_IN", "values": ["none"]}]
DEFAULT = f"{PROJECT}/environments/production/default-strategy"


@pytest.fixture
def check(app):
    """What the server does every few seconds."""

    def check():
        with app.app_context():
            return applying.check_outcomes()

    return check


@pytest.fixture
def delivered(desk):
    return delivery(desk.admin)


@pytest.fixture
def segment(desk):
    body = {"name": "Staff", "project": "pay", "constraints": [RULE]}
    return desk.admin.ok("POST", "/segments", body)["id"]


def kinds(request):
    return [step["kind"] for step in request["history"]]


def change_segment(desk, segment):
    assert desk.sofia.put(f"/segments/{segment}", {"constraints": EVERYONE}).status_code == 204


ALONE = {Action.DELETE_SEGMENT, Action.UPDATE_APPROVALS, Action.ARCHIVE_PROJECT}
"""Kinds of changes that applications don't notice: segments are deleted once nothing uses them."""


def changes_of_each_kind(desk, segment):
    path = "card/environments/production/strategies"
    first, second = (
        desk.directly(path, rollout(share, segments=[segment]))["id"] for share in (10, 20)
    )
    desk.directly("card/environments/production/on")
    desk.kim.ok("POST", FEATURES, {"name": "parent"})
    desk.kim.ok("POST", FEATURES, {"name": "child"})
    desk.directly("child/dependencies", {"feature": "tips"})
    desk.directly("child/environments/production/on")
    steps = [{"name": f"{share}%", "strategies": [rollout(share)]} for share in (30, 60)]
    path, body = "tips/environments/production/release-plans", {"milestones": steps, "start": True}
    release = desk.directly(path, body)
    later = {"planId": release["id"], "milestoneId": release["milestones"][1]["id"]}
    order = [{"id": second, "sortOrder": 0}, {"id": first, "sortOrder": 1}]
    return {
        "updateEnabled": ("card", {"enabled": False}),
        "addStrategy": ("card", rollout(30)),
        "updateStrategy": ("card", {"id": first, "parameters": {"rollout": "40"}}),
        "deleteStrategy": ("card", {"id": first}),
        "reorderStrategy": ("card", order),
        "patchVariant": ("card", {"variants": [{"name": "blue"}]}),
        "archiveFeature": ("card", {}),
        "addDependency": ("card", {"feature": "parent"}),
        "deleteDependency": ("child", {}),
        "updateImpressionData": ("card", {"impressionData": True}),
        "addReleasePlan": ("card", {"milestones": steps}),
        "startMilestone": ("tips", later),
        "updateSegment": (None, {"id": segment, "constraints": EVERYONE}),
        "removeEnvironment": (None, {}),
    }


@pytest.fixture
def read(app, desk):
    """Reads what an application gets of the features that are on, as change requests have it."""
    token = {"tokenName": "reader", "type": "client", "environment": "production"}
    client = ApiClient(app, desk.admin.ok("POST", "/api-tokens", token)["secret"])
    return lambda: documents(client)


@pytest.mark.parametrize("action", [each for each in Action if each not in ALONE])
def test_what_a_change_leads_to_is_what_applications_get_once_it_is_applied(
    desk, read, segment, action
):
    feature, payload = changes_of_each_kind(desk, segment)[action]
    before = read()
    change = {"feature": feature, "action": action, "payload": payload}
    number = desk.open(change, by=desk.sofia)
    desk.to("Approved", number, by=desk.kim)
    assert error_of(desk.ask("Applied", number, by=desk.sofia)) == (409, "ConflictError")
    assert read() == before
    desk.to("Approved", number, by=desk.finn)
    desk.to("Applied", number, by=desk.sofia)
    outcomes, after = desk.read(number)["outcomes"], read()
    assert {outcome["feature"] for outcome in outcomes} == {
        name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
    }
    for outcome in outcomes:
        assert comparable(outcome["after"]) == after.get(outcome["feature"])


# Ways in which something else changes what a request leads to. Each returns the request.


def by_a_segment(desk, segment):
    desk.directly("card/environments/production/on")
    strategy = rollout(100, segments=[segment])
    number = desk.approved({"feature": "card", "action": "addStrategy", "payload": strategy})
    change_segment(desk, segment)
    return number


def by_a_segment_of_what_was_archived(desk, segment):
    desk.directly("card/environments/production/strategies", rollout(100, segments=[segment]))
    number = desk.approved(switching("card", on=True))
    desk.kim.ok("POST", f"{PROJECT}/archive", {"features": ["card"]})
    change_segment(desk, segment)
    desk.kim.ok("POST", f"{PROJECT}/revive-features", {"features": ["card"]})
    return number


def by_a_segment_of_the_default_strategy(desk, segment):
    desk.sofia.ok("POST", DEFAULT, rollout(100, segments=[segment]))
    number = desk.approved(switching("card", on=True))
    change_segment(desk, segment)
    return number


def by_the_default_strategy(desk, _):
    desk.sofia.ok("POST", DEFAULT, rollout(1))
    number = desk.approved(switching("card", on=True))
    desk.sofia.ok("POST", DEFAULT, rollout(100))
    return number


def by_the_default_stickiness(desk, _):
    desk.directly("card/environments/production/on")
    strategy = {"name": "flexibleRollout", "parameters": {"rollout": "50"}}
    number = desk.approved({"feature": "card", "action": "addStrategy", "payload": strategy})
    desk.sofia.ok("PUT", PROJECT, {"name": "Pay", "defaultStickiness": "random"})
    return number


def by_removing_the_dependency(desk, _):
    desk.kim.ok("POST", f"{FEATURES}/card/dependencies", {"feature": "tips"})
    number = desk.approved(switching("card", on=True))
    desk.kim.ok("DELETE", f"{FEATURES}/card/dependencies")
    return number


def by_another_parent(desk, _):
    desk.kim.ok("POST", f"{FEATURES}/card/dependencies", {"feature": "tips"})
    desk.kim.ok("POST", FEATURES, {"name": "other"})
    number = desk.approved(switching("card", on=True))
    desk.kim.ok("POST", f"{FEATURES}/card/dependencies", {"feature": "other"})
    return number


def by_archiving_the_parent(desk, _):
    desk.kim.ok("POST", f"{FEATURES}/card/dependencies", {"feature": "tips"})
    number = desk.approved(switching("card", on=True))
    body = {"features": ["tips"], "removeDependenciesOn": ["tips"]}
    desk.kim.ok("POST", f"{PROJECT}/archive", body)
    return number


def by_reviving_without_the_parent(desk, _):
    desk.kim.ok("POST", f"{FEATURES}/card/dependencies", {"feature": "tips"})
    number = desk.approved(switching("card", on=True))
    desk.kim.ok("POST", f"{PROJECT}/archive", {"features": ["card", "tips"]})
    desk.kim.ok("POST", f"{PROJECT}/revive-features", {"features": ["card"]})
    return number


def by_impression_data(desk, _):
    number = desk.approved(switching("card", on=True))
    desk.kim.ok("PUT", f"{FEATURES}/card", {"type": "release", "impressionData": True})
    return number


def by_a_strategy_that_is_prepared(desk, _):
    number = desk.approved(switching("card", on=True))
    desk.kim.ok("POST", f"{FEATURES}/card/environments/production/strategies", rollout(5))
    return number


def by_another_request(desk, _):
    desk.directly("card/environments/production/strategies", rollout(1))
    desk.directly("card/environments/production/on")
    numbers = [
        desk.approved({"feature": "card", "action": "addStrategy", "payload": rollout(50)})
        for _ in range(2)
    ]
    desk.to("Applied", numbers[0])
    return numbers[1]


WAYS = [
    by_a_segment,
    by_a_segment_of_what_was_archived,
    by_a_segment_of_the_default_strategy,
    by_the_default_strategy,
    by_the_default_stickiness,
    by_removing_the_dependency,
    by_another_parent,
    by_archiving_the_parent,
    by_reviving_without_the_parent,
    by_impression_data,
    by_a_strategy_that_is_prepared,
    by_another_request,
]


@pytest.mark.parametrize("way", WAYS)
def test_nothing_but_what_was_approved_is_applied(desk, delivered, check, segment, way):
    number = way(desk, segment)
    before = delivered()
    refused = desk.ask("Applied", number)
    assert error_of(refused) == (409, "ConflictError")
    assert "It needs 2 more approvals first." in refused.json["message"]
    assert delivered() == before
    check()
    found = desk.read(number)
    assert (found["state"], found["isOutdated"], found["obstacle"]) == ("In review", True, None)
    [row] = [row for row in found["outcomes"] if row["approved"] != row["after"]]
    assert row["feature"] == "card"
    assert kinds(found)[-1] == "changed"
    for person in (desk.finn, desk.sofia):
        desk.to("Approved", number, by=person)
    applied = desk.to("Applied", number)
    assert not applied["isOutdated"]
    assert applied["outcomes"] == [row | {"approved": row["after"]}]
    assert delivered()["card"]["impressionData"] == row["after"]["impressionData"]


def test_the_history_names_the_event_and_who_made_the_change(desk, check, segment):
    number = by_a_segment(desk, segment)
    assert check() == 1
    assert check() == 0
    [step] = [step for step in desk.read(number)["history"] if step["kind"] == "changed"]
    assert step["createdBy"]["username"] == "sofia"
    [event] = desk.recorded("segment-updated")
    assert step["text"] == (
        f"Event {event['id']}: sofia changed segment Staff in project pay: constraints."
    )
    [outdated] = desk.recorded("change-request-outdated")
    assert (outdated["createdBy"], outdated["data"]["cause"]) == ("sofia", event["id"])


def test_approvals_count_again_when_the_change_is_undone(desk, check):
    number = by_the_default_strategy(desk, None)
    check()
    assert desk.read(number)["isOutdated"]
    desk.sofia.ok("POST", DEFAULT, rollout(1))
    check()
    found = desk.read(number)
    assert (found["isOutdated"], found["state"]) == (False, "Approved")
    desk.to("Applied", number)


def test_the_second_reviewer_still_sees_what_was_approved_before(desk, check):
    number = by_the_default_strategy(desk, None)
    check()
    assert desk.to("Approved", number, by=desk.finn)["isOutdated"]
    assert not desk.to("Approved", number, by=desk.sofia)["isOutdated"]


def test_before_anyone_approved_it_the_outcome_follows_what_changes(desk, check):
    desk.sofia.ok("POST", DEFAULT, rollout(1))
    number = desk.open(switching("card", on=True))
    desk.sofia.ok("POST", DEFAULT, rollout(2))
    check()
    found = desk.read(number)
    assert not found["isOutdated"]
    [row] = found["outcomes"]
    assert (row["before"], row["after"]["strategies"][0]["parameters"]["rollout"]) == (None, "2")


def test_a_reviewer_never_approves_another_outcome_than_they_read(desk, check):
    desk.sofia.ok("POST", DEFAULT, rollout(1))
    number = desk.open(switching("card", on=True))
    read = desk.read(number, by=desk.finn)
    desk.sofia.ok("POST", DEFAULT, rollout(2))
    refused = desk.ask("Approved", number, by=desk.finn, version=read["version"])
    assert error_of(refused) == (412, "PreconditionFailedError")


def test_a_schedule_is_cancelled_long_before_its_time(app, desk, check, segment):
    desk.directly("card/environments/production/on")
    strategy = rollout(100, segments=[segment])
    number = desk.approved({"feature": "card", "action": "addStrategy", "payload": strategy})
    at = utcnow() + timedelta(days=2)
    desk.to("Scheduled", number, scheduledAt=at.isoformat())
    change_segment(desk, segment)
    check()
    found = desk.read(number)
    assert (found["state"], found["schedule"], found["isOutdated"]) == ("In review", None, True)
    with app.app_context(), clock.at(at + timedelta(seconds=1)):
        assert applying.apply_due() == 0


def test_what_was_changed_on_the_way_to_the_same_outcome_holds_nothing_up(desk, check):
    id = desk.directly("card/environments/production/strategies", rollout(25))["id"]
    desk.directly("card/environments/production/on")
    update = {"id": id, "parameters": {"rollout": "40"}}
    number = desk.approved({"feature": "card", "action": "updateStrategy", "payload": update})
    path = f"card/environments/production/strategies/{id}"
    desk.directly(path, {"parameters": {"rollout": "35"}}, method="PUT")
    desk.kim.ok("PUT", f"{FEATURES}/card", {"type": "experiment", "description": "Pays by card"})
    check()
    [row] = desk.read(number)["outcomes"]
    assert row["before"]["strategies"][0]["parameters"]["rollout"] == "35"
    desk.to("Applied", number)
    assert desk.feature()["strategies"][0]["parameters"]["rollout"] == "40"


def test_what_no_longer_fits_is_named_and_can_be_removed(desk, check):
    id = desk.directly("card/environments/production/strategies", rollout(25))["id"]
    gone = {"feature": "card", "action": "deleteStrategy", "payload": {"id": id}}
    number = desk.approved(gone, switching("tips", on=True))
    desk.directly(f"card/environments/production/strategies/{id}", method="DELETE")
    check()
    found = desk.read(number)
    assert "Change 1 (card)" in found["obstacle"]
    refused = desk.ask("Applied", number)
    assert error_of(refused) == (409, "ConflictError")
    assert found["obstacle"] in refused.json["message"]
    change = found["features"][0]["changes"][0]["id"]
    desk.kim.ok("DELETE", f"{LIST}/{number}/changes/{change}")
    for person in (desk.finn, desk.sofia):
        desk.to("Approved", number, by=person)
    desk.to("Applied", number)
    assert desk.feature("tips")["enabled"]


def test_what_a_draft_leads_to_is_worked_out_again_when_it_is_sent(desk):
    desk.sofia.ok("POST", DEFAULT, rollout(1))
    draft = desk.draft(switching("card", on=True))
    desk.sofia.ok("POST", DEFAULT, rollout(2))
    sent = desk.to("In review", draft["id"])
    assert sent["outcomes"][0]["after"]["strategies"][0]["parameters"]["rollout"] == "2"
    assert kinds(sent) == ["opened"]


def test_approvals_of_before_the_upgrade_have_to_be_given_again(app, desk, check):
    number = desk.approved(switching("card", on=True))
    with app.app_context(), unit_of_work(writes=True):
        db.session.execute(sa.delete(Outcome))
        db.session.execute(sa.update(Approval).values(digest=None))
        db.session.execute(sa.update(ChangeRequest).values(digest=None, checked_to=0))
    assert desk.read(number)["state"] == "In review"
    check()
    found = desk.read(number)
    assert ([row["feature"] for row in found["outcomes"]], found["isOutdated"]) == (["card"], False)
    assert kinds(found) == ["opened", "approved", "approved"]
    for person in (desk.finn, desk.sofia):
        desk.to("Approved", number, by=person)
    desk.to("Applied", number)


@pytest.mark.parametrize("action", ["updateSegment", "removeEnvironment"])
def test_what_reaches_another_feature_since_is_noticed_and_approved_again(
    desk, check, segment, action
):
    used = rollout(10, segments=[segment])
    desk.directly("card/environments/production/strategies", used)
    desk.directly("card/environments/production/on")
    payload = {"id": segment, "constraints": EVERYONE} if action == "updateSegment" else {}
    number = desk.open({"feature": None, "action": action, "payload": payload}, by=desk.sofia)
    for person in (desk.kim, desk.finn):
        desk.to("Approved", number, by=person)
    check()
    desk.directly("tips/environments/production/strategies", used)
    desk.directly("tips/environments/production/on")
    assert check() == 1
    found = desk.read(number)
    assert found["isOutdated"]
    assert [outcome["feature"] for outcome in found["outcomes"]] == ["card", "tips"]
    for person in (desk.kim, desk.finn):
        desk.to("Approved", number, by=person)
    desk.to("Applied", number, by=desk.sofia)
