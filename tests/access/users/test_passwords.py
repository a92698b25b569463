"""Passwords that an Admin sets, and the names of roles."""

import pytest

from tests.support.clients import ApiClient, error_of, problems_of
from tests.support.sign_in import sign_in

USERS = "/user-admin"
GOOD = "violet kettle marches over nine bridges"


@pytest.fixture
def grace(admin):
    return admin.ok("POST", USERS, {"username": "grace", "rootRole": "Viewer", "password": GOOD})


def test_a_user_with_a_password_needs_no_link(admin, grace, browser):
    assert "inviteLink" not in grace
    assert sign_in(browser, "grace", GOOD).status == 303


def test_roles_have_ids_and_names(admin, grace):
    assert grace["rootRole"] == 3
    changed = admin.ok("PUT", f"{USERS}/{grace['id']}", {"rootRole": "Editor"})
    assert changed["rootRole"] == 2
    assert "/rootRole" in problems_of(admin.put(f"{USERS}/{grace['id']}", {"rootRole": "Owner"}))


@pytest.mark.parametrize("weak", ["short", "password password password", "aaaaaaaaaaaaaaaaaaaaaa"])
def test_a_weak_password_is_refused_and_nothing_is_created(admin, grace, weak):
    new = {"username": "ada", "rootRole": 3, "password": weak}
    assert list(problems_of(admin.post(USERS, new))) == ["/password"]
    path = f"{USERS}/{grace['id']}/change-password"
    assert list(problems_of(admin.post(path, {"password": weak}))) == ["/password"]
    assert [each["username"] for each in admin.ok("GET", f"{USERS}/search?q=ada")] == []


def test_a_password_can_be_tried(viewer):
    viewer.ok("POST", f"{USERS}/validate-password", {"password": GOOD})
    refused = viewer.post(f"{USERS}/validate-password", {"password": "short"})
    assert list(problems_of(refused)) == ["/password"]


def test_only_admins_set_passwords_of_others(editor, grace):
    path = f"{USERS}/{grace['id']}/change-password"
    assert error_of(editor.post(path, {"password": GOOD})) == (403, "NoAccessError")


def test_the_last_word_on_a_password_is_recorded_without_it(admin, grace):
    admin.ok("POST", f"{USERS}/{grace['id']}/change-password", {"password": f"{GOOD} again"})
    events = admin.ok("GET", "/events?type=password-changed")["events"]
    assert {event["data"]["id"] for event in events} == {grace["id"]}
    assert GOOD not in str(events)


def test_own_passwords_are_changed_in_the_words_of_unleash(app, admin, grace, people):
    own = ApiClient(app, people.token(grace["id"]))
    path = "/user/change-password"
    twice = {"password": f"{GOOD} too", "confirmPassword": "other", "oldPassword": GOOD}
    assert list(problems_of(own.post(path, twice))) == ["/confirmPassword"]
    own.ok("POST", path, twice | {"confirmPassword": f"{GOOD} too"})


def test_a_link_to_set_a_password_is_created_for_an_id_as_text(admin, grace):
    found = admin.ok("POST", f"{USERS}/reset-password", {"id": str(grace["id"])})
    assert "/set-up/" in found["resetPasswordUrl"]


def test_admins_are_counted_by_how_they_sign_in(admin, people):
    people.service_account("robot", role="Admin")
    before = admin.ok("GET", f"{USERS}/admin-count")
    admin.ok("POST", USERS, {"username": "ada", "rootRole": "Admin", "password": GOOD})
    after = admin.ok("GET", f"{USERS}/admin-count")
    assert before["service"] == after["service"] == 1
    assert after["password"] == before["password"] + 1


def test_the_profile_has_roles_and_projects(app, admin, people):
    kim = people.member("kim", "default", "Owner")
    found = kim.ok("GET", "/user/profile")
    assert (found["rootRole"]["name"], found["projects"]) == ("Viewer", ["default"])
    roles = kim.ok("GET", "/user/roles?projectId=default")["roles"]
    assert [role["name"] for role in roles] == ["Viewer", "Owner"]
