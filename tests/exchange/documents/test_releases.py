"""A document and the releases under way of the features that it names."""

from typing import Any

import pytest
from flask import Flask

from app.core.actor import COMMAND_LINE
from app.core.db import unit_of_work
from app.core.errors import Conflict
from app.exchange.documents import service
from tests.exchange.documents.test_api import HERE, document
from tests.exchange.documents.test_apply import wanted
from tests.releases.plans import conftest
from tests.releases.plans.conftest import Releases, rollout
from tests.support.clients import ApiClient, problems_of

feature, releases = conftest.feature, conftest.releases
PLACE = "environments/production/strategies"
OWNED = (
    "A release decides who gets base here. It is at step 1 of 4. Stop it or leave it before you "
    "change the strategies yourself."
)


def base(*strategies: Any, **fields: Any) -> dict[str, Any]:
    state = {"production": {"enabled": True, "strategies": [*strategies]}}
    return {"name": "base", "project": "default", "environments": state, **fields}


def exported(admin: ApiClient) -> Any:
    [found] = admin.ok("GET", HERE)["features"]
    return found


@pytest.mark.parametrize("strategies", [(), (rollout(77),), (rollout(5), rollout(50))])
def test_strategies_that_a_release_decides_are_not_changed(
    releases: Releases, admin: ApiClient, strategies: Any
) -> None:
    releases.create()
    other = {"name": "other", "project": "default"}
    sent = document(features=[other, base(*strategies)])
    plan = admin.ok("POST", f"{HERE}/plan", sent)
    faults = {each["name"]: each["faults"] for each in plan["entries"]}
    assert faults == {"other": [], "base": [f"production, strategies: {OWNED}"]}
    assert plan["lines"][1:3] == [
        "! feature base",
        f"    production, strategies: {OWNED}",
    ]
    refused = admin.post(f"{HERE}/apply", sent)
    assert refused.status_code == 400
    assert problems_of(refused) == {f"/features/1/{PLACE}": f"(base) {OWNED}"}
    assert releases.rollouts() == ["5"]
    assert len(admin.ok("GET", "/features")["features"]) == 1


def test_everything_else_of_the_feature_can_be_changed(
    releases: Releases, admin: ApiClient
) -> None:
    releases.create()
    free = exported(admin) | {"description": "New"}
    free["environments"]["development"] = {"enabled": True, "strategies": [rollout(9)]}
    admin.ok("POST", f"{HERE}/apply", document(features=[free]))
    assert exported(admin)["description"] == "New"
    assert (releases.rollouts(), releases.read()["state"]) == (["5"], "running")


def test_before_a_release_starts_and_after_it_was_left_strategies_are_free(
    releases: Releases, admin: ApiClient
) -> None:
    releases.create(start=False)
    admin.ok("POST", f"{HERE}/apply", document(features=[base(rollout(77))]))
    admin.ok("DELETE", f"{conftest.PLANS}/{releases.id}")
    releases.create()
    admin.ok("DELETE", f"{conftest.PLANS}/{releases.id}")
    admin.ok("POST", f"{HERE}/apply", document(features=[base(rollout(50))]))
    assert releases.rollouts() == ["50"]


def test_a_document_that_switches_the_feature_off_stops_the_release(
    releases: Releases, admin: ApiClient
) -> None:
    releases.create()
    off = exported(admin)
    off["environments"]["production"]["enabled"] = False
    done = admin.ok("POST", f"{HERE}/apply", document(features=[off]))
    found = releases.wait(days=1)
    assert (found["state"], found["reason"]) == ("stopped", "The feature was switched off")
    assert releases.rollouts() is None
    events = admin.ok("GET", f"/events?batch={done['batchId']}")["events"]
    assert "release-plan-stopped" in {event["type"] for event in events}


def test_a_document_that_archives_the_feature_stops_the_release(
    releases: Releases, admin: ApiClient
) -> None:
    releases.create()
    gone = {"name": "base", "project": "default", "archived": True}
    admin.ok("POST", f"{HERE}/apply", document(features=[gone]))
    found = releases.read()
    assert (found["state"], found["reason"]) == ("stopped", "The feature was archived")


def test_a_release_that_began_after_the_plan_is_seen_before_it_is_written(
    app: Flask, releases: Releases, admin: ApiClient
) -> None:
    sent = wanted(document(features=[base(rollout(77))]))
    with app.app_context(), unit_of_work(writes=False):
        plan = service.plan(sent)
    releases.create()
    with (
        app.app_context(),
        pytest.raises(Conflict, match="Feature base: production, strategies: A release decides"),
        unit_of_work(writes=True),
    ):
        service.write(COMMAND_LINE, plan)
    assert releases.rollouts() == ["5"]


def test_where_changes_need_approvals_nothing_is_proposed_that_a_release_decides(
    releases: Releases, admin: ApiClient
) -> None:
    releases.create()
    config = "/projects/default/environments/production/change-requests/config"
    admin.ok("PUT", config, {"changeRequestsEnabled": True, "requiredApprovals": 1})
    refused = admin.post(f"{HERE}/apply", document(features=[base(rollout(77))]))
    assert problems_of(refused) == {f"/features/0/{PLACE}": f"(base) {OWNED}"}
    off = exported(admin)
    off["environments"]["production"]["enabled"] = False
    done = admin.ok("POST", f"{HERE}/apply", document(features=[off]))
    assert len(done["changeRequests"]) == 1
    assert releases.read()["state"] == "running"


def test_an_export_with_strategies_that_a_release_decides_is_not_imported(
    releases: Releases, admin: ApiClient
) -> None:
    releases.create()
    place = {"featureName": "base", "environment": "production"}
    content = {
        "features": [{"name": "base", "project": "default"}],
        "featureStrategies": [{**place, **rollout(77)}],
        "featureEnvironments": [{**place, "name": "base", "enabled": True}],
    }
    sent = {"project": "default", "environment": "production", "data": content}
    found = admin.ok("POST", "/features-batch/validate", sent)
    assert found["errors"] == [{"message": OWNED, "affectedItems": ["base"]}]
    assert admin.post("/features-batch/import", sent).status_code == 400
    assert (releases.rollouts(), releases.read()["state"]) == (["5"], "running")
