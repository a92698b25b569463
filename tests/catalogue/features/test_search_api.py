"""Searching features of all projects, as Unleash's clients do."""

import pytest

from tests.support.clients import error_of, problems_of

SEARCH = "/search/features"
RED = {"type": "simple", "value": "red"}


@pytest.fixture(autouse=True)
def features(admin):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    for name, project, more in (
        ("cart", "default", {"tags": [RED]}),
        ("login", "default", {"type": "experiment", "stale": True}),
        ("tips", "shop", {}),
    ):
        admin.ok("POST", f"/projects/{project}/features", {"name": name} | more)
    admin.ok("POST", "/projects/default/features/cart/environments/production/on")
    admin.ok("POST", "/projects/default/features/login/favorites")


def found(client, **query):
    return [row["name"] for row in client.ok("GET", SEARCH, query_string=query)["features"]]


@pytest.mark.parametrize(
    ("filter", "names"),
    [
        ({"query": "ti"}, ["tips"]),
        ({"project": "IS:shop"}, ["tips"]),
        ({"project": "IS_NOT:shop"}, ["cart", "login"]),
        ({"type": "IS_ANY_OF:experiment,kill-switch"}, ["login"]),
        ({"state": "IS:active"}, ["cart", "tips"]),
        ({"state": "IS:stale"}, ["login"]),
        ({"tag": "INCLUDE:simple:red"}, ["cart"]),
        ({"tag": "DO_NOT_INCLUDE:simple:red"}, ["login", "tips"]),
        ({"status": "production:enabled"}, ["cart"]),
        ({"favorite": "IS:true"}, ["login"]),
        ({"favorite": "IS:false"}, ["cart", "tips"]),
        ({"lifecycle": "IS:archived"}, []),
        ({"archived": "IS:true"}, []),
        ({"createdAt": "IS_BEFORE:2020-01-01"}, []),
        ({"createdAt": "IS_ON_OR_AFTER:2020-01-01"}, ["cart", "login", "tips"]),
        ({"lastSeenAt": "IS_ON_OR_AFTER:2020-01-01"}, []),
        ({"segment": "INCLUDE:nordic"}, []),
        ({"sortBy": "name", "sortOrder": "desc"}, ["tips", "login", "cart"]),
        ({"sortBy": "name", "favoritesFirst": "true"}, ["login", "cart", "tips"]),
        ({"sortBy": "name", "limit": "1", "offset": "1"}, ["login"]),
    ],
)
def test_filters_and_orders(admin, filter, names):
    assert found(admin, **{"sortBy": "name", **filter}) == names


def test_who_created_a_feature(admin):
    me = admin.ok("GET", "/user")["user"]["id"]
    assert len(found(admin, createdBy=f"IS:{me}")) == 3
    assert found(admin, createdBy="IS:999") == []
    [row] = admin.ok("GET", f"{SEARCH}?query=cart")["features"]
    assert (row["createdBy"]["id"], row["dependencyType"], row["segments"]) == (me, None, [])


def test_the_segments_of_a_feature_are_named_and_found(admin):
    constraint = {"contextName": "userId", "operator": "IN", "values": ["1"]}
    segment = admin.ok("POST", "/segments", {"name": "nordic", "constraints": [constraint]})
    path = "/projects/shop/features/tips/environments/production/strategies"
    admin.ok("POST", path, {"name": "default", "segments": [segment["id"]]})
    [row] = admin.ok("GET", f"{SEARCH}?segment=INCLUDE:nordic")["features"]
    assert (row["name"], row["segments"]) == ("tips", ["nordic"])
    assert found(admin, segment="DO_NOT_INCLUDE:nordic", sortBy="name") == ["cart", "login"]


def test_the_present_step_of_a_release_is_named(admin):
    place = "/projects/default/features/login/environments/production"
    steps = [
        {
            "name": f"{share}%",
            "strategies": [{"name": "flexibleRollout", "parameters": {"rollout": share}}],
        }
        for share in ("5", "25", "100")
    ]
    plan = admin.ok("POST", f"{place}/release-plans", {"milestones": steps, "start": True})
    milestone = f"{place}/release-plans/{plan['id']}/milestones/{plan['milestones'][1]['id']}"
    admin.ok("POST", f"{milestone}/start")
    keys = ("milestoneName", "milestoneOrder", "totalMilestones")

    def shown():
        [row] = admin.ok("GET", f"{SEARCH}?query=login")["features"]
        return {each["name"]: [each.get(key) for key in keys] for each in row["environments"]}

    assert shown() == {"development": [None] * 3, "production": ["25%", 1, 3]}
    admin.ok("POST", f"{place}/release-plans/{plan['id']}/stop", {})
    assert shown()["production"] == [None] * 3


def test_features_of_hidden_projects_are_not_found(admin, viewer):
    admin.ok("PUT", "/projects/shop", {"name": "Shop", "mode": "private"})
    assert found(viewer, project="IS:shop") == []
    assert "tips" not in found(viewer)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("project=shop", "?project"),
        ("type=IS:unknown", "?type"),
        ("tag=INCLUDE", "?tag"),
        ("status=production", "?status"),
        ("createdAt=IS_BEFORE:soon", "?createdAt"),
        ("sortBy=color", "?sortBy"),
    ],
)
def test_a_filter_that_is_half_wrong_is_refused_by_its_name(admin, query, path):
    assert any(where.startswith(path) for where in problems_of(admin.get(f"{SEARCH}?{query}")))


@pytest.mark.parametrize("many", ["tag=INCLUDE_ALL_OF:", "project=IS_ANY_OF:"])
def test_a_filter_has_at_most_50_values(admin, many):
    values = ",".join(f"a{number}" for number in range(51))
    assert error_of(admin.get(f"/search/features?{many}{values}")) == (400, "ValidationError")
    fewer = values.rpartition(",")[0]
    assert admin.get(f"/search/features?{many}{fewer}").status_code == 200


@pytest.mark.parametrize("path", ["features?project=IS:%00", "events?groupId=IS:%00"])
def test_a_filter_with_a_nul_is_refused(admin, path):
    assert error_of(admin.get(f"/search/{path}")) == (400, "ValidationError")


def test_events_are_found_until_the_end_of_time(admin):
    assert admin.ok("GET", "/search/events?to=IS:9999-12-31")["total"] > 0
