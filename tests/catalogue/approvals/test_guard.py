"""What applications get in a guarded environment stays the same, whatever is changed on the way."""

import pytest
from sqlalchemy import event

from app.core.db import COMMITTED, db
from tests.support.change_requests import PROJECT, delivery, new_desk, rollout
from tests.support.clients import REASON, error_of
from tests.support.statements import statements

FEATURES = f"{PROJECT}/features"


@pytest.fixture
def desk(admin, people):
    """Card is on in production, and depends on tips, which is off there."""
    desk = new_desk(admin, people)
    admin.ok("POST", f"{FEATURES}/card/dependencies", {"feature": "tips"})
    desk.directly("card/environments/production/on")
    return desk


@pytest.fixture
def delivered(desk):
    return delivery(desk.admin)


def test_no_one_frees_a_child_that_is_on_by_archiving_its_parent(desk, delivered):
    before = delivered()
    body = {"features": ["tips"], "removeDependenciesOn": ["tips"]}
    refused = desk.kim.post(f"{PROJECT}/archive", body)
    assert error_of(refused) == (403, "NoAccessError")
    assert "This would change card (dependencies)." in refused.json["message"]
    assert delivered() == before
    assert desk.admin.ok("GET", f"{FEATURES}/tips")["archivedAt"] is None


def test_no_one_binds_a_child_that_is_on_by_reviving_its_parent(desk, delivered):
    body = {"features": ["tips"], "removeDependenciesOn": ["tips"]}
    assert desk.admin.post(f"{PROJECT}/archive", body, headers=REASON).status_code == 202
    before = delivered()
    refused = desk.kim.post(f"{PROJECT}/revive-features", {"features": ["tips"]})
    assert error_of(refused) == (403, "NoAccessError")
    assert delivered() == before
    revived = {"features": ["tips"]}
    assert desk.admin.post(f"{PROJECT}/revive-features", revived, headers=REASON).status_code == 200
    assert "card" in delivered()
    assert [e["featureName"] for e in desk.recorded("change-request-bypassed")][:1] == ["card"]


def test_impression_data_changes_freely_only_while_the_feature_is_off(desk, delivered):
    on = {"type": "release", "impressionData": True}
    assert desk.kim.put(f"{FEATURES}/tips", on).status_code == 200
    before = delivered()
    refused = desk.kim.put(f"{FEATURES}/card", on)
    assert error_of(refused) == (403, "NoAccessError")
    assert "This would change card (impression data)." in refused.json["message"]
    assert delivered() == before


def test_what_decides_nothing_is_changed_freely(desk):
    body = {"type": "experiment", "description": "Pays by card", "stale": True}
    assert desk.kim.put(f"{FEATURES}/card", body).status_code == 200
    tags = {
        "features": ["card"],
        "tags": {"addedTags": [{"type": "simple", "value": "pay"}], "removedTags": []},
    }
    assert desk.kim.put(f"{PROJECT}/tags", tags).status_code == 200
    strategy = rollout(30)
    added = f"{FEATURES}/card/environments/development/strategies"
    assert desk.kim.post(added, strategy).status_code == 200


def test_a_dry_run_is_refused_as_the_change_would_be(desk):
    path = f"{FEATURES}/card/environments/production/off?dryRun=true"
    assert error_of(desk.kim.post(path)) == (403, "NoAccessError")


def test_approvals_that_are_taken_away_still_count_for_what_changes_with_them(desk, delivered):
    body = {"environments": ["development"], "changeRequestEnvironments": []}
    refused = desk.sofia.put(f"{PROJECT}/environments", body)
    assert error_of(refused) == (403, "NoAccessError")
    assert "card" in delivered()


def test_another_project_is_not_named_to_those_who_cannot_see_it(desk, people):
    rule = {"contextName": "userId", "operator": "IN", "values": ["1"]}
    segment = desk.admin.ok("POST", "/segments", {"name": "Staff", "constraints": [rule]})["id"]
    desk.directly("card/environments/production/strategies", rollout(5, segments=[segment]))
    desk.admin.ok("PUT", PROJECT, {"name": "Pay", "mode": "private"})
    editor = people.client("edith", role="Editor")
    refused = editor.put(f"/segments/{segment}", {"constraints": [rule | {"values": ["2"]}]})
    assert error_of(refused) == (403, "NoAccessError")
    assert "need approvals in other projects." in refused.json["message"]
    assert "pay" not in refused.text
    assert "card" not in refused.text


def test_what_applications_do_not_notice_takes_no_further_statement(app, desk):
    desk.admin.ok("POST", "/projects", {"id": "free", "name": "Free"})
    desk.admin.ok("POST", "/projects/free/features", {"name": "other"})
    features, run, elsewhere = {"free": "other", "pay": "card"}, {}, []
    with app.app_context():
        committed = db.engines[COMMITTED]
    event.listen(committed, "before_cursor_execute", lambda *found: elsewhere.append(found[2]))
    for turn in range(2):  # the first time, tokens note that they are used
        for project, name in features.items():
            tags = {"addedTags": [{"value": f"{project} {turn}"}], "removedTags": []}
            with statements(app) as run[project]:
                body = {"features": [name], "tags": tags}
                desk.admin.ok("PUT", f"/projects/{project}/tags", body)
    assert len(run["pay"]) == len(run["free"]) > 0
    assert elsewhere == []
