"""The current user view."""

from datetime import UTC, datetime

import pytest

from app.access.my_account.models import Feedback, Splash
from app.accounts.models import Account
from app.core.db import db, unit_of_work
from tests.support.clients import ApiClient, error_of
from tests.support.roles import OF_EDITOR, OF_MEMBER, ON_FEATURES, ON_PROJECT

USER = [
    "id",
    "isAPI",
    "name",
    "username",
    "imageUrl",
    "loginAttempts",
    "rootRole",
    "seenAt",
    "createdAt",
    "accountType",
]


def me(client):
    return client.ok("GET", "/user")


def held(client):
    """What the caller holds, as (permission, project)."""
    return [(p["permission"], p.get("project")) for p in me(client)["permissions"]]


def test_the_view_has_four_parts(viewer):
    assert list(me(viewer)) == ["user", "permissions", "feedback", "splash"]


def test_a_user_has_these_fields_in_the_order_of_the_document(viewer):
    user = me(viewer)["user"]
    assert list(user) == USER
    assert (user["username"], user["name"], user["rootRole"]) == ("viewer", None, 3)
    assert (user["isAPI"], user["loginAttempts"], user["seenAt"]) == (False, 0, None)
    assert user["accountType"] == "User"


def test_the_email_comes_after_the_name_if_there_is_one(app, admin, people):
    body = {"email": "grace@example.com", "name": "Grace Hopper", "rootRole": 3}
    id = admin.ok("POST", "/user-admin", body)["id"]
    user = me(ApiClient(app, people.token(id)))["user"]
    assert list(user) == [*USER[:3], "email", *USER[3:]]
    assert (user["email"], user["name"], user["username"]) == (
        "grace@example.com",
        "Grace Hopper",
        None,
    )


def test_the_scim_id_is_there_only_when_set(app, people):
    id = people.person("grace")
    client = ApiClient(app, people.token(id))
    assert "scimId" not in me(client)["user"]
    with app.app_context(), unit_of_work(writes=True):
        db.session.get_one(Account, id).scim_id = "s-1"
    assert me(client)["user"]["scimId"] == "s-1"


def test_the_last_sign_in_is_when_the_user_was_seen(app, people):
    id = people.person("grace")
    with app.app_context(), unit_of_work(writes=True):
        account = db.session.get_one(Account, id)
        account.last_sign_in_at = datetime(2026, 1, 2, 3, 4, 5, 678_900, tzinfo=UTC)
        account.login_attempts = 2
    user = me(ApiClient(app, people.token(id)))["user"]
    assert user["seenAt"] == "2026-01-02T03:04:05.678Z"
    assert user["loginAttempts"] == 2


def test_a_service_account_sees_its_account_type(app, people):
    id = people.service_account("robot", role="Editor")
    user = me(ApiClient(app, people.token(id)))["user"]
    assert (user["id"], user["accountType"]) == (id, "Service Account")
    assert (user["username"], user["rootRole"], user["seenAt"]) == ("robot", 2, None)


def test_the_picture_comes_from_this_server(viewer, stranger):
    path = me(viewer)["user"]["imageUrl"]
    assert path.startswith("/")
    answer = stranger.app.test_client().get(path)
    assert answer.status_code == 200
    assert answer.mimetype.startswith("image/")


def test_the_caller_is_the_owner_of_the_token(app, people):
    ann, bob = people.person("ann"), people.person("bob")
    tokens = {id: [people.token(id, name) for name in ("1", "2")] for id in (ann, bob)}
    for id, both in tokens.items():
        assert [me(ApiClient(app, token))["user"]["id"] for token in both] == [id, id]


def test_the_response_contains_no_secret(app, people):
    id = people.person("grace")
    client = ApiClient(app, people.token(id))
    with app.app_context(), unit_of_work(writes=True):
        db.session.get_one(Account, id).password_hash = "scrypt:hash"
    text = client.get("/user").text
    assert client.token not in text
    assert "scrypt" not in text
    assert "password" not in text.lower()


# Permissions


def test_an_admin_holds_admin_alone(admin, people):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    assert me(admin)["permissions"] == [{"permission": "ADMIN"}]


def test_a_viewer_holds_nothing(viewer):
    assert me(viewer)["permissions"] == []


def test_an_editor_holds_those_of_the_role_and_some_on_the_default_project(editor):
    on_default = [(p, "default") for p in [*sorted(ON_FEATURES), "UPDATE_PROJECT"]]
    everywhere = [(p, None) for p in sorted(OF_EDITOR)]
    assert held(editor) == sorted(
        on_default + everywhere, key=lambda pair: (pair[0], pair[1] or "")
    )


@pytest.mark.parametrize("mode", ["protected", "private"])
def test_an_editor_holds_nothing_on_a_default_project_that_is_not_open(admin, editor, mode):
    admin.ok("PUT", "/projects/default", {"name": "Default", "mode": mode})
    assert held(editor) == [(p, None) for p in sorted(OF_EDITOR)]


def test_a_member_holds_those_on_features_in_the_project(people):
    assert held(people.member("mia", "default")) == [(p, "default") for p in sorted(OF_MEMBER)]


def test_an_owner_holds_all_of_the_project(people):
    assert held(people.member("olga", "default", "Owner")) == [
        (p, "default") for p in sorted(ON_PROJECT)
    ]


def test_they_are_sorted_by_permission_then_project(admin, people):
    id = people.person("mia")
    for project in ("b", "a"):
        admin.ok("POST", "/projects", {"id": project, "name": project})
        people.join(id, project)
    client = ApiClient(people.app, people.token(id))
    assert held(client) == [(p, project) for p in sorted(OF_MEMBER) for project in ("a", "b")]


def test_an_editor_who_is_a_member_of_default_holds_each_permission_once(people):
    id = people.person("ed", role="Editor")
    people.join(id, "default")
    found = held(ApiClient(people.app, people.token(id)))
    assert len(found) == len(set(found)) == len(OF_EDITOR) + len(OF_MEMBER) + 1


def test_a_permission_without_a_project_has_no_key_for_it(editor):
    shapes = {tuple(permission) for permission in me(editor)["permissions"]}
    assert shapes == {("permission",), ("permission", "project")}


# Feedback and splash


def test_feedback_is_that_of_the_caller(app, people):
    ann, bob = people.person("ann"), people.person("bob")
    with app.app_context(), unit_of_work(writes=True):
        given = datetime(2026, 1, 2, tzinfo=UTC)
        db.session.add_all(
            [
                Feedback(user_id=ann, feedback_id="new-menu", given=given, never_show=True),
                Feedback(user_id=ann, feedback_id="archive", given=None, never_show=False),
                Feedback(user_id=bob, feedback_id="new-menu", given=given, never_show=False),
            ]
        )
    assert me(ApiClient(app, people.token(ann)))["feedback"] == [
        {"userId": ann, "neverShow": False, "given": None, "feedbackId": "archive"},
        {
            "userId": ann,
            "neverShow": True,
            "given": "2026-01-02T00:00:00.000Z",
            "feedbackId": "new-menu",
        },
    ]


def test_splash_names_what_the_caller_has_seen(app, people):
    ann, bob = people.person("ann"), people.person("bob")
    with app.app_context(), unit_of_work(writes=True):
        names = [(ann, "welcome"), (ann, "tour"), (bob, "other")]
        db.session.add_all(Splash(user_id=id, splash_id=name) for id, name in names)
    assert me(ApiClient(app, people.token(ann)))["splash"] == {"tour": True, "welcome": True}


def test_without_any_both_are_empty(viewer):
    view = me(viewer)
    assert (view["feedback"], view["splash"]) == ([], {})


# Who is let in


def test_a_request_without_a_token_is_refused(stranger):
    assert error_of(stranger.get("/user")) == (401, "AuthenticationRequired")


@pytest.mark.parametrize("spelling", ["{}", "Bearer {}", "bearer {}", "BEARER   {}", " {} "])
def test_a_token_may_be_spelled_with_bearer(stranger, viewer, spelling):
    headers = {"Authorization": spelling.format(viewer.token)}
    assert stranger.get("/user", headers=headers).status_code == 200


def test_anything_else_is_not_accepted_as_a_token(stranger, viewer, subtests):
    for wrong in ("", "Bearer", "Basic {}", "{}x", "x{}", "Bearer Bearer {}", "fst_pat_"):
        with subtests.test(wrong=wrong):
            headers = {"Authorization": wrong.format(viewer.token)}
            assert error_of(stranger.get("/user", headers=headers)) == (
                401,
                "AuthenticationRequired",
            )
