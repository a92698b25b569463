"""Who asks for features, how often, and with what: over the API."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from tests.support.sdks import write_reports

FEATURES = "/projects/default/features"
LIST = "/metrics/applications"
NOW = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)
HOUR = "2026-11-21T14:00:00.000Z"


@pytest.fixture(autouse=True)
def cart(admin):
    admin.ok("POST", FEATURES, {"name": "cart"})


@pytest.fixture
def now():
    with time_machine.travel(NOW, tick=False) as clock:
        yield clock


def ask(sdk, app, name, sdk_version="unleash-node-sdk:6.12.1", **toggles):
    """Have an application report, as SDKs do."""
    found = {feature: {"yes": yes, "no": no} for feature, (yes, no) in toggles.items()}
    body = {"appName": name, "instanceId": "1", "bucket": {"toggles": found}}
    sdk.post("metrics", body, **{"unleash-sdk": sdk_version})
    write_reports(app)


@pytest.fixture
def private(admin):
    """A feature in a project that only its members see."""
    admin.ok("POST", "/projects", {"id": "vault", "name": "Vault", "mode": "private"})
    admin.ok("POST", "/projects/vault/features", {"name": "vault.door"})


def test_a_feature_says_what_it_said_in_the_last_hour_and_to_whom(admin, sdk, now):
    sdk.reports(cart=(3, 1))
    assert admin.ok("GET", "/client-metrics/features/cart") == {
        "version": 1,
        "maturity": "stable",
        "featureName": "cart",
        "lastHourUsage": [{"environment": "production", "timestamp": HOUR, "yes": 3, "no": 1}],
        "seenApplications": ["shop"],
    }
    now.shift(timedelta(hours=2))
    later = admin.ok("GET", "/client-metrics/features/cart")
    assert (later["lastHourUsage"], later["seenApplications"]) == ([], ["shop"])


def test_counts_come_by_hour_with_hours_without_any(admin, sdk, now):
    toggles = {"cart": {"yes": 3, "no": 1, "variants": {"blue": 2}}}
    sdk.post("metrics", {"appName": "shop", "bucket": {"toggles": toggles}})
    now.shift(timedelta(hours=2))
    sdk.reports(cart=(1, 0))
    answer = admin.ok("GET", "/client-metrics/features/cart/raw?hoursBack=3")
    shared = {"featureName": "cart", "appName": "shop", "environment": "production"}
    assert answer["data"] == [
        shared | {"timestamp": HOUR, "yes": 3, "no": 1, "variants": {"blue": 2}},
        shared | {"timestamp": "2026-11-21T15:00:00.000Z", "yes": 0, "no": 0, "variants": {}},
        shared | {"timestamp": "2026-11-21T16:00:00.000Z", "yes": 1, "no": 0, "variants": {}},
    ]


def test_counts_of_more_than_48_hours_come_by_day(admin, sdk, now):
    sdk.reports(cart=(3, 1))
    now.shift(timedelta(days=2))
    rows = admin.ok("GET", "/client-metrics/features/cart/raw?hoursBack=72")["data"]
    assert [(row["timestamp"][:13], row["yes"]) for row in rows] == [
        ("2026-11-21T00", 3),
        ("2026-11-22T00", 0),
        ("2026-11-23T00", 0),
    ]


@pytest.mark.parametrize("hours", ["0", "2161", "many", "1.5"])
def test_hours_back_are_from_1_to_90_days(admin, hours):
    answer = admin.get(f"/client-metrics/features/cart/raw?hoursBack={hours}")
    assert answer.status_code == 400


def test_what_a_feature_was_asked_is_seen_by_those_who_see_its_project(
    app, admin, people, new_sdk, private
):
    ask(new_sdk(), app, "shop", **{"vault.door": (1, 0), "cart": (1, 0)})
    viewer = people.client("grace")
    nothing = {"lastHourUsage": [], "seenApplications": []}
    for name in ("vault.door", "no-such-feature"):
        answer = viewer.ok("GET", f"/client-metrics/features/{name}")
        assert answer.items() >= nothing.items()
        assert viewer.ok("GET", f"/client-metrics/features/{name}/raw")["data"] == []
    assert admin.ok("GET", "/client-metrics/features/vault.door")["seenApplications"] == ["shop"]

    [row] = viewer.ok("GET", LIST)["applications"]
    assert [use["project"] for use in row["usage"]] == ["default"]
    [row] = admin.ok("GET", LIST)["applications"]
    assert [use["project"] for use in row["usage"]] == ["default", "vault"]
    assert viewer.ok("GET", f"{LIST}/shop/overview")["featureCount"] == 1
    assert admin.ok("GET", f"{LIST}/shop/overview")["featureCount"] == 2


def test_the_list_says_where_applications_run_and_with_what(app, admin, sdk, new_sdk, now):
    ask(sdk, app, "shop", cart=(1, 0))
    ask(new_sdk(environment="development"), app, "shop", "unleash-client-node:5.6.1", cart=(1, 0))
    assert admin.ok("GET", LIST) == {
        "applications": [
            {
                "appName": "shop",
                "strategies": [],
                "usage": [{"project": "default", "environments": ["development", "production"]}],
                "environments": ["development", "production"],
                "instanceCount": 2,
                "sdks": ["unleash-client-node:5.6.1", "unleash-node-sdk:6.12.1"],
                "outdatedSdks": ["unleash-client-node:5.6.1"],
                "lastSeen": "2026-11-21T14:05:00.000Z",
                "createdAt": "2026-11-21T14:05:00.000Z",
            }
        ],
        "total": 1,
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["api", "shop", "Web"]),
        ("?sortOrder=desc", ["Web", "shop", "api"]),
        ("?sortBy=lastSeen&sortOrder=desc", ["Web", "shop", "api"]),
        ("?query=SH", ["shop"]),
        ("?environment=development", ["Web"]),
        ("?sdk=outdated", ["api"]),
        ("?limit=1&offset=1", ["shop"]),
    ],
)
def test_the_list_is_searched_sorted_and_paged(app, admin, new_sdk, query, expected):
    with time_machine.travel(NOW, tick=False) as clock:
        ask(new_sdk(), app, "api", "unleash-java-sdk:9.2.0")
        clock.shift(60)
        ask(new_sdk(), app, "shop")
        clock.shift(60)
        ask(new_sdk(environment="development"), app, "Web")
        names = [one["appName"] for one in admin.ok("GET", f"{LIST}{query}")["applications"]]
    assert names == expected


@pytest.mark.parametrize("query", ["sort=appName", "sortBy=color", "sortOrder=up", "sdk=new"])
def test_the_list_refuses_what_it_does_not_know(admin, query):
    assert admin.get(f"{LIST}?{query}").status_code == 400


def test_the_overview_names_what_is_wrong_in_each_environment(app, admin, sdk, now):
    strategy = {"name": "remoteAddress", "parameters": {"IPs": "10.0.0.1"}}
    admin.ok("POST", f"{FEATURES}/cart/environments/production/strategies", strategy)
    body = {"appName": "shop", "instanceId": "1", "sdkVersion": "unleash-js-sdk:2.0.0"}
    sdk.post("register", body | {"strategies": ["default"]})
    sdk.reports(cart=(1, 0), crat=(0, 1))
    assert admin.ok("GET", f"{LIST}/shop/overview") == {
        "projects": ["default"],
        "featureCount": 1,
        "environments": [
            {
                "name": "production",
                "instanceCount": 2,
                "sdks": ["unleash-js-sdk:2.0.0"],
                "frontendSdks": ["unleash-js-sdk:2.0.0"],
                "backendSdks": [],
                "lastSeen": "2026-11-21T14:05:00.000Z",
                "issues": {
                    "missingFeatures": ["crat"],
                    "unreadableFeatures": [],
                    "outdatedSdks": ["unleash-js-sdk:2.0.0"],
                },
            }
        ],
        "issues": {"missingStrategies": ["remoteAddress"]},
    }


def test_instances_are_listed_for_24_hours(app, admin, sdk, now):
    ask(sdk, app, "shop")
    path = "/metrics/instances/shop/environment"
    assert admin.ok("GET", f"{path}/production")["instances"] == [
        {
            "instanceId": "1",
            "sdkVersion": "unleash-node-sdk:6.12.1",
            "lastSeen": "2026-11-21T14:05:00.000Z",
        }
    ]
    assert admin.ok("GET", f"{path}/development")["instances"] == []
    now.shift(timedelta(hours=25))
    assert admin.ok("GET", f"{path}/production")["instances"] == []


def test_an_application_can_have_any_name(app, admin, sdk):
    ask(sdk, app, "shop / häuser")
    assert admin.ok("GET", f"{LIST}/shop%20%2F%20h%C3%A4user/overview")["environments"]
    assert admin.get(f"{LIST}/nope/overview").status_code == 404
    assert admin.get(f"{LIST}/no%00pe/overview").status_code == 404


def test_unknown_names_are_listed_until_a_feature_has_them(admin, sdk, now):
    sdk.reports(crat=(0, 5))
    seen = "2026-11-21T14:05:00.000Z"
    places = [{"environment": "production", "seenAt": seen}]
    reports = [{"appName": "shop", "environments": places}]
    assert admin.ok("GET", "/metrics/unknown-flags") == {
        "unknownFlags": [{"name": "crat", "lastSeenAt": seen, "reports": reports}]
    }
    admin.ok("POST", FEATURES, {"name": "crat"})
    assert admin.ok("GET", "/metrics/unknown-flags") == {"unknownFlags": []}


def test_outdated_sdks_are_listed_with_their_applications(app, admin, sdk):
    ask(sdk, app, "shop", "unleash-java-sdk:9.2.0")
    ask(sdk, app, "api", "unleash-java-sdk:12.0.0")
    ask(sdk, app, "own", "made-at-home:0.1")
    found = {
        "sdkVersion": "unleash-java-sdk:9.2.0",
        "newestMajor": 12,
        "applications": ["shop"],
    }
    assert admin.ok("GET", "/metrics/sdks/outdated") == {"sdks": [found]}


def test_a_deleted_application_is_gone_until_it_reports_again(app, admin, sdk):
    sdk.reports(cart=(3, 1), crat=(1, 1))
    assert admin.delete(f"{LIST}/shop").status_code == 200
    assert admin.ok("GET", LIST)["total"] == 0
    assert admin.ok("GET", "/client-metrics/features/cart")["seenApplications"] == []
    assert admin.ok("GET", "/metrics/unknown-flags") == {"unknownFlags": []}
    [event] = admin.ok("GET", "/events?type=application-deleted")["events"]
    assert event["preData"]["name"] == "shop"
    sdk.reports(cart=(1, 0))
    assert admin.ok("GET", LIST)["total"] == 1


@pytest.mark.parametrize("name", ["a" * 256, "a%0Ab", "%20a", "a%00"])
def test_an_application_that_could_not_report_is_not_created(admin, name):
    assert admin.post(f"{LIST}/{name}", {}).status_code in {400, 404}
    assert admin.ok("GET", LIST)["applications"] == []
