"""Where an environment needs approvals, an Admin starts a release without them, with a reason."""

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from app.catalogue.releases.models import Release
from app.core.db import db, unit_of_work
from tests.releases.plans.conftest import STEPS, run, segment, step
from tests.support.change_requests import PLACE, PROJECT, Desk
from tests.support.clients import REASON, error_of

GUARDED = f"{PROJECT}/features/card/environments/production/release-plans"
FREE = GUARDED.replace("production", "development")
STARTED = {"milestones": STEPS, "start": True}
LATER = {"milestones": STEPS, "startAt": "2199-01-01T09:00:00Z"}
CENTURIES = 365 * 175
"""Days until then, and some more."""


def directly(desk: Desk, path: str, body: dict[str, Any]) -> Any:
    """The release that an Admin creates with a reason."""
    answer = desk.admin.post(path, body, headers=REASON)
    assert answer.status_code == 201, answer.text
    return answer.json


def bypasses(desk: Desk) -> Any:
    return desk.recorded("change-request-bypassed")


def warrant(app: Flask, release: Any) -> Any:
    with app.app_context(), unit_of_work(writes=False):
        return db.session.get_one(Release, release["id"]).warrant


def test_a_start_without_approvals_is_recorded_once_for_all_steps(app: Flask, desk: Desk) -> None:
    release = directly(desk, GUARDED, STARTED)
    [event] = bypasses(desk)
    assert (event["featureName"], event["createdBy"]) == ("card", "admin")
    assert event["data"] == {"environment": "production", "requiredApprovals": 2}
    assert event["reason"] == REASON["X-Reason"]
    for hours, share in ((1, "25"), (2, "50"), (3, "100")):
        run(app, timedelta(hours=hours))
        assert desk.shares() == [share]
    assert desk.kim.ok("GET", GUARDED)[0]["state"] == "done"
    assert len(bypasses(desk)) == 1
    assert release["changeRequestId"] is None


def test_an_admin_without_a_reason_is_refused(desk: Desk) -> None:
    refused = desk.admin.post(GUARDED, STARTED)
    assert error_of(refused)[0] == 403
    assert "An Admin can make this change without approval" in refused.json["message"]
    assert (desk.shares(), bypasses(desk)) == (None, [])
    assert desk.admin.ok("GET", GUARDED) == []


def test_a_reason_of_someone_else_is_no_bypass(desk: Desk) -> None:
    for client in (desk.kim, desk.sofia):
        assert client.post(GUARDED, STARTED, headers=REASON).status_code == 403
        assert client.post(GUARDED, LATER, headers=REASON).status_code == 403
    assert (desk.admin.ok("GET", GUARDED), bypasses(desk)) == ([], [])


def test_a_draft_is_no_bypass_until_an_admin_starts_it(desk: Desk) -> None:
    release = directly(desk, GUARDED, {"milestones": STEPS})
    assert bypasses(desk) == []
    first = f"{GUARDED}/{release['id']}/milestones/{release['milestones'][0]['id']}/start"
    assert desk.admin.post(first).status_code == 403
    assert desk.admin.post(first, headers=REASON).status_code == 200
    assert (desk.shares(), len(bypasses(desk))) == (["5"], 1)


def test_an_early_step_without_approvals_is_recorded_again(desk: Desk) -> None:
    release = directly(desk, GUARDED, STARTED)
    early = f"{GUARDED}/{release['id']}/milestones/{release['milestones'][2]['id']}/start"
    assert desk.admin.post(early).status_code == 403
    assert desk.admin.post(early, headers=REASON).status_code == 200
    assert (desk.shares(), len(bypasses(desk))) == (["50"], 2)


@pytest.mark.parametrize("body", [STARTED, LATER])
def test_where_no_approvals_are_needed_a_reason_stands_for_none(
    app: Flask, desk: Desk, body: dict[str, Any]
) -> None:
    release = directly(desk, FREE, body)
    assert (warrant(app, release), bypasses(desk)) == (None, [])


def test_a_reason_given_before_approvals_were_needed_does_not_count_later(
    app: Flask, desk: Desk
) -> None:
    directly(desk, FREE, STARTED)
    rules = [{"name": name, "requiredApprovals": 2} for name in ("development", "production")]
    body = {"environments": ["development", "production"], "changeRequestEnvironments": rules}
    desk.sofia.ok("PUT", f"{PROJECT}/environments", body)
    run(app, timedelta(hours=1))
    [found] = desk.kim.ok("GET", FREE)
    assert (found["state"], bypasses(desk)) == ("held", [])


def test_one_that_would_start_by_itself_is_refused_and_not_created(app: Flask, desk: Desk) -> None:
    before = desk.admin.ok("GET", "/events")["total"]
    for client in (desk.kim, desk.admin):
        refused = client.post(GUARDED, LATER)
        assert error_of(refused) == (403, "NoAccessError")
        assert f"(POST /api/admin{PLACE})" in refused.json["message"]
        assert "production needs approvals" in refused.json["message"]
    assert desk.kim.ok("GET", GUARDED) == []
    assert desk.admin.ok("GET", "/events")["total"] == before
    run(app, timedelta(days=CENTURIES))
    assert desk.shares() is None


def test_an_admin_lets_one_start_by_itself_and_that_is_recorded_once(
    app: Flask, desk: Desk
) -> None:
    release = directly(desk, GUARDED, LATER)
    [event] = bypasses(desk)
    assert (event["featureName"], event["createdBy"]) == ("card", "admin")
    assert event["data"] == {"environment": "production", "requiredApprovals": 2}
    assert (release["state"], desk.shares()) == ("draft", None)
    for hours, share in enumerate(("5", "25", "50", "100")):
        run(app, timedelta(days=CENTURIES, hours=hours))
        assert desk.shares() == [share]
    assert len(bypasses(desk)) == 1


def test_a_segment_that_changes_after_a_bypass_holds_the_release(app: Flask, desk: Desk) -> None:
    staff = segment(desk.admin, "1")
    second = step(50)
    second["strategies"] = [{**second["strategies"][0], "segments": [staff]}]
    directly(desk, GUARDED, {"milestones": [step(5), second], "start": True})
    wider = {"contextName": "userId", "operator": "IN", "values": ["1", "2"]}
    desk.admin.ok("PUT", f"/segments/{staff}", {"constraints": [wider]})
    run(app, timedelta(hours=1))
    [found] = desk.kim.ok("GET", GUARDED)
    assert (found["state"], desk.shares()) == ("held", ["5"])
