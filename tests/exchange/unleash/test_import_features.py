"""What one export answers, an import brings in: from here to here, and from Unleash."""

import pytest

from tests.support.clients import error_of
from tests.support.unleash import sample

PLACE = {"project": "shop", "environment": "production"}
ROLLOUT = {
    "name": "flexibleRollout",
    "parameters": {"rollout": "40", "stickiness": "userId", "groupId": "basket"},
    "constraints": [{"contextName": "userId", "operator": "IN", "values": ["1", "2"]}],
    "variants": [
        {"name": "a", "weight": 334, "stickiness": "userId"},
        {"name": "b", "weight": 333, "stickiness": "userId"},
        {"name": "c", "weight": 333, "stickiness": "userId"},
    ],
}


@pytest.fixture
def shop(admin):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})


@pytest.fixture
def exported(admin, shop):
    """What an export of two features answers, one of which depends on the other."""
    place = "/projects/default/features"
    for name in ("basket", "parent"):
        admin.ok("POST", place, {"name": name, "description": f"About {name}"})
    admin.ok("POST", f"{place}/basket/environments/production/strategies", ROLLOUT)
    admin.ok("POST", f"{place}/basket/environments/production/on")
    admin.ok("POST", f"{place}/basket/dependencies", {"feature": "parent"})
    asked = {"environment": "production", "project": "default"}
    return admin.ok("POST", "/features-batch/export", asked)


def renamed(exported, **names):
    text = str(exported)
    for old, new in names.items():
        text = text.replace(f"'{old}'", f"'{new}'")
    return eval(text)


def bring(client, data, **place):
    return client.ok("POST", "/features-batch/import", PLACE | place | {"data": data})


def check(client, data, **place):
    return client.ok("POST", "/features-batch/validate", PLACE | place | {"data": data})


def test_an_export_from_here_comes_back_under_other_names(admin, exported):
    data = renamed(exported, basket="basket2", parent="parent2")
    assert check(admin, data)["errors"] == []
    bring(admin, data)
    asked = {"environment": "production", "project": "shop"}
    again = admin.ok("POST", "/features-batch/export", asked)
    for one, other in zip(again["featureStrategies"], data["featureStrategies"], strict=True):
        assert one | {"id": ""} == other | {"id": ""}
    assert again["featureEnvironments"] == data["featureEnvironments"]
    assert again["dependencies"] == data["dependencies"]


def test_importing_twice_changes_nothing_more(admin, exported):
    data = renamed(exported, basket="basket2", parent="parent2")
    bring(admin, data)
    second = bring(admin, data)
    assert admin.ok("GET", f"/events?batch={second['batchId']}")["events"] == []


def test_an_import_replaces_strategies_of_this_environment_alone(admin, exported):
    for environment in ("development", "production"):
        place = f"/projects/default/features/basket/environments/{environment}/strategies"
        admin.ok("POST", place, {"name": "default"})
    bring(admin, exported, project="default")
    feature = admin.ok("GET", "/projects/default/features/basket")
    found = {
        each["name"]: [s["name"] for s in each["strategies"]] for each in feature["environments"]
    }
    assert found == {"development": ["default"], "production": ["flexibleRollout"]}


def test_impression_data_of_what_is_on_in_a_guarded_environment_is_not_imported(admin, exported):
    rules = [{"name": "production", "requiredApprovals": 1}]
    body = {"environments": ["development", "production"], "changeRequestEnvironments": rules}
    admin.ok("PUT", "/projects/default/environments", body)
    for feature in exported["features"]:
        feature["impressionData"] = True
    sent = {"project": "default", "environment": "development", "data": exported}
    refused = admin.post("/features-batch/import", sent)
    assert error_of(refused) == (400, "ValidationError")
    assert "It is on in production, where changes need approvals." in refused.json["message"]
    assert not admin.ok("GET", "/projects/default/features/basket")["impressionData"]


def test_what_unleash_exports_is_imported(admin, shop):
    data = sample("export-8.2.0")
    segments = data["segments"]
    for segment in segments:
        kim = {"contextName": "userId", "operator": "IN", "values": ["kim"]}
        admin.ok("POST", "/segments", {"name": segment["name"], "constraints": [kim]})
    wrong = {"child.two", "hostile"} | {f["name"] for f in data["features"] if len(f["name"]) > 100}
    errors = check(admin, data, environment="development")["errors"]
    assert {name for error in errors for name in error["affectedItems"]} <= wrong
    data = {
        key: [
            row
            for row in rows
            if wrong.isdisjoint({row.get("featureName"), row.get("feature"), row.get("name")})
        ]
        for key, rows in data.items()
    }
    for name in ("byRegion",):
        parameters = [
            {"name": name, "type": "string"}
            for name in ("regions", "share", "label", "count", "strict")
        ]
        admin.ok("POST", "/strategies", {"name": name, "parameters": parameters})
    bring(admin, data, environment="development")
    feature = admin.ok("GET", "/projects/shop/features/shop.checkout")
    assert feature["description"] == "The new checkout\nin two lines"


def test_a_name_of_another_project_is_refused_without_saying_which(admin, exported):
    answer = admin.post("/features-batch/import", PLACE | {"data": exported})
    assert error_of(answer) == (400, "ValidationError")
    assert "another project" in answer.json["message"]
    assert "default" not in answer.json["message"]


def test_an_archived_feature_is_refused(admin, exported):
    admin.ok("POST", "/projects/default/archive", {"features": ["basket"]})
    errors = check(admin, exported, project="default")["errors"]
    assert [error["affectedItems"] for error in errors] == [["basket"]]


def test_nothing_is_imported_if_anything_is_wrong(admin, exported):
    data = renamed(exported, basket="basket2", parent="parent2")
    data["featureStrategies"][0]["parameters"]["rollout"] = "abc"
    answer = admin.post("/features-batch/import", PLACE | {"data": data})
    assert error_of(answer) == (400, "ValidationError")
    assert admin.ok("GET", "/projects/shop/features")["features"] == []


def test_permissions_that_are_missing_are_named(admin, people, exported):
    viewer = people.client("vi")
    data = renamed(exported, basket="basket2", parent="parent2")
    [found] = check(viewer, data)["permissions"]
    assert "CREATE_FEATURE" in found["affectedItems"]
    answer = viewer.post("/features-batch/import", PLACE | {"data": data})
    assert error_of(answer) == (403, "NoAccessError")


def test_a_guarded_environment_gets_a_change_request(admin, exported):
    rules = [{"name": "production", "requiredApprovals": 1}]
    admin.ok(
        "PUT",
        "/projects/shop/environments",
        {"environments": ["development", "production"], "changeRequestEnvironments": rules},
    )
    data = renamed(exported, basket="basket2", parent="parent2")
    [number] = bring(admin, data)["changeRequests"]
    feature = admin.ok("GET", "/projects/shop/features/basket2")
    [state] = [each for each in feature["environments"] if each["name"] == "production"]
    assert (state["enabled"], state["strategies"]) == (False, [])
    request = admin.ok("GET", f"/projects/shop/change-requests/{number}")
    assert request["state"] == "In review"


def test_links_come_too_unless_they_lead_elsewhere_than_to_a_site(admin, exported):
    ticket = {"url": "https://tickets.example/1", "title": "Ticket"}
    script = {"url": "javascript:alert(1)", "title": "Ticket"}
    links = [{"feature": "basket2", "links": [ticket, script]}]
    data = renamed(exported, basket="basket2", parent="parent2") | {"links": links}
    assert check(admin, data)["errors"] == []
    bring(admin, data)
    [link] = admin.ok("GET", "/projects/shop/features/basket2")["links"]
    assert {key: link[key] for key in ticket} == ticket
    data.pop("links")  # as from a version of Unleash that has none
    bring(admin, data)
    assert admin.ok("GET", "/projects/shop/features/basket2")["links"] == [link]
