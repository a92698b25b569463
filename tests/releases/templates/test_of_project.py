"""Templates that only one project can use."""

from typing import Any

from tests.releases.plans.conftest import rollout
from tests.releases.templates.conftest import QUICK, ROOT, SHOP, names
from tests.support.clients import ApiClient, error_of, problems_of
from tests.support.people import People


def test_a_project_has_its_own_beside_those_for_all_projects(
    admin: ApiClient, quick: Any, own: Any
) -> None:
    assert (own["project"], quick["project"]) == ("shop", None)
    assert names(admin, SHOP) == ["Own"]
    assert names(admin, f"{SHOP}?include=root") == ["Careful", "Own", "Quick"]
    assert names(admin, "/projects/default/release-templates") == []
    assert names(admin, ROOT) == ["Careful", "Quick"]
    assert problems_of(admin.get(f"{SHOP}?include=all")) == {"?include": "Only “root” is known."}


def test_a_project_does_not_change_what_is_not_its_own(
    admin: ApiClient, quick: Any, own: Any
) -> None:
    default = "/projects/default/release-templates"
    for path in (f"{SHOP}/{quick['id']}", f"{default}/{own['id']}"):
        refused = admin.put(path, {"name": "Mine"})
        assert error_of(refused) == (404, "NotFoundError")
    assert admin.ok("PUT", f"{SHOP}/{own['id']}", {"name": "Mine"})["name"] == "Mine"
    [event] = admin.ok("GET", "/events?type=release-plan-template-updated")["events"]
    assert event["project"] == "shop"


def test_those_of_a_private_project_are_seen_by_its_members_alone(
    people: People, admin: ApiClient, viewer: ApiClient
) -> None:
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop", "mode": "private"})
    own = admin.ok("POST", SHOP, QUICK)
    assert names(people.member("mia", "shop"), SHOP) == ["Quick"]
    refused = viewer.get(f"{ROOT}/{own['id']}")
    assert error_of(refused) == (404, "NotFoundError")
    assert refused.json["message"] == f"There is no release template with the id {own['id']} here."
    assert viewer.get(SHOP).status_code == 404


def test_segments_of_a_project_are_for_its_own_templates(admin: ApiClient, own: Any) -> None:
    constraint = {"contextName": "userId", "operator": "IN", "values": ["1"]}
    body = {"name": "Staff", "project": "shop", "constraints": [constraint]}
    staff = admin.ok("POST", "/segments", body)["id"]
    steps = [{"name": "Staff", "strategies": [rollout(100, segments=[staff])]}]
    found = admin.ok("PUT", f"{SHOP}/{own['id']}", {"milestones": steps})
    assert found["milestones"][0]["strategies"][0]["segments"] == [staff]
    refused = admin.post(ROOT, {**QUICK, "milestones": steps})
    assert problems_of(refused) == {
        "/milestones/0/strategies/0/segments/0": f"There is no segment with the id {staff}."
    }


def test_an_archived_project_gets_none(admin: ApiClient, own: Any) -> None:
    admin.ok("DELETE", "/projects/shop")
    refused = admin.post(SHOP, QUICK)
    assert error_of(refused) == (409, "ConflictError")
    assert refused.json["message"].startswith("Project shop is archived.")
    assert names(admin, SHOP) == ["Own"]
