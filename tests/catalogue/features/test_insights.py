"""Numbers about projects, at the addresses that Unleash has."""

import pytest

from tests.support.clients import error_of

P = "/projects/default"


@pytest.fixture
def cart(admin, new_sdk):
    admin.ok("POST", f"{P}/features", {"name": "cart"})
    admin.ok("POST", f"{P}/features", {"name": "old", "type": "experiment", "stale": True})
    admin.ok("POST", f"{P}/features", {"name": "gone"})
    admin.ok("DELETE", f"{P}/features/gone")
    new_sdk(environment="production").reports(cart=(3, 1))


def test_the_overview_counts_what_is_there(admin, cart):
    found = admin.ok("GET", f"{P}/overview")
    counts = {each["type"]: each["count"] for each in found["featureTypeCounts"]}
    assert counts == {"release": 1, "experiment": 1}
    assert (found["health"], found["technicalDebt"]) == (50, 50)
    assert found["stats"]["createdCurrentWindow"] == 3
    assert found["stats"]["archivedCurrentWindow"] == 1
    assert found["onboardingStatus"] == {"status": "onboarded"}


def test_a_new_project_is_at_the_start(admin):
    assert admin.ok("GET", f"{P}/overview")["onboardingStatus"] == {"status": "onboarding-started"}
    admin.ok("POST", f"{P}/features", {"name": "cart"})
    status = admin.ok("GET", f"{P}/overview")["onboardingStatus"]
    assert status == {"status": "first-flag-created", "feature": "cart"}


def test_the_health_report_has_the_active_features(admin, cart):
    found = admin.ok("GET", f"{P}/health-report")
    assert [feature["name"] for feature in found["features"]] == ["cart", "old"]
    assert (found["activeCount"], found["staleCount"]) == (2, 1)


def test_the_time_until_a_feature_was_on_in_production(admin, cart):
    assert admin.ok("GET", f"{P}/dora") == {
        "projectAverage": 0,
        "features": [{"name": "cart", "timeToProduction": 0}],
    }


def test_the_status_says_how_far_features_are(admin, cart):
    found = admin.ok("GET", f"{P}/status")
    stages = {name: each["currentFlags"] for name, each in found["lifecycleSummary"].items()}
    assert stages == {"initial": 1, "preLive": 0, "live": 1, "completed": 0, "archived": 1}
    assert found["lifecycleSummary"]["archived"]["last30Days"] == 1
    assert sum(day["count"] for day in found["activityCountByDate"]) >= 4
    counts = {"initial": 1, "preLive": 0, "live": 1, "completed": 0, "archived": 1}
    assert admin.ok("GET", "/lifecycle/count") == counts


def test_who_created_features(admin, cart):
    [creator] = admin.ok("GET", f"{P}/flag-creators")
    assert creator["id"] == admin.ok("GET", "/user")["user"]["id"]


def test_which_applications_ask_for_features_of_a_project(admin, cart):
    found = admin.ok("GET", f"{P}/applications")
    [shop] = found["applications"]
    assert (found["total"], shop["name"], shop["environments"]) == (1, "shop", ["production"])
    assert admin.ok("GET", f"{P}/applications?query=nothing")["total"] == 0


@pytest.mark.parametrize(
    "path", ["overview", "health-report", "insights", "status", "dora", "flag-creators"]
)
def test_numbers_of_a_hidden_project_are_hidden(admin, viewer, path):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop", "mode": "private"})
    assert error_of(viewer.get(f"/projects/shop/{path}")) == (404, "NotFoundError")


def test_an_admin_reads_how_much_the_instance_holds(admin, cart):
    found = admin.ok("GET", "/instance-admin/statistics")
    assert (found["featureToggles"], found["projects"], found["contextFields"]) == (2, 1, 6)
    header, row = admin.get("/instance-admin/statistics/csv").text.splitlines()
    numbers = dict(zip(header.split(","), row.split(","), strict=True))
    assert (numbers["featureToggles"], numbers["clientApps_7d"]) == ("2", "1")
