"""Features are exported in Unleash's format, with all that they name."""

import json

import pytest

from tests.support.clients import error_of
from tests.support.statements import settled

EXPORT = "/features-batch/export"
FEATURES = "/projects/default/features"
ROLLOUT = {
    "name": "flexibleRollout",
    "title": "Half of Norway",
    "parameters": {"rollout": "50", "stickiness": "userId", "groupId": "checkout"},
    "constraints": [{"contextName": "country", "operator": "IN", "values": ["NO"]}],
    "variants": [{"name": "blue", "weight": 1000, "stickiness": "plan"}],
}


@pytest.fixture
def shop(admin):
    """Features in two projects: one with everything, one plain, one archived."""
    for name in ("country", "plan", "unused"):
        admin.ok("POST", "/context", {"name": name, "stickiness": True})
    kim = {"contextName": "userId", "operator": "IN", "values": ["kim"]}
    segment = admin.ok("POST", "/segments", {"name": "Beta testers", "constraints": [kim]})
    admin.ok("POST", "/tag-types", {"name": "team", "description": "Who owns it"})
    admin.ok("POST", "/projects", {"id": "other", "name": "Other"})
    admin.ok("POST", "/projects/other/features", {"name": "abroad"})
    for name in ("plain", "full", "gone"):
        admin.ok("POST", FEATURES, {"name": name, "description": f"About {name}"})
    admin.ok("POST", "/projects/default/archive", {"features": ["gone"]})
    place = f"{FEATURES}/full/environments/production"
    admin.ok("POST", f"{place}/strategies", ROLLOUT | {"segments": [segment["id"]]})
    admin.ok("POST", f"{place}/on")
    admin.ok("POST", f"{FEATURES}/full/dependencies", {"feature": "plain", "enabled": False})
    admin.ok("POST", f"{FEATURES}/full/link", {"url": "https://wiki.example/full"})
    tags = {"addedTags": [{"type": "team", "value": "web"}, {"value": "x"}], "removedTags": []}
    admin.ok("PUT", "/projects/default/tags", {"features": ["full"], "tags": tags})
    return segment


def export(client, **asked):
    return client.ok("POST", EXPORT, {"environment": "production", **asked})


def names(client, **asked):
    return [feature["name"] for feature in export(client, **asked)["features"]]


def test_everything_that_a_feature_needs_elsewhere_is_there(admin, shop):
    found = export(admin, features=["full"])
    assert found["features"] == [
        {
            "name": "full",
            "description": "About full",
            "type": "release",
            "project": "default",
            "stale": False,
            "impressionData": False,
            "archived": False,
        }
    ]
    [state] = found["featureEnvironments"]
    assert state == {
        "name": "full",
        "featureName": "full",
        "environment": "production",
        "enabled": True,
        "variants": [],
    }
    [strategy] = found["featureStrategies"]
    assert strategy["featureName"] == "full"
    assert strategy["segments"] == [shop["id"]]
    stored = admin.ok("GET", f"{FEATURES}/full")["environments"]
    [same] = next(each["strategies"] for each in stored if each["name"] == "production")
    assert {**same, "featureName": "full"} == {**strategy, "summary": same["summary"]}
    assert found["segments"] == [{"id": shop["id"], "name": "Beta testers"}]
    assert [field["name"] for field in found["contextFields"]] == ["userId", "country", "plan"]
    assert sorted(found["featureTags"], key=str) == [
        {"featureName": "full", "tagType": "simple", "tagValue": "x"},
        {"featureName": "full", "tagType": "team", "tagValue": "web"},
    ]
    assert [type["name"] for type in found["tagTypes"]] == ["simple", "team"]
    parent = {"feature": "plain", "enabled": False, "variants": []}
    assert found["dependencies"] == [{"feature": "full", "dependencies": [parent]}]
    [linked] = found["links"]
    assert linked["feature"] == "full"
    assert [(link["url"], link["title"]) for link in linked["links"]] == [
        ("https://wiki.example/full", None)
    ]


def test_what_is_asked_for_narrows_it_and_archived_ones_are_never_in_it(admin, shop):
    assert names(admin) == ["abroad", "full", "plain"]
    assert names(admin, features=[]) == ["abroad", "full", "plain"]
    assert names(admin, project="default") == ["full", "plain"]
    assert names(admin, tag="web") == names(admin, tag="team:web") == ["full"]
    assert names(admin, tag="team:x") == []


def test_another_environment_has_its_own_states(admin, shop):
    found = export(admin, environment="development", features=["full"])
    [state] = found["featureEnvironments"]
    assert (state["environment"], state["enabled"]) == ("development", False)
    assert found["featureStrategies"] == found["segments"] == found["contextFields"] == []


def test_an_environment_that_the_project_does_not_use_has_no_states(admin, shop):
    admin.ok("PUT", "/projects/other/environments", {"environments": ["development"]})
    found = export(admin, project="other")
    assert [feature["name"] for feature in found["features"]] == ["abroad"]
    assert found["featureEnvironments"] == []


def test_no_one_gets_what_they_can_not_see(admin, viewer, shop):
    admin.ok("PUT", "/projects/other", {"name": "Other", "mode": "private"})
    assert names(viewer) == ["full", "plain"]
    assert names(viewer, project="other") == []
    refused = viewer.post(EXPORT, {"environment": "production", "features": ["abroad", "plain"]})
    assert error_of(refused) == (400, "ValidationError")
    assert "'abroad'" in refused.json["message"]
    assert "plain" not in refused.json["message"]


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({}, 400),
        ({"environment": "moon"}, 404),
        ({"environment": "production", "features": ["gone"]}, 400),
        ({"environment": "production", "feature": "plain"}, 400),
        ({"environment": "production", "features": "plain"}, 400),
    ],
)
def test_a_request_that_is_half_wrong_is_refused_whole(admin, shop, asked, status):
    assert error_of(admin.post(EXPORT, asked))[0] == status


def test_as_a_file_it_has_a_name(admin, shop):
    asked = {"environment": "production", "project": "default", "downloadFile": True}
    answer = admin.post(EXPORT, asked)
    name = "features-of-default-in-production.json"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}"'


def test_the_page_exports_a_project_or_what_was_selected(admin, browser, shop):
    page = browser.get("/projects/default/export")
    assert "2 features of Default" in page.words
    answer = browser.get("/projects/default/export?environment=production").answer
    assert json.loads(answer.text) == export(admin, project="default")
    assert "attachment" in answer.headers["Content-Disposition"]
    chosen = browser.post("/projects/default/selection", {"feature": "plain", "to": "export"})
    page = browser.follow(chosen)
    assert "1 selected feature of Default" in page.words
    [selection] = [e.attributes["value"] for e in page.select('[name="selection"]')]
    path = f"/projects/default/export?environment=production&selection={selection}"
    found = json.loads(browser.get(path).answer.text)
    assert [feature["name"] for feature in found["features"]] == ["plain"]
    assert browser.get("/projects/default/export?selection=unknown").status == 404


@pytest.fixture
def refused_there(admin, shop):
    """Strategies and an operator that an Unleash 8 doesn't know."""
    network = {"contextName": "remoteAddress", "operator": "IN_CIDR", "values": ["10.0.0.0/8"]}
    admin.ok("POST", "/strategies", {"name": "by-region"})
    for name, environment, strategy in (
        ("plain", "production", {"name": "userWithId", "parameters": {"userIds": "1"}}),
        ("full", "production", {"name": "flexibleRollout", "constraints": [network]}),
        ("full", "development", {"name": "by-region"}),
        ("full", "development", {"name": "gradualRolloutRandom"}),
    ):
        admin.ok("POST", f"{FEATURES}/{name}/environments/{environment}/strategies", strategy)


def test_the_page_names_the_features_that_unleash_refuses(browser, refused_there):
    page = browser.get("/projects/default/export")
    for line in (
        "In development, by-region of full. Create this strategy type in Unleash first.",
        "In development, gradualRolloutRandom of full. Use flexibleRollout with the same share",
        "In production, IN_CIDR of full. Use a strategy remoteAddress instead",
        "In production, userWithId of plain. Use flexibleRollout with a constraint on userId",
    ):
        assert line in page.words
    chosen = browser.post("/features/selection", {"feature": "plain", "to": "export"})
    words = browser.follow(chosen).words
    assert ("userWithId of plain" in words, "of full" in words) == (True, False)
    assert "Unleash 8 refuses" not in browser.get("/projects/other/export").words


def test_the_security_log_has_who_exported_what(admin, browser, shop):
    browser.get("/projects/default/export?environment=production")
    [entry] = admin.ok("GET", "/security-log", query_string={"limit": 1})["entries"]
    assert entry["detail"] == "features-of-default-in-production.json, 2 rows"


def test_the_export_takes_the_same_statements_for_any_number(app, admin, shop):
    taken = []
    for _ in range(2):
        taken.append(len(settled(app, lambda: export(admin))))
        for number in range(20):
            admin.ok("POST", FEATURES, {"name": f"f{len(taken)}{number}"})
    assert taken[0] == taken[1]
