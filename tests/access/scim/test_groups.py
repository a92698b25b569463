"""Groups of a directory, and the roles that they give."""

import pytest

from tests.access.scim.conftest import GROUP


def role(admin, user) -> int:
    return int(admin.ok("GET", f"/user-admin/{user['id']}")["rootRole"])


def test_a_group_of_the_directory_gives_what_an_admin_chose(directory, admin):
    grace = directory.user("grace")
    admin.ok("POST", "/groups", {"name": "Devs", "rootRole": 2})
    made = directory.group("devs", grace["id"])
    assert made["displayName"] == "Devs"
    assert [member["value"] for member in made["members"]] == [grace["id"]]
    assert role(admin, grace) == 2
    assert directory.ok("GET", f"/Users/{grace['id']}")["groups"][0]["display"] == "Devs"
    admin.ok("PUT", f"/groups/{made['id']}", {"rootRole": None})
    assert role(admin, grace) == 3


@pytest.mark.parametrize(
    ("operations", "names"),
    [
        ([{"op": "add", "path": "members", "value": [{"value": "{b}"}]}], ["a", "b"]),
        ([{"op": "Add", "path": "members", "value": [{"value": "{a}"}]}], ["a"]),
        ([{"op": "remove", "path": 'members[value eq "{a}"]'}], []),
        ([{"op": "Remove", "path": "members", "value": [{"value": "{a}"}]}], []),
        ([{"op": "replace", "path": "members", "value": [{"value": "{b}"}]}], ["b"]),
        ([{"op": "replace", "value": {"displayName": "Ops"}}], ["a"]),
        (
            [
                {"op": "add", "path": "members", "value": [{"value": "{b}"}]},
                {"op": "remove", "path": "members", "value": [{"value": "{a}"}]},
            ],
            ["b"],
        ),
    ],
)
def test_directories_change_who_is_in_a_group(directory, operations, names):
    ids = {name: directory.user(name)["id"] for name in ("a", "b")}
    made = directory.group("devs", ids["a"])

    def filled(value):
        if isinstance(value, dict):
            return {key: filled(each) for key, each in value.items()}
        if isinstance(value, list):
            return [filled(each) for each in value]
        return value.replace("{a}", ids["a"]).replace("{b}", ids["b"])

    directory.patch(f"/Groups/{made['id']}", *filled(operations))
    found = directory.ok("GET", f"/Groups/{made['id']}")
    found_ids = [member["value"] for member in found.get("members", [])]
    assert found_ids == [ids[name] for name in names]


def test_a_group_is_found_by_its_name_without_its_members(directory):
    made = directory.group("devs", directory.user("grace")["id"])
    found = directory.ok("GET", '/Groups?filter=displayName eq "DEVS"&excludedAttributes=members')
    assert [group["id"] for group in found["Resources"]] == [made["id"]]
    assert "members" not in found["Resources"][0]


def test_a_group_that_gives_roles_keeps_them_for_its_return(directory, admin):
    grace = directory.user("grace")
    made = directory.group("devs", grace["id"])
    admin.ok("PUT", f"/groups/{made['id']}", {"rootRole": 2})
    assert role(admin, grace) == 2
    assert directory.send("DELETE", f"/Groups/{made['id']}").status_code == 204
    assert directory.send("GET", f"/Groups/{made['id']}").status_code == 404
    assert role(admin, grace) == 3
    directory.group("devs", grace["id"])
    assert role(admin, grace) == 2


def test_a_group_that_gives_nothing_is_gone(directory, admin):
    made = directory.group("devs")
    directory.send("DELETE", f"/Groups/{made['id']}")
    assert admin.ok("GET", "/groups")["total"] == 0


def test_the_directory_names_its_groups(directory, admin):
    made = directory.group("devs")
    answer = admin.put(f"/groups/{made['id']}", {"name": "others"})
    assert answer.status_code == 409
    body = {"schemas": [GROUP], "displayName": "ops"}
    assert directory.ok("PUT", f"/Groups/{made['id']}", body)["displayName"] == "ops"


def test_what_is_no_group_is_refused(directory, refusal, people):
    directory.group("devs")
    robot = people.service_account("robot")
    for body, expected in (
        ({"displayName": "Devs"}, (409, "uniqueness")),
        ({}, (400, "invalidValue")),
        ({"displayName": "x", "members": [{"value": "99"}]}, (404, None)),
        ({"displayName": "x", "members": [{"value": f"{robot}"}]}, (404, None)),
        ({"displayName": "x", "members": [{"value": "a"}]}, (400, "invalidValue")),
        ({"displayName": "x", "members": [{"value": "9" * 5_000}]}, (400, "invalidValue")),
    ):
        assert refusal(directory.send("POST", "/Groups", {"schemas": [GROUP], **body})) == expected
