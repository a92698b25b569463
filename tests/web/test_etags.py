"""Two people with the same thing before them: neither undoes the other's work unseen."""

import pytest

from tests.support.clients import ApiClient, error_of
from tests.support.races import at_once

DONE = (200, 204)
LATER, LAST = "2098-01-01T00:00:00Z", "2099-01-01T00:00:00Z"
GIVEN = "2026-11-21T09:30:00.000Z"

# What has an ETag: its path, and two changes of it.
THINGS = {
    "project": ("/projects/default", {"name": "One"}, {"name": "Two"}),
    "feature": ("/projects/default/features/cart", {"stale": True}, {"type": "experiment"}),
    "service account": ("/service-account/{robot}", {"name": "One"}, {"name": "Two"}),
    "user": ("/user-admin/{grace}", {"name": "One"}, {"name": "Two"}),
    "members": (
        "/projects/default/access",
        {"members": [{"id": 1, "roleId": 5}]},
        {"members": [{"id": 2, "roleId": 5}]},
    ),
    "saved filters": ("/user/filters/1", {"name": "B"}, {"name": "C"}),
    "tag type": ("/tag-types/simple", {"hue": 2}, {"description": "Two"}),
    "environment": ("/environments/production", {"sortOrder": 7}, {"deprecated": True}),
    "context field": ("/context/userId", {"sortOrder": 7}, {"stickiness": False}),
    "segment": ("/segments/{segment}", {"description": "One"}, {"name": "Two"}),
    "webhook": ("/webhooks/1", {"paused": True}, {"name": "Two"}),
    "SDK token": ("/api-tokens/1", {"expiresAt": LATER}, {"expiresAt": LAST}),
    "strategy type": ("/strategies/by-region", {"description": "One"}, {"description": "Two"}),
    "answer to a survey": ("/feedback/menu", {"neverShow": True}, {"given": GIVEN}),
}
# Their requests add and remove, or only ever go on, so two at once lose nothing.
CHANGE_SETS = {
    "/api/admin/projects/{project_id}/tags",
    "/api/admin/features/{name}/tags",
    "/api/admin/environments/sort-order",
    "/api/admin/user/notices/read",
}
# They are read as a whole, by which one person alone changes a part.
PARTS = {
    "/api/admin/projects/{project_id}/features/{name}/variants-batch",
    "/api/admin/user/display/{page}",
    "/api/admin/user/mail",
    "/api/admin/user/time-zone",
    "/api/admin/feature-types/{id}/lifetime",
    "/api/admin/projects/{project_id}/features/{name}/link/{link_id}",
    "/api/admin/projects/{project_id}/environments/{environment}/change-requests/config",
    (
        "/api/admin/projects/{project_id}/features/{name}/environments/{environment}"
        "/progressions/{step}"
    ),
    *(
        f"/api/admin/projects/{{project_id}}/change-requests/{{id}}/{part}"
        for part in ("title", "approvers", "changes/{change}")
    ),
}


@pytest.fixture
def ids(admin, people):
    admin.ok("POST", "/projects/default/features", {"name": "cart"})
    admin.ok("POST", "/feedback", {"feedbackId": "menu"})
    admin.ok("POST", "/strategies", {"name": "by-region"})
    admin.ok("POST", "/user/filters", {"name": "A", "address": "/features?stale=true"})
    sdk = {"tokenName": "web", "type": "client", "environment": "production"}
    admin.ok("POST", "/api-tokens", sdk)
    admin.ok("POST", "/webhooks", {"name": "One", "url": "https://hooks.example/"})
    staff = admin.ok("POST", "/segments", {"name": "Staff", "constraints": []})
    return {
        "segment": staff["id"],
        "robot": people.service_account("robot"),
        "grace": people.person("grace"),
    }


@pytest.fixture(params=THINGS)
def thing(request, ids):
    path, one, two = THINGS[request.param]
    return path.format_map(ids), one, two


READ = {"/api-tokens/1": "/sdk-tokens/1"}
"""Where to read what is changed elsewhere: ``/api-tokens`` finds tokens by their names."""


def etag(client, path):
    return client.get(READ.get(path, path)).headers["ETag"]


def change(client, path, body, if_match):
    return client.put(path, body, headers={"If-Match": if_match})


def events(client):
    return client.ok("GET", "/events")["total"]


def test_the_etag_is_strong_and_stays_until_something_changes(admin, thing):
    path, one, _ = thing
    before = etag(admin, path)
    assert before.startswith('"')
    assert etag(admin, path) == before
    admin.ok("PUT", path, one)
    assert etag(admin, path) != before


def test_what_was_seen_can_be_changed(admin, thing):
    path, one, two = thing
    assert change(admin, path, one, etag(admin, path)).status_code in DONE
    assert change(admin, path, two, etag(admin, path)).status_code in DONE


def test_what_has_changed_since_is_left_alone(admin, thing):
    path, one, two = thing
    seen = etag(admin, path)
    admin.ok("PUT", path, one)
    before = etag(admin, path), events(admin)
    assert error_of(change(admin, path, two, seen)) == (412, "PreconditionFailedError")
    assert (etag(admin, path), events(admin)) == before


@pytest.mark.parametrize("if_match", ["*", '"other", {}', '{}, "other"'])
def test_these_match_too(admin, if_match):
    path, one, _ = THINGS["project"]
    assert change(admin, path, one, if_match.format(etag(admin, path))).status_code in DONE


def test_nothing_else_matches(admin):
    path, one, _ = THINGS["project"]
    seen, before = etag(admin, path), admin.ok("GET", path)
    for if_match in ("", '""', '"other"', "garbage", '"', ",,,", "W/{}"):
        answer = change(admin, path, one, if_match.format(seen))
        assert error_of(answer) == (412, "PreconditionFailedError"), if_match
    assert admin.ok("GET", path) == before


def test_of_two_updates_at_once_one_is_refused(admin, thing):
    path, one, two = thing
    first = {key: admin.ok("GET", path).get(key) for key in one | two}
    for _ in range(5):
        seen = etag(admin, path)
        answers = at_once(
            lambda body=body, seen=seen: change(admin, path, body, seen) for body in (one, two)
        )
        assert sorted(answer.status_code for answer in answers) in ([200, 412], [204, 412])
        admin.ok("PUT", path, first)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/projects", {"id": "new", "name": "New"}),
        ("/service-account", {"name": "New", "rootRole": 3}),
        ("/projects/default/features", {"name": "new"}),
        ("/tag-types", {"name": "new"}),
        ("/environments", {"name": "new", "type": "test"}),
        ("/context", {"name": "new"}),
    ],
)
def test_the_answer_that_creates_has_the_etag_of_reading(admin, path, body):
    answer = admin.post(path, body)
    assert answer.headers["ETag"] == etag(admin, answer.headers["Location"])


def test_the_use_of_a_token_is_no_change_of_the_account(app, admin, people, ids):
    for id, path in ((ids["robot"], "/service-account"), (ids["grace"], "/user-admin")):
        client = ApiClient(app, people.token(id))
        seen = etag(admin, f"{path}/{id}")
        client.ok("GET", "/user")
        assert etag(admin, f"{path}/{id}") == seen
    [token] = admin.ok("GET", f"/service-account/{ids['robot']}")["tokens"]
    assert token["seenAt"] is not None


def test_the_environments_of_a_project_belong_to_its_etag(admin):
    path, body = "/projects/default/environments", {"environments": ["production"]}
    seen = etag(admin, "/projects/default")
    assert change(admin, path, body, seen).status_code in DONE
    assert error_of(change(admin, path, body, seen)) == (412, "PreconditionFailedError")


def test_the_tags_of_a_feature_belong_to_its_etag(admin, ids):
    path = "/projects/default/features/cart"
    seen = etag(admin, path)
    tags = {"addedTags": [{"value": "red"}], "removedTags": []}
    admin.ok("PUT", "/projects/default/tags", {"features": ["cart"], "tags": tags})
    answer = change(admin, path, {"stale": True}, seen)
    assert error_of(answer) == (412, "PreconditionFailedError")


@pytest.mark.parametrize(
    "path", ["/projects/web", "/service-account/{robot}", "/user-admin/{grace}", "/tag-types/team"]
)
def test_what_has_changed_since_is_not_deleted(admin, ids, path):
    admin.ok("POST", "/projects", {"id": "web", "name": "Web"})
    admin.ok("POST", "/tag-types", {"name": "team"})
    path = path.format_map(ids)
    seen = etag(admin, path)
    admin.ok("PUT", path, {"hue": 8} if "tag-types" in path else {"name": "Changed"})
    refused = admin.delete(path, headers={"If-Match": seen})
    assert error_of(refused) == (412, "PreconditionFailedError")
    assert admin.delete(path, headers={"If-Match": etag(admin, path)}).status_code == 200


def test_every_put_can_be_made_conditional(stranger):
    paths = stranger.ok("GET", "/api/openapi.json")["paths"]
    without = {path for path, item in paths.items() if "412" not in _answers(item.get("put"))}
    readers = {path for path, item in paths.items() if "put" not in item}
    assert without == readers | CHANGE_SETS | PARTS


def _answers(operation):
    return operation["responses"] if operation else {}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/projects", {"id": "new", "name": "New"}),
        ("POST", "/projects/default/features", {"name": "new"}),
        (
            "PUT",
            "/projects/default/tags",
            {"features": ["cart"], "tags": {"addedTags": [{"value": "a"}], "removedTags": []}},
        ),
    ],
)
@pytest.mark.parametrize("if_match", ["*", '"other"'])
@pytest.mark.usefixtures("ids")
def test_a_condition_that_cannot_be_checked_is_refused(admin, method, path, body, if_match):
    before = events(admin)
    answer = admin.request(method, path, json=body, headers={"If-Match": if_match})
    assert error_of(answer) == (412, "PreconditionFailedError")
    assert events(admin) == before


@pytest.mark.parametrize("if_match", ["*", '"other"'])
def test_an_answer_that_does_not_exist_matches_nothing(admin, if_match):
    answer = change(admin, "/feedback/new", {"neverShow": True}, if_match)
    assert error_of(answer) == (412, "PreconditionFailedError")
    assert admin.get("/feedback/new").status_code == 404


def test_one_member_is_changed_only_if_the_members_are_as_read(admin, ids):
    path, grace = "/projects/default/access", ids["grace"]
    seen = {"If-Match": etag(admin, path)}
    admin.ok("POST", path, {"id": ids["robot"], "roleId": 5})
    added = admin.post(path, {"id": grace, "roleId": 4}, headers=seen)
    removed = admin.delete(f"{path}/{ids['robot']}", headers=seen)
    assert [error_of(answer)[0] for answer in (added, removed)] == [412, 412]
    current = {"If-Match": etag(admin, path)}
    assert admin.post(path, {"id": grace, "roleId": 4}, headers=current).status_code == 200
    current = {"If-Match": etag(admin, path)}
    assert admin.delete(f"{path}/{ids['robot']}", headers=current).status_code == 200
