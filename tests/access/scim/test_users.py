"""Users, as Okta, Microsoft Entra and others manage them."""

import pytest

from tests.access.scim.conftest import PATCH, USER, issue
from tests.support.browser import Browser
from tests.support.clients import ApiClient
from tests.support.sign_in import sign_in

# What Okta sends, with much that isn't held here.
OKTA = {
    "schemas": [USER],
    "userName": "grace@example.org",
    "name": {"givenName": "Grace", "familyName": "Hopper"},
    "emails": [{"primary": True, "value": "grace@example.org", "type": "work"}],
    "displayName": "Grace Hopper",
    "locale": "en-US",
    "externalId": "00ujl29u0le5T6Aj10h7",
    "groups": [],
    "password": "1mz050nq",
    "active": True,
}
# What Microsoft Entra sends.
ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
ENTRA = {
    "schemas": [USER, ENTERPRISE],
    "externalId": "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
    "userName": "Test_User_00",
    "active": True,
    "displayName": "Test User",
    "emails": [{"primary": True, "type": "work", "value": "test@example.org"}],
    "meta": {"resourceType": "User"},
    "name": {"formatted": "Test User", "familyName": "User", "givenName": "Test"},
    "roles": [],
    ENTERPRISE: {"department": "bob"},
}


@pytest.mark.parametrize("sent", [OKTA, ENTRA])
def test_what_directories_send_makes_a_user_and_is_read_back(directory, admin, sent):
    made = directory.ok("POST", "/Users", sent)
    assert {name: made[name] for name in ("userName", "displayName", "name", "externalId")} == {
        name: sent[name] for name in ("userName", "displayName", "name", "externalId")
    }
    assert made["active"] is True
    assert "password" not in made
    assert directory.ok("GET", f"/Users/{made['id']}") == made
    user = admin.ok("GET", f"/user-admin/{made['id']}")
    assert user["username"] == sent["userName"]
    assert user["name"] == sent["displayName"]
    assert user["email"] == sent["emails"][0]["value"]
    assert user["rootRole"] == 3


def test_who_was_made_by_a_directory_says_so_in_the_api(directory, people, app):
    made = directory.user("grace")
    client = ApiClient(app, people.token(int(made["id"])))
    assert client.ok("GET", "/user")["user"]["scimId"] == made["id"]


@pytest.mark.parametrize(
    ("operations", "field", "expected"),
    [
        ([{"op": "Replace", "path": "active", "value": "False"}], "active", False),
        ([{"op": "replace", "value": {"active": False}}], "active", False),
        ([{"op": "Add", "path": "displayName", "value": "G. H."}], "displayName", "G. H."),
        ([{"op": "replace", "path": "name.givenName", "value": "G"}], "name", {"givenName": "G"}),
        (
            [{"op": "Add", "path": 'emails[type eq "work"].value', "value": "g@example.org"}],
            "emails",
            [{"value": "g@example.org", "type": "work"}],
        ),
        ([{"op": "replace", "value": {"userName": "hopper"}}], "userName", "hopper"),
        ([{"op": "Add", "path": f"{ENTERPRISE}:department", "value": "x"}], "userName", "grace"),
    ],
)
def test_what_directories_patch_is_changed(directory, operations, field, expected):
    made = directory.user("grace")
    changed = directory.patch(f"/Users/{made['id']}", *operations)
    assert changed[field] == expected
    assert directory.ok("GET", f"/Users/{made['id']}") == changed


def test_a_deactivated_user_is_out_at_once_and_comes_back_with_their_roles(
    app, directory, people, admin, browser
):
    made = directory.user("grace")
    grace = int(made["id"])
    people.join(grace, "default", "Owner")
    people.give_password(grace)
    client, seat = ApiClient(app, people.token(grace)), Browser(app).sign_in("grace")
    assert client.get("/user").status_code == 200
    assert seat.get("/account").status == 200
    path = f"/Users/{grace}"
    directory.patch(path, {"op": "replace", "path": "active", "value": False})
    assert client.get("/user").status_code == 401
    assert seat.get("/account").status == 303
    assert "Wrong user name" in sign_in(Browser(app), "grace").words
    assert "Deactivated by the directory" in browser.get(f"/users/{grace}").words
    directory.patch(path, {"op": "replace", "path": "active", "value": True})
    assert client.get("/user").status_code == 401  # tokens don’t come back
    assert Browser(app).sign_in("grace").get("/account").status == 200
    members = admin.ok("GET", "/projects/default/access")["members"]
    assert grace in [member["id"] for member in members]
    types = [event["type"] for event in admin.ok("GET", f"/events?about={grace}")["events"]]
    assert types.count("user-deactivated") == types.count("user-reactivated") == 1


def test_a_directory_deletes_a_user(app, directory, admin):
    made = directory.user("grace")
    assert directory.send("DELETE", f"/Users/{made['id']}").status_code == 204
    for method in ("GET", "DELETE"):
        assert directory.send(method, f"/Users/{made['id']}").status_code == 404
    assert admin.get(f"/user-admin/{made['id']}").status_code == 404
    assert directory.user("grace")["id"] != made["id"]


def test_what_the_directory_decides_is_not_changed_by_hand(directory, admin, browser):
    made = directory.user("grace", displayName="Grace")
    path = f"/user-admin/{made['id']}"
    for body in ({"username": "g"}, {"name": "G"}, {"email": "g@example.org"}):
        answer = admin.put(path, body)
        assert answer.status_code == 409
        assert "managed by your directory" in answer.get_json()["message"]
    assert admin.put(path, {"username": "grace", "rootRole": 2}).status_code == 200
    answer = admin.delete(path)
    assert answer.status_code == 409
    assert "Delete or deactivate them there" in answer.get_json()["message"]
    assert "Managed by your directory." in browser.get(f"/users/{made['id']}").words


def test_the_review_of_inactive_users_leaves_the_directory_its_own(app, directory, people, admin):
    away, gone = people.person("away", away_days=300), people.person("gone", away_days=300)
    for id in (away, gone):
        path = f"/Users/{id}"
        directory.patch(path, {"op": "replace", "path": "externalId", "value": f"x{id}"})
    directory.patch(f"/Users/{gone}", {"op": "replace", "path": "active", "value": False})
    listed = admin.ok("GET", "/user-admin/inactive")["inactiveUsers"]
    assert [user["id"] for user in listed] == [away]
    admin.ok("POST", "/user-admin/inactive/delete", {"ids": [away, gone]})
    assert admin.get(f"/user-admin/{away}").status_code == 200
    event = admin.ok("GET", "/events?type=inactive-users-deleted")["events"][0]
    reasons = {each["id"]: each["reason"] for each in event["data"]["skipped"]}
    assert reasons == {away: "managed by the directory", gone: "active"}


def test_the_last_admin_who_can_sign_in_is_not_deactivated(directory, people, refusal):
    ada = people.person("ada", role="Admin")
    people.give_password(ada)
    body = {"schemas": [USER], "userName": "ada", "active": False}
    assert refusal(directory.send("PUT", f"/Users/{ada}", body))[0] == 409
    assert refusal(directory.send("DELETE", f"/Users/{ada}"))[0] == 409


@pytest.mark.parametrize(
    ("filter", "names"),
    [
        ('userName eq "GRACE"', ["grace"]),
        ('id eq "²"', []),
        (f'id eq "{"9" * 5_000}"', []),
        ('userName eq "no one"', []),
        ('externalId eq "x1"', ["grace"]),
        ('emails.value eq "ada@example.org"', ["ada"]),
        ('emails[type eq "work"].value eq "ada@example.org"', ["ada"]),
        ('userName eq "ada" or externalId eq "x1"', ["grace", "ada"]),
        ('userName sw "a" and active eq true', ["ada"]),
        ("externalId pr", ["grace"]),
        ('not (userName co "a")', ["boo"]),
        ('displayName eq "Boo"', ["boo"]),
    ],
)
def test_users_are_found_by_filters(directory, filter, names):
    directory.user("grace", externalId="x1")
    directory.user("ada", emails=[{"value": "ada@example.org", "type": "work"}])
    directory.user("boo", displayName="Boo")
    found = directory.ok("GET", f"/Users?filter={filter}")
    assert [user["userName"] for user in found["Resources"]] == names
    assert found["totalResults"] == len(names)


def test_lists_come_in_pages_and_sorted(directory):
    for name in ("b", "a", "c"):
        directory.user(name)
    page = directory.ok("GET", "/Users?startIndex=2&count=1")
    assert (page["totalResults"], page["startIndex"], page["itemsPerPage"]) == (3, 2, 1)
    assert [user["userName"] for user in page["Resources"]] == ["a"]
    page = directory.ok("GET", "/Users?sortBy=userName&sortOrder=descending&attributes=userName")
    assert [user["userName"] for user in page["Resources"]] == ["c", "b", "a"]
    assert "active" not in page["Resources"][0]
    assert directory.ok("GET", "/Users?count=0")["Resources"] == []


def test_a_change_of_what_has_changed_since_it_was_read_is_refused(directory, refusal):
    made = directory.user("grace")
    path, version = f"/Users/{made['id']}", made["meta"]["version"]
    answer = directory.send("GET", path, If_None_Match=version)
    assert (answer.status_code, answer.data) == (304, b"")
    body = {"schemas": [USER], "userName": "hopper"}
    changed = directory.ok("PUT", path, body, If_Match=version)
    assert changed["meta"]["version"] != version
    assert refusal(directory.send("PUT", path, body, If_Match=version))[0] == 412
    assert refusal(directory.send("DELETE", path, If_Match=version))[0] == 412


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"userName": "grace"}, (409, "uniqueness")),
        ({"userName": "GRACE"}, (409, "uniqueness")),
        ({"userName": "x", "emails": [{"value": "g@example.org"}]}, (409, "uniqueness")),
        ({}, (400, "invalidValue")),
        ({"userName": ""}, (400, "invalidValue")),
        ({"userName": "a\u0000b"}, (400, "invalidSyntax")),
        ({"userName": "x" * 300}, (400, "invalidValue")),
        ({"userName": "a\u200bb"}, (400, "invalidValue")),
        ({"userName": 5}, (400, "invalidValue")),
        ({"userName": "x", "emails": [{"value": "no address"}]}, (400, "invalidValue")),
        ({"userName": "x", "active": "perhaps"}, (400, "invalidValue")),
    ],
)
def test_what_cannot_be_taken_is_refused_in_the_words_of_scim(directory, refusal, body, expected):
    directory.user("grace", emails=[{"value": "g@example.org"}])
    sent = {"schemas": [USER], **body}
    assert refusal(directory.send("POST", "/Users", sent)) == expected


def test_a_patch_has_a_bound_of_operations(directory, refusal):
    made = directory.user("grace")
    operation = {"op": "replace", "path": "displayName", "value": "Grace"}
    body = {"schemas": [PATCH], "Operations": [operation] * 1_001}
    for path in (f"/Users/{made['id']}", f"/Groups/{directory.group('devs')['id']}"):
        assert refusal(directory.send("PATCH", path, body))[0] == 413


def test_only_a_token_of_scim_opens_it_and_it_opens_nothing_else(app, directory, admin, refusal):
    for token in ("", "x", admin.token, issue(app)[:-1]):
        stranger = type(directory)(app, token)
        assert refusal(stranger.send("GET", "/Users"))[0] == 401
    assert ApiClient(app, directory.token).get("/user").status_code == 401


def test_there_is_nothing_beside_it(directory, refusal):
    for path in ("/Users/0", "/Users/x", "/Users/99999999999999999999", "/Pets", "/Schemas/x"):
        assert refusal(directory.send("GET", path))[0] == 404
    assert refusal(directory.send("PUT", "/Users"))[0] == 405
    sent = directory.app.test_client().post(
        "/scim/v2/Users",
        data="x",
        headers={"Authorization": f"Bearer {directory.token}", "Content-Type": "text/plain"},
    )
    assert refusal(sent)[0] == 415


def test_in_maintenance_mode_a_directory_reads_and_can_try_a_change_again_later(admin, directory):
    ada = directory.user("ada")
    admin.ok("POST", "/maintenance", {"enabled": True})
    refused = directory.send("DELETE", f"/Users/{ada['id']}")
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "60")
    assert "maintenance mode" in refused.json["detail"]
    assert directory.ok("GET", f"/Users/{ada['id']}")["userName"] == "ada"
