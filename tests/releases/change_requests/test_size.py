"""Large change requests: what they take, and what is refused."""

import json

import pytest

from app.releases.change_requests.models import MAX_CHANGES
from tests.support.change_requests import LIST, PLACE, PROJECT, rollout, switching
from tests.support.clients import error_of, problems_of
from tests.support.statements import statements

FEW, MANY = 4, 24


def features(desk, number):
    names = [f"f{each:03}" for each in range(number)]
    for name in names:
        desk.admin.ok("POST", f"{PROJECT}/features", {"name": name})
    return names


def take_to_apply(app, desk, changes):
    """The statements that applying these takes."""
    number = desk.approved(*changes)
    desk.kim.ok("GET", "/user")
    with statements(app) as run:
        desk.to("Applied", number)
    return len(run)


@pytest.mark.slow
def test_features_that_are_switched_are_switched_together_in_whatever_order(app, desk):
    names = features(desk, 2 * (FEW + MANY))
    on = {"features": names[::2]}
    path = f"{PROJECT}/bulk_features/environments/production/on"
    answer = desk.admin.post(path, on, headers={"X-Reason": "To begin with"})
    assert answer.status_code == 200
    changes = [switching(name, on=bool(place % 2)) for place, name in enumerate(names)]
    few = take_to_apply(app, desk, changes[: 2 * FEW])
    many = take_to_apply(app, desk, changes[2 * FEW :])
    assert many - few <= 2 * (MANY - FEW)  # each change keeps what it did


@pytest.mark.slow
def test_what_each_change_does_is_looked_up_for_all_at_once(app, desk):
    names = features(desk, FEW + MANY)
    changes = [{"feature": name, "action": "addStrategy", "payload": rollout(10)} for name in names]
    few, many = take_to_apply(app, desk, changes[:FEW]), take_to_apply(app, desk, changes[FEW:])
    assert (many - few) / (MANY - FEW) <= 20


def test_lists_leave_out_what_each_change_is_about(desk):
    number = desk.open(switching("card", on=True))
    [row] = desk.kim.ok("GET", LIST)["changeRequests"]
    [change] = row["features"][0]["changes"]
    [whole] = desk.read(number)["features"][0]["changes"]
    assert whole.keys() - change.keys() == {"before", "after"}


def test_more_changes_than_a_request_can_have_are_refused(desk):
    change = switching("card", on=True)
    answer = desk.kim.post(PLACE, [change] * (MAX_CHANGES + 1))
    assert list(problems_of(answer)) == [""]
    assert "Send 1 to 1,000 changes." in answer.json["message"]
    assert list(problems_of(desk.kim.post(PLACE, []))) == [""]


def test_the_same_change_a_thousand_times_is_one(desk):
    found = desk.draft(*[switching("card", on=True)] * MAX_CHANGES)
    assert len(found["features"][0]["changes"]) == 1


def test_what_is_no_change_is_refused(desk, subtests):
    for body in ([None], [[]], ["x"], [1], None, "x", {"feature": {}}):
        with subtests.test(body=body):
            answer = desk.kim.request(
                "POST", PLACE, data=json.dumps(body), content_type="application/json"
            )
            assert error_of(answer) == (400, "ValidationError")
