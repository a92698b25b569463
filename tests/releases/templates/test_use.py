"""A template and the releases that start from it: neither changes the other."""

import pytest

from tests.releases.plans.conftest import FEATURES, PLANS, Releases, rollout, step
from tests.releases.templates.conftest import QUICK, ROOT, started
from tests.support.clients import ApiClient, problems_of


def uses(admin: ApiClient, id: str) -> tuple[int, int]:
    """How many releases started from a template, and how many of them were stopped."""
    found = admin.ok("GET", f"{ROOT}/{id}")
    return found["usedBy"], found["stopped"]


def test_a_release_has_the_name_and_the_steps_of_its_template(
    releases: Releases, quick_id: str
) -> None:
    found = started(releases, quick_id)
    assert (found["name"], found["releasePlanTemplateId"]) == ("Quick", quick_id)
    assert [each["name"] for each in found["milestones"]] == ["5%", "100%"]
    assert releases.wait(hours=1)["state"] == "done"


@pytest.mark.parametrize("act", ["PUT", "DELETE"])
def test_a_release_under_way_keeps_the_steps_that_its_template_had(
    releases: Releases, admin: ApiClient, quick_id: str, act: str
) -> None:
    started(releases, quick_id)
    before = releases.read()
    body = {"name": "Slow", "milestones": [step(1), step(2), step(3)]} if act == "PUT" else None
    admin.ok(act, f"{ROOT}/{quick_id}", body)
    assert releases.read() == before
    assert releases.wait(hours=1)["state"] == "done"
    assert releases.rollouts() == ["100"]


def test_a_release_with_steps_of_its_own_leaves_its_template_as_it_is(
    releases: Releases, admin: ApiClient, quick_id: str
) -> None:
    before = admin.ok("GET", f"{ROOT}/{quick_id}")
    found = releases.create(step(50), step(100), templateId=quick_id)
    assert [each["name"] for each in found["milestones"]] == ["50%", "100%"]
    after = admin.ok("GET", f"{ROOT}/{quick_id}")
    assert after == before | {"usedBy": 1}


def test_it_counts_the_releases_that_started_from_it_and_those_that_were_stopped(
    releases: Releases, admin: ApiClient, quick_id: str
) -> None:
    assert uses(admin, quick_id) == (0, 0)
    started(releases, quick_id)
    assert uses(admin, quick_id) == (1, 0)
    releases.act("stop")
    started(releases, quick_id)
    assert uses(admin, quick_id) == (2, 1)


def test_the_name_of_the_feature_stands_where_unleash_has_it(
    releases: Releases, admin: ApiClient
) -> None:
    grouped = rollout(100)
    grouped["parameters"]["groupId"] = "{{featureName}}"
    body = {"name": "Grouped", "milestones": [{"name": "All", "strategies": [grouped]}]}
    id = admin.ok("POST", ROOT, body)["id"]
    [found] = started(releases, id)["milestones"]
    assert found["strategies"][0]["parameters"]["groupId"] == "base"


@pytest.mark.usefixtures("feature")
def test_a_template_of_a_project_is_for_features_of_that_project(admin: ApiClient) -> None:
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    body = {"name": "Own", "milestones": QUICK["milestones"]}
    id = admin.ok("POST", "/projects/shop/release-templates", body)["id"]
    refused = admin.post(PLANS, {"templateId": id})
    assert problems_of(refused) == {
        "/templateId": f"There is no release template with the id {id} here."
    }
    assert admin.ok("GET", PLANS) == []
    admin.ok("POST", "/projects/shop/features", {"name": "cart"})
    place = FEATURES.replace("default", "shop") + "/cart/environments/production"
    assert admin.ok("POST", f"{place}/release-plans", {"templateId": id})["name"] == "Own"
