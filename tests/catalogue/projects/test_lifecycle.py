"""Projects after they are created: archive, members, environments and approvals."""

import pytest

from tests.support.clients import REASON, ApiClient, error_of, problems_of
from tests.support.races import at_once

SHOP = "/projects/shop"
ACCESS = f"{SHOP}/access"
ENVIRONMENTS = f"{SHOP}/environments"


@pytest.fixture
def shop(admin):
    return admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})


def recorded(client, type):
    events = client.ok("GET", f"/events?type={type}")["events"]
    return [(event["project"], event["preData"], event["data"]) for event in events]


def listed(client, query=""):
    return [row["id"] for row in client.ok("GET", f"/projects?{query}")["projects"]]


# Archive


def test_an_empty_project_is_archived_and_revived(admin, shop):
    answer = admin.delete(SHOP)
    assert (answer.status_code, answer.data) == (200, b"")
    assert (listed(admin), listed(admin, "archived=true")) == (["default"], ["shop"])
    answer = admin.post(f"{SHOP}/restore")
    assert (answer.status_code, answer.data) == (200, b"")
    assert (listed(admin), listed(admin, "archived=true")) == (["default", "shop"], [])
    assert admin.ok("GET", SHOP) == shop


def test_both_are_recorded(admin, shop):
    admin.ok("DELETE", SHOP)
    admin.ok("POST", f"{SHOP}/restore")
    [(project, before, after)] = recorded(admin, "project-archived")
    assert (project, before["name"], after) == ("shop", "Shop", None)
    [(project, before, after)] = recorded(admin, "project-revived")
    assert (project, before, after["name"]) == ("shop", None, "Shop")


def test_a_project_with_active_features_is_not_archived(admin, shop):
    admin.ok("POST", f"{SHOP}/features", {"name": "cart"})
    assert error_of(admin.delete(SHOP)) == (409, "ConflictError")
    assert "shop" in listed(admin)
    admin.ok("POST", f"{SHOP}/archive", {"features": ["cart"]})
    admin.ok("DELETE", SHOP)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "", {"name": "Other"}),
        ("DELETE", "", None),
        ("PUT", "/access", {"members": []}),
        ("PUT", "/environments", {"environments": ["production"]}),
        ("POST", "/features", {"name": "new"}),
        ("PUT", "/features/cart", {"stale": True}),
        ("POST", "/revive-features", {"features": ["cart"]}),
        ("PUT", "/tags", {"features": ["cart"], "tags": {"addedTags": [], "removedTags": []}}),
    ],
)
def test_an_archived_project_is_not_changed(admin, shop, method, path, body):
    admin.ok("POST", f"{SHOP}/features", {"name": "cart"})
    admin.ok("POST", f"{SHOP}/archive", {"features": ["cart"]})
    admin.ok("DELETE", SHOP)
    before = admin.ok("GET", "/events")["total"]
    assert error_of(admin.request(method, SHOP + path, json=body)) == (409, "ConflictError")
    assert admin.ok("GET", "/events")["total"] == before


def test_an_archived_project_can_still_be_read(admin, shop):
    admin.ok("DELETE", SHOP)
    assert admin.ok("GET", SHOP) == shop
    assert admin.ok("GET", f"{SHOP}/features")["total"] == 0
    assert len(admin.ok("GET", ACCESS)["members"]) == 1


def test_an_active_or_unknown_project_is_not_revived(admin, shop):
    assert error_of(admin.post(f"{SHOP}/restore")) == (409, "ConflictError")
    assert error_of(admin.post("/projects/nowhere/restore")) == (404, "NotFoundError")


def test_owners_can_archive_and_revive_and_members_cannot(people, shop):
    owner, member = people.member("olga", "shop", "Owner"), people.member("mia", "shop")
    assert error_of(member.delete(SHOP)) == (403, "NoAccessError")
    owner.ok("DELETE", SHOP)
    assert error_of(member.post(f"{SHOP}/restore")) == (403, "NoAccessError")
    owner.ok("POST", f"{SHOP}/restore")


# Members


@pytest.fixture
def team(admin, people, shop):
    """An Owner with a client, and two who could join; the Admin who created the shop has left."""
    olga, mia, robot = people.person("olga"), people.person("mia"), people.service_account("robot")
    admin.ok("PUT", ACCESS, members((olga, 4)))
    return olga, mia, robot, ApiClient(people.app, people.token(olga))


def members(*pairs):
    return {"members": [{"id": id, "roleId": role} for id, role in pairs]}


def roles(client):
    return {row["id"]: row["roleId"] for row in client.ok("GET", ACCESS)["members"]}


def test_members_are_shown_owners_first(admin, team):
    olga, mia, robot, _ = team
    admin.ok("PUT", ACCESS, members((robot, 5), (mia, 5), (olga, 4)))
    found = admin.ok("GET", ACCESS)
    assert list(found) == ["version", "members"]
    assert [row["id"] for row in found["members"]] == [olga, *sorted([mia, robot])]
    assert found["members"][0] == {
        "id": olga,
        "username": "olga",
        "name": None,
        "accountType": "User",
        "roleId": 4,
    }
    assert found["members"][-1]["accountType"] == "Service Account"


def test_the_list_replaces_the_current_one(admin, team):
    olga, mia, robot, owner = team
    answer = owner.put(ACCESS, members((olga, 4), (mia, 5)))
    assert (answer.status_code, answer.data) == (200, b"")
    owner.ok("PUT", ACCESS, members((robot, 5), (mia, 4)))
    assert roles(admin) == {mia: 4, robot: 5}
    assert error_of(owner.put(ACCESS, members((mia, 4)))) == (403, "NoAccessError")


def test_what_was_read_can_be_sent_back_and_is_not_recorded(admin, team):
    before = len(recorded(admin, "project-access-updated"))
    body = {"members": admin.ok("GET", ACCESS)["members"]}
    admin.ok("PUT", ACCESS, body)
    assert len(recorded(admin, "project-access-updated")) == before


def test_a_change_of_members_is_recorded(admin, team):
    olga, mia, _, owner = team
    owner.ok("PUT", ACCESS, members((olga, 4), (mia, 5)))
    project, before, after = recorded(admin, "project-access-updated")[0]
    assert project == "shop"
    assert before == {"members": {str(olga): "Owner"}}
    assert after == {"members": {str(olga): "Owner", str(mia): "Member"}}


def test_the_last_owner_stays(admin, team):
    olga, mia, _, owner = team
    for body in (members(), members((mia, 5)), members((olga, 5))):
        for client in (owner, admin):
            assert error_of(client.put(ACCESS, body)) == (409, "ConflictError")
    assert roles(admin) == {olga: 4}


def test_two_owners_who_remove_each_other_leave_one(admin, people, team):
    olga, mia, _, owner = team
    admin.ok("PUT", ACCESS, members((olga, 4), (mia, 4)))
    other = ApiClient(people.app, people.token(mia))
    at_once(
        [
            lambda: owner.put(ACCESS, members((olga, 4))),
            lambda: other.put(ACCESS, members((mia, 4))),
        ]
    )
    assert 4 in roles(admin).values()


@pytest.mark.parametrize("unknown", [0, -1, 999, 2**31, 2**40])
def test_unknown_accounts_are_refused_at_their_place(admin, team, unknown):
    olga, *_ = team
    answer = admin.put(ACCESS, members((olga, 4), (unknown, 5)))
    assert list(problems_of(answer)) == ["/members/1/id"]
    assert roles(admin) == {olga: 4}


def test_a_deleted_account_is_unknown(admin, people, team):
    olga, mia, *_ = team
    admin.ok("DELETE", f"/user-admin/{mia}")
    answer = admin.put(ACCESS, members((olga, 4), (mia, 5)))
    assert list(problems_of(answer)) == ["/members/1/id"]


def test_an_account_is_listed_once(admin, team):
    olga, mia, *_ = team
    answer = admin.put(ACCESS, members((olga, 4), (mia, 5), (olga, 5)))
    assert list(problems_of(answer)) == ["/members/2/id"]


def test_members_that_are_not_valid_are_refused(admin, team, subtests):
    for body, problem in (
        ({}, "/members"),
        ({"members": None}, "/members"),
        ({"members": [{"id": 1}]}, "/members/0/roleId"),
        ({"members": [{"id": 1, "roleId": 1}]}, "/members/0/roleId"),
        ({"members": [{"id": "1", "roleId": 4}]}, "/members/0/id"),
        ({"members": [], "force": True}, "/force"),
    ):
        with subtests.test(body=body, problem=problem):
            assert list(problems_of(admin.put(ACCESS, body))) == [problem]


@pytest.mark.slow
def test_more_members_than_one_statement_can_name_are_no_server_error(admin, team):
    olga, *_ = team
    many = ((id, 5) for id in range(1_000, 50_000))
    answer = admin.put(ACCESS, members((olga, 4), *many))
    assert len(problems_of(answer)) == 1_000, "as many as anyone reads"
    assert "and 48997 more" in answer.json["message"]


def test_a_member_cannot_change_the_members(people, team):
    olga, *_ = team
    member = people.member("max", "shop")
    assert error_of(member.put(ACCESS, members((olga, 4)))) == (403, "NoAccessError")


def test_only_members_see_the_members_of_a_private_project(admin, people, viewer, team):
    admin.ok("PUT", SHOP, {"name": "Shop", "mode": "private"})
    people.member("max", "shop").ok("GET", ACCESS)
    assert error_of(viewer.get(ACCESS)) == (404, "NotFoundError")


def test_one_member_is_added_changed_and_removed(admin, team):
    olga, mia, robot, owner = team
    owner.ok("POST", ACCESS, {"id": robot, "roleId": 5})
    for role in (5, 4, 5):
        answer = owner.post(ACCESS, {"id": mia, "roleId": role})
        assert (answer.status_code, answer.data) == (200, b"")
        assert roles(admin) == {olga: 4, robot: 5, mia: role}
    answer = owner.delete(f"{ACCESS}/{mia}")
    assert (answer.status_code, answer.data) == (200, b"")
    assert roles(admin) == {olga: 4, robot: 5}


def test_a_change_of_one_member_is_recorded_only_if_it_is_one(admin, team):
    olga, mia, _, owner = team
    before = len(recorded(admin, "project-access-updated"))
    for _ in range(2):
        owner.ok("POST", ACCESS, {"id": mia, "roleId": 5})
    assert len(recorded(admin, "project-access-updated")) == before + 1
    project, was, now = recorded(admin, "project-access-updated")[0]
    assert (project, was) == ("shop", {"members": {str(olga): "Owner"}})
    assert now == {"members": {str(olga): "Owner", str(mia): "Member"}}


def test_the_last_owner_is_neither_demoted_nor_removed_alone(admin, team):
    olga, *_ = team
    for answer in (admin.post(ACCESS, {"id": olga, "roleId": 5}), admin.delete(f"{ACCESS}/{olga}")):
        assert error_of(answer) == (409, "ConflictError")
    assert roles(admin) == {olga: 4}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"id": 999, "roleId": 5}, "/id"),
        ({"id": 2**40, "roleId": 5}, "/id"),
        ({"roleId": 5}, "/id"),
        ({"id": 1}, "/roleId"),
        ({"id": 1, "roleId": 1}, "/roleId"),
    ],
)
def test_a_member_that_is_not_valid_is_refused(admin, team, body, problem):
    assert list(problems_of(admin.post(ACCESS, body))) == [problem]


def test_an_account_that_is_not_a_member_is_not_removed(admin, team):
    _, mia, *_ = team
    for id in (mia, 999):
        assert error_of(admin.delete(f"{ACCESS}/{id}")) == (404, "NotFoundError")


def test_only_owners_change_one_member(people, team):
    _, mia, *_ = team
    member = people.member("max", "shop")
    answers = member.post(ACCESS, {"id": mia, "roleId": 5}), member.delete(f"{ACCESS}/{mia}")
    assert {error_of(answer) for answer in answers} == {(403, "NoAccessError")}


# Environments and approvals


def rule(name, approvals):
    return {"name": name, "requiredApprovals": approvals}


def state(client):
    project = client.ok("GET", SHOP)
    return project["environments"], project["changeRequestEnvironments"]


def test_environments_and_approvals_are_replaced(admin, shop):
    body = {
        "environments": ["production", "production"],
        "changeRequestEnvironments": [rule("production", 3), {"name": "development"}],
    }
    answer = admin.put(ENVIRONMENTS, body)
    assert (answer.status_code, answer.data) == (200, b"")
    assert state(admin) == (["production"], [rule("development", 1), rule("production", 3)])
    body = {"environments": ["development"], "changeRequestEnvironments": [rule("production", 4)]}
    admin.ok("PUT", ENVIRONMENTS, body, headers=REASON)
    assert state(admin) == (["development"], [rule("production", 4)])


def test_approvals_that_are_left_out_stay(admin, shop):
    body = {"environments": ["production"], "changeRequestEnvironments": [rule("production", 3)]}
    admin.ok("PUT", ENVIRONMENTS, body)
    admin.ok("PUT", ENVIRONMENTS, {"environments": ["development"]}, headers=REASON)
    assert state(admin) == (["development"], [rule("production", 3)])
    body = {"environments": ["development"], "changeRequestEnvironments": []}
    admin.ok("PUT", ENVIRONMENTS, body, headers=REASON)
    assert state(admin) == (["development"], [])


@pytest.mark.parametrize(("sent", "kept"), [(0, 1), (-5, 1), (11, 10), (1_000, 10), (7, 7)])
def test_approvals_are_clamped(admin, shop, sent, kept):
    body = {"environments": ["production"], "changeRequestEnvironments": [rule("production", sent)]}
    admin.ok("PUT", ENVIRONMENTS, body)
    assert state(admin)[1] == [rule("production", kept)]


def test_environments_are_recorded_only_if_they_change(admin, shop):
    body = {"environments": ["production"], "changeRequestEnvironments": [rule("production", 3)]}
    for _ in range(2):
        admin.ok("PUT", ENVIRONMENTS, body)
    [(project, before, after)] = recorded(admin, "project-environments-updated")
    assert (project, before["environments"]) == ("shop", ["development", "production"])
    assert after["environments"] == ["production"]
    assert after["changeRequestEnvironments"] == {"production": 3}


@pytest.mark.parametrize(
    ("body", "problems"),
    [
        ({}, ["/environments"]),
        ({"environments": []}, ["/environments"]),
        ({"environments": ["production", "x", "y"]}, ["/environments/1", "/environments/2"]),
        (
            {"environments": ["production"], "changeRequestEnvironments": [{"name": "x"}]},
            ["/changeRequestEnvironments/0/name"],
        ),
        (
            {
                "environments": ["production"],
                "changeRequestEnvironments": [rule("production", 1), rule("production", 2)],
            },
            ["/changeRequestEnvironments/1/name"],
        ),
    ],
)
def test_environments_that_are_not_valid_are_refused(admin, shop, body, problems):
    before = state(admin)
    assert list(problems_of(admin.put(ENVIRONMENTS, body))) == problems
    assert state(admin) == before


def test_owners_can_set_environments_and_members_cannot(people, shop):
    body = {"environments": ["production"]}
    people.member("olga", "shop", "Owner").ok("PUT", ENVIRONMENTS, body)
    assert error_of(people.member("mia", "shop").put(ENVIRONMENTS, body)) == (403, "NoAccessError")
