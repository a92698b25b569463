"""Lists come in the order that was asked for, the same on every page."""

import pytest

from tests.support.clients import problems_of


@pytest.fixture
def filled(admin):
    for id, name in (("b", "Beta"), ("a", "alpha"), ("c", "Gamma")):
        admin.ok("POST", "/projects", {"id": id, "name": name})
        admin.ok("POST", "/service-account", {"username": f"robot-{id}", "rootRole": 3})
        admin.ok("POST", "/user-admin", {"username": f"person-{id}", "rootRole": 3})
    for name, type in (("y", "release"), ("x", "experiment"), ("z", "operational")):
        admin.ok("POST", "/projects/b/features", {"name": name, "type": type})
    for value, features in (("rare", ["x"]), ("often", ["x", "y"])):
        tags = {"addedTags": [{"value": value}], "removedTags": []}
        admin.ok("PUT", "/projects/b/tags", {"features": features, "tags": tags})


PEOPLE = ["person-c", "person-b", "person-a", "admin"]
ROBOTS = ["robot-a", "robot-b", "robot-c"]
CASES = [
    ("/projects", "projects", "id", "name", ["a", "b", "default", "c"]),
    ("/projects", "projects", "id", "-name", ["c", "default", "b", "a"]),
    ("/projects", "projects", "id", "-featureCount", ["b", "a", "default", "c"]),
    ("/projects", "projects", "id", "-memberCount", ["a", "b", "c", "default"]),
    ("/projects", "projects", "id", "-id", ["default", "c", "b", "a"]),
    ("/projects/b/features", "features", "name", "type", ["x", "z", "y"]),
    ("/projects/b/features", "features", "name", "-name", ["z", "y", "x"]),
    ("/tags", "tags", "value", "used", ["rare", "often"]),
    ("/tags", "tags", "value", "-value", ["rare", "often"]),
    ("/user-admin", "users", "username", "-username", PEOPLE),
    ("/service-account", "serviceAccounts", "username", "username", ROBOTS),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {case[3]}")
def test_a_list_comes_in_the_order_asked_for(filled, admin, case):
    path, things, field, sort, expected = case
    rows = admin.ok("GET", f"{path}?sort={sort}")[things]
    assert [row[field] for row in rows] == expected
    pages = [
        admin.ok("GET", f"{path}?sort={sort}&limit=1&offset={at}")[things][0][field]
        for at in range(len(expected))
    ]
    assert pages == expected


@pytest.mark.parametrize(
    ("sort", "expected"),
    [("seenAt", ["ann", "bob", "admin"]), ("-seenAt", ["bob", "ann", "admin"])],
)
def test_who_never_signed_in_comes_last_either_way(admin, people, sort, expected):
    people.person("ann", away_days=2)
    people.person("bob", away_days=1)
    users = admin.ok("GET", f"/user-admin?sort={sort}")["users"]
    assert [user["username"] for user in users] == expected


def test_another_order_is_refused_with_those_there_are(admin):
    message = problems_of(admin.get("/projects?sort=colour"))["?sort"]
    assert "-createdAt" in message
