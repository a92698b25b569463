"""Templates through the API: for all projects, and for one."""

from typing import Any

import pytest
from flask import Flask

from app.catalogue.releases.models import ReleaseTemplate
from app.core.clock import utcnow
from app.core.db import insert_all, unit_of_work
from app.releases.templates.service import MAX_TEMPLATES
from tests.releases.plans.conftest import rollout, step
from tests.releases.templates.conftest import QUICK, ROOT, SHOP, names
from tests.support.clients import ApiClient, error_of, problems_of
from tests.support.people import People


def recorded(admin: ApiClient, type: str) -> Any:
    [event] = admin.ok("GET", f"/events?type=release-plan-template-{type}")["events"]
    return event


def test_clients_of_unleash_get_its_shape(app: Flask, admin: ApiClient, quick: Any) -> None:
    theirs = ApiClient(app, admin.token, client_of_unleash=True)
    found = theirs.ok("GET", f"{ROOT}/{quick['id']}")
    first, last = found["milestones"]
    strategy = first["strategies"][0]
    assert found == {
        "id": quick["id"],
        "discriminator": "template",
        "name": "Quick",
        "description": "In an hour",
        "project": None,
        "createdByUserId": admin.ok("GET", "/user")["user"]["id"],
        "createdAt": quick["createdAt"],
        "milestones": [first, last],
    }
    assert first == {
        "id": first["id"],
        "name": "5%",
        "sortOrder": 0,
        "releasePlanDefinitionId": quick["id"],
        "strategies": [strategy],
        "transitionCondition": {"intervalMinutes": 60},
        "startedAt": None,
        "progressionExecutedAt": None,
        "pausedAt": None,
    }
    assert strategy == {
        "id": strategy["id"],
        "milestoneId": first["id"],
        "name": "flexibleRollout",
        "strategyName": "flexibleRollout",
        "title": None,
        "disabled": False,
        "sortOrder": 0,
        "parameters": {"rollout": "5"},
        "constraints": [],
        "segments": [],
        "variants": [],
    }
    assert (last["sortOrder"], last["transitionCondition"]) == (1, None)


def test_one_is_found_where_its_creation_says(admin: ApiClient) -> None:
    answer = admin.post(ROOT, QUICK)
    assert (answer.status_code, answer.json["usedBy"]) == (201, 0)
    assert admin.ok("GET", answer.headers["Location"]) == answer.json
    assert answer.json in admin.ok("GET", ROOT)


def test_steps_and_strategies_come_in_their_sort_order(admin: ApiClient) -> None:
    both = [rollout(50, sortOrder=2), rollout(25, sortOrder=1)]
    steps = [{**step(100), "sortOrder": 9}, {"name": "Both", "strategies": both, "sortOrder": 4}]
    found = admin.ok("POST", ROOT, {**QUICK, "milestones": steps})["milestones"]
    assert [(each["name"], each["sortOrder"]) for each in found] == [("Both", 0), ("100%", 1)]
    shares = [each["parameters"]["rollout"] for each in found[0]["strategies"]]
    assert shares == ["25", "50"]


def test_an_update_changes_what_it_names_and_is_recorded_with_before_and_after(
    admin: ApiClient, quick: Any
) -> None:
    steps = [step(10), step(50), step(100, None)]
    found = admin.ok("PUT", f"{ROOT}/{quick['id']}", {"milestones": steps})
    assert (found["name"], found["description"]) == ("Quick", "In an hour")
    ids = [[each["id"] for each in one["milestones"]] for one in (quick, found)]
    assert ids[1][:2] == ids[0]
    event = recorded(admin, "updated")
    before, after = (event[key].pop("milestones") for key in ("preData", "data"))
    assert [each["name"] for each in before] == ["5%", "100%"]
    assert [each["name"] for each in after] == ["10%", "50%", "100%"]
    assert after[0]["strategies"][0]["parameters"] == {"rollout": "10"}
    assert (after[0]["seconds"], after[0]["byHand"]) == (3600, False)
    assert event["data"] == event["preData"]
    assert event["data"]["name"] == "Quick"


def test_what_a_read_returns_changes_nothing_when_it_is_sent_back(
    admin: ApiClient, quick: Any
) -> None:
    assert admin.ok("PUT", f"{ROOT}/{quick['id']}", quick) == quick
    assert admin.ok("GET", "/events?type=release-plan-template-updated")["total"] == 0


def test_a_deleted_one_is_gone_and_recorded(admin: ApiClient, quick: Any) -> None:
    assert admin.delete(f"{ROOT}/{quick['id']}").status_code == 204
    refused = admin.get(f"{ROOT}/{quick['id']}")
    assert error_of(refused) == (404, "NotFoundError")
    says = f"There is no release template with the id {quick['id']} here."
    assert refused.json["message"] == says
    event = recorded(admin, "deleted")
    assert (event["preData"]["name"], event["data"]) == ("Quick", None)


NO_ONE = {"name": "None", "strategies": []}
ENDLESS = {"name": "All", "strategies": [rollout(100)], "transitionCondition": {"manual": True}}


@pytest.mark.parametrize(
    ("body", "path", "message"),
    [
        ({"name": ""}, "/name", "Enter 1 to 100 characters."),
        ({"description": "x" * 256}, "/description", "Enter at most 255 characters."),
        ({"colour": "red"}, "/colour", "Unknown field."),
        ({"milestones": []}, "/milestones", "Send 1 to 30 steps."),
        ({"milestones": [step(5)] * 31}, "/milestones", "Send 1 to 30 steps."),
        (
            {"milestones": [step(5), NO_ONE]},
            "/milestones/1/strategies",
            "A step needs 1 to 30 strategies: they say who gets the feature.",
        ),
        (
            {"milestones": [{**step(5), "transitionCondition": {"intervalMinutes": 0}}]},
            "/milestones/0/transitionCondition/intervalMinutes",
            "Must lie between 1 and 527040.",
        ),
        (
            {"milestones": [step(5), ENDLESS]},
            "/milestones/1/transitionCondition/intervalMinutes",
            "This field is required.",
        ),
        (
            {"milestones": [{"name": "All", "strategies": [rollout(100, segments=[9])]}]},
            "/milestones/0/strategies/0/segments/0",
            "There is no segment with the id 9.",
        ),
        (
            {"milestones": [{"name": "All", "strategies": [rollout(5), {"name": "byMoon"}]}]},
            "/milestones/0/strategies/1/name",
            "There is no strategy type named 'byMoon'.",
        ),
    ],
)
def test_what_cannot_be_is_named_and_nothing_is_changed(
    admin: ApiClient, quick: Any, body: Any, path: str, message: str
) -> None:
    before = admin.ok("GET", "/events")["total"]
    new = admin.post(ROOT, {**QUICK, "name": "New", **body})
    changed = admin.put(f"{ROOT}/{quick['id']}", {"name": "Other", **body})
    assert problems_of(new) == problems_of(changed) == {path: message}
    assert admin.ok("GET", f"{ROOT}/{quick['id']}") == quick
    assert names(admin, ROOT) == ["Careful", "Quick"]
    assert admin.ok("GET", "/events")["total"] == before


def test_a_name_is_used_once_in_all_projects(admin: ApiClient, quick: Any, own: Any) -> None:
    says = "A release template named 'Quick' already exists."
    for refused in (
        admin.post(ROOT, QUICK),
        admin.post(SHOP, QUICK),
        admin.put(f"{ROOT}/{own['id']}", {"name": "Quick"}),
    ):
        assert error_of(refused) == (409, "NameExistsError")
        assert refused.json["message"] == says
    assert names(admin, SHOP) == ["Own"]


def test_a_change_by_someone_else_in_between_is_kept(
    admin: ApiClient, quick: Any, own: Any
) -> None:
    for path in (f"{ROOT}/{quick['id']}", f"{SHOP}/{own['id']}"):
        one = f"{ROOT}/{path[-36:]}"
        seen = {"If-Match": admin.get(one).headers["ETag"]}
        admin.ok("PUT", one, {"description": "Theirs"})
        for refused in (
            admin.put(path, {"description": "Mine"}, headers=seen),
            admin.delete(one, headers=seen),
        ):
            assert error_of(refused) == (412, "PreconditionFailedError")
        assert admin.ok("GET", one)["description"] == "Theirs"


def test_owners_change_those_of_their_project_alone(
    people: People, admin: ApiClient, quick: Any, own: Any
) -> None:
    owner, member = people.member("olga", "shop", "Owner"), people.member("mia", "shop")
    for client, id in ((owner, quick["id"]), (member, own["id"]), (member, quick["id"])):
        for answer in (
            client.put(f"{ROOT}/{id}", {"name": "Mine"}),
            client.delete(f"{ROOT}/{id}"),
        ):
            assert error_of(answer) == (403, "NoAccessError")
    assert owner.ok("PUT", f"{ROOT}/{own['id']}", {"name": "Mine"})["name"] == "Mine"
    owner.ok("DELETE", f"{ROOT}/{own['id']}")
    assert names(member, f"{SHOP}?include=root") == ["Careful", "Quick"]


def test_there_can_be_so_many_for_all_projects_and_as_many_in_each(
    app: Flask, admin: ApiClient, own: Any
) -> None:
    rest = {"steps": [], "created_at": utcnow()}
    many = [{"id": f"{n}", "name": f"{n}", **rest} for n in range(MAX_TEMPLATES - 1)]
    with app.app_context(), unit_of_work(writes=True):
        insert_all(many, ReleaseTemplate)
    refused = admin.post(ROOT, QUICK)
    assert error_of(refused) == (409, "ConflictError")
    assert refused.json["message"] == (
        f"There are {MAX_TEMPLATES} release templates already. Delete one first."
    )
    admin.ok("POST", SHOP, QUICK)
