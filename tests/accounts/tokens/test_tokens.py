"""Service accounts after their creation, and tokens of all accounts."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from app.core.db import db
from tests.support.clients import ApiClient, error_of, problems_of

PATH = "/service-account"
START = datetime(2027, 1, 1, tzinfo=UTC)


@pytest.fixture
def robot(people):
    return people.service_account("robot", role="Editor")


@pytest.fixture
def tokens(robot):
    """The path of the service account's tokens."""
    return f"{PATH}/{robot}/token"


@pytest.fixture(params=["of a service account", "personal"])
def held(request, app, admin, people, robot):
    """Someone who creates and revokes tokens, and where; of either kind."""
    if request.param == "personal":
        return admin, "/user/tokens"
    return admin, f"{PATH}/{robot}/token"


def make(client, path, description="deploy", **fields):
    return client.ok("POST", path, {"description": description} | fields)


def described(client, path):
    return [row["description"] for row in client.ok("GET", path)["tokens"]]


def works(app, made):
    return ApiClient(app, made["secret"]).get("/user").status_code == 200


def everything(app):
    """All that the database holds, as text."""
    with app.app_context(), db.engine.connect() as connection:
        tables = db.metadata.sorted_tables
        return repr([list(connection.execute(table.select())) for table in tables])


def told(client, type):
    events = client.ok("GET", f"/events?type={type}")["events"]
    return [(event["preData"], event["data"]) for event in events]


# Service accounts


def test_the_list_has_accounts_and_root_roles(admin, people, robot, tokens):
    people.person("grace")
    made = make(admin, tokens)
    found = admin.ok("GET", PATH)
    assert list(found) == ["version", "serviceAccounts", "rootRoles", "total"]
    roles = [(role["id"], role["name"], role["type"]) for role in found["rootRoles"]]
    assert roles == [(1, "Admin", "root"), (2, "Editor", "root"), (3, "Viewer", "root")]
    assert all(role["description"] for role in found["rootRoles"])
    [account] = found["serviceAccounts"]
    assert (account["id"], found["total"]) == (robot, 1)
    assert [token["id"] for token in account["tokens"]] == [made["id"]]
    assert account == admin.ok("GET", f"{PATH}/{robot}")


def test_the_list_comes_in_pages(admin, people, robot):
    second = people.service_account("second")
    found = admin.ok("GET", f"{PATH}?limit=1&offset=1")
    assert [account["id"] for account in found["serviceAccounts"]] == [second]
    assert found["total"] == 2


def test_only_the_given_fields_change(admin, robot):
    account = admin.ok("GET", f"{PATH}/{robot}")
    for field, value in {"name": "Robot", "rootRole": 3, "username": "Robot-2"}.items():
        answer = admin.put(f"{PATH}/{robot}", {field: value})
        assert (answer.status_code, answer.data) == (200, b"")
        account |= {field: value, "imageUrl": admin.ok("GET", f"{PATH}/{robot}")["imageUrl"]}
        assert admin.ok("GET", f"{PATH}/{robot}") == account
    assert len(told(admin, "service-account-updated")) == 3


def test_what_was_read_can_be_sent_back_without_an_event(admin, robot, tokens):
    make(admin, tokens)
    admin.ok("PUT", f"{PATH}/{robot}", admin.ok("GET", f"{PATH}/{robot}"))
    assert told(admin, "service-account-updated") == []


@pytest.mark.parametrize("bad", [{"username": None}, {"rootRole": 5}, {"email": "a@example.com"}])
def test_what_does_not_fit_is_refused(admin, robot, bad):
    answer = admin.put(f"{PATH}/{robot}", bad)
    assert list(problems_of(answer)) == [f"/{field}" for field in bad]


def test_a_username_of_another_is_refused(admin, people, robot):
    people.person("grace")
    answer = admin.put(f"{PATH}/{robot}", {"username": "GRACE"})
    assert error_of(answer) == (409, "NameExistsError")


def test_a_new_role_counts_immediately(app, admin, robot, tokens):
    client = ApiClient(app, make(admin, tokens)["secret"])
    client.ok("GET", "/events")
    admin.ok("PUT", f"{PATH}/{robot}", {"rootRole": 3})
    assert error_of(client.get("/events")) == (403, "NoAccessError")


def test_a_deleted_account_is_gone_and_its_tokens_with_it(app, admin, robot, tokens):
    made = make(admin, tokens)
    assert works(app, made)
    answer = admin.delete(f"{PATH}/{robot}")
    assert (answer.status_code, answer.data) == (200, b"")
    assert not works(app, made)
    assert error_of(admin.get(f"{PATH}/{robot}")) == (404, "NotFoundError")
    assert admin.ok("GET", PATH)["total"] == 0
    [(before, _)] = told(admin, "service-account-deleted")
    assert before["username"] == "robot"
    admin.ok("POST", PATH, {"username": "robot", "rootRole": 3})


def test_an_account_can_not_delete_itself(app, people):
    id = people.service_account("chief", role="Admin")
    client = ApiClient(app, people.token(id))
    assert error_of(client.delete(f"{PATH}/{id}")) == (409, "ConflictError")


def test_users_are_not_service_accounts(admin, people):
    grace = people.person("grace")
    path = f"{PATH}/{grace}"
    for answer in (
        admin.get(path),
        admin.put(path, {"name": "x"}),
        admin.delete(path),
        admin.get(f"{path}/token"),
        admin.post(f"{path}/token", {"description": "x"}),
    ):
        assert error_of(answer) == (404, "NotFoundError")


# Tokens of both kinds


def test_the_secret_is_shown_once_and_never_again(app, held):
    client, path = held
    made = make(client, path)
    assert works(app, made)
    kind = "pat" if path == "/user/tokens" else "sa"
    assert made["secret"].startswith(f"fst_{kind}_")
    for address in (path, "/events", PATH, "/user-admin", "/user"):
        assert made["secret"] not in client.get(address).text
    assert "deploy" in everything(app)
    assert made["secret"] not in everything(app)


def test_a_token_is_listed_without_its_secret(held):
    client, path = held
    made = make(client, path, expiresAt="2099-01-01T01:00:00+01:00")
    row = client.ok("GET", path)["tokens"][-1]
    assert row == {key: made[key] for key in made if key != "secret"} | {"lastSeen": None}
    assert (row["description"], row["expiresAt"]) == ("deploy", "2099-01-01T00:00:00.000Z")


def test_tokens_are_listed_in_pages_oldest_first(held):
    client, path = held
    for description in ("x", "a", "m"):
        make(client, path, description)
    everything = described(client, path)
    assert everything[-3:] == ["x", "a", "m"]
    assert described(client, f"{path}?limit=1") == everything[:1]
    assert described(client, f"{path}?limit=2&offset=1") == everything[1:3]


def test_the_creation_is_recorded(held, robot):
    client, path = held
    made = make(client, path, expiresAt="2099-01-01T00:00:00Z")
    _, after = told(client, "token-created")[0]
    assert after == {
        "id": made["id"],
        "userId": client.ok("GET", "/user")["user"]["id"] if path == "/user/tokens" else robot,
        "description": "deploy",
        "hint": made["secret"][-4:],
        "expiresAt": "2099-01-01T00:00:00.000Z",
    }


def test_a_description_is_unique_within_an_account(held):
    client, path = held
    make(client, path)
    answer = client.post(path, {"description": " deploy "})
    assert error_of(answer) == (409, "NameExistsError")
    assert answer.json["message"] == "This account already has a token described 'deploy'."
    assert described(client, path).count("deploy") == 1


def test_two_accounts_can_use_the_same_description(admin, tokens):
    make(admin, tokens)
    make(admin, "/user/tokens")
    assert "deploy" in described(admin, tokens)


@pytest.mark.parametrize("past", [-3_600, 0])
def test_a_token_expires_in_the_future(held, past):
    client, path = held
    with time_machine.travel(START, tick=False):
        expires = (START + timedelta(seconds=past)).isoformat()
        answer = client.post(path, {"description": "deploy", "expiresAt": expires})
    assert problems_of(answer) == {"/expiresAt": "Must be in the future."}
    assert "deploy" not in described(client, path)


def test_an_expired_token_stays_expired_when_the_clock_is_set_back(app, held):
    client, path = held
    with time_machine.travel(START, tick=False):
        made = make(client, path, expiresAt=(START + timedelta(hours=1)).isoformat())
    with time_machine.travel(START + timedelta(hours=2), tick=False):
        assert not works(app, made)
    with time_machine.travel(START + timedelta(minutes=1), tick=False):
        assert not works(app, made)
        assert make(client, path, "another", expiresAt="2099-01-01T00:00:00Z")


def test_a_token_works_until_it_expires(app, held):
    client, path = held
    with time_machine.travel(START, tick=False):
        made = make(client, path, expiresAt=(START + timedelta(hours=1)).isoformat())
    for minutes, expected in ((59, True), (60, False), (61, False)):
        with time_machine.travel(START + timedelta(minutes=minutes), tick=False):
            assert works(app, made) is expected


def test_a_token_that_does_not_fit_is_refused(held, subtests):
    for bad in (
        {"description": ""},
        {"description": None},
        {"description": "d" * 256},
        {"expiresAt": "tomorrow"},
        {"expiresAt": "2099-01-01T00:00:00"},
        {"secret": "mine"},
    ):
        with subtests.test(bad=bad):
            client, path = held
            answer = client.post(path, {"description": "deploy"} | bad)
            assert list(problems_of(answer)) == [f"/{field}" for field in bad]


def test_a_revoked_token_stops_immediately(app, held):
    client, path = held
    made = make(client, path)
    assert works(app, made)
    answer = client.delete(f"{path}/{made['id']}")
    assert (answer.status_code, answer.data) == (200, b"")
    assert not works(app, made)
    assert "deploy" not in described(client, path)
    assert error_of(client.delete(f"{path}/{made['id']}")) == (404, "NotFoundError")
    [(before, _)] = told(client, "token-revoked")
    assert before["id"] == made["id"]


def test_a_revoked_tokens_description_is_free(held):
    client, path = held
    client.ok("DELETE", f"{path}/{make(client, path)['id']}")
    make(client, path)
    assert described(client, path).count("deploy") == 1


def test_a_token_is_revoked_only_under_its_own_account(app, admin, editor, people, tokens):
    other = f"{PATH}/{people.service_account('other')}/token"
    made = make(admin, tokens)
    for client, path in ((admin, other), (admin, "/user/tokens"), (editor, "/user/tokens")):
        assert error_of(client.delete(f"{path}/{made['id']}")) == (404, "NotFoundError")
    assert error_of(editor.delete(f"{tokens}/{made['id']}")) == (403, "NoAccessError")
    assert works(app, made)


def test_other_peoples_personal_tokens_are_neither_seen_nor_revoked(app, admin, viewer):
    made = make(viewer, "/user/tokens")
    assert "deploy" not in described(admin, "/user/tokens")
    assert error_of(admin.delete(f"/user/tokens/{made['id']}")) == (404, "NotFoundError")
    assert works(app, made)


def test_a_service_account_can_not_create_tokens_for_itself(app, admin, robot, people, tokens):
    client = ApiClient(app, people.token(robot))
    answer = client.post("/user/tokens", {"description": "more"})
    assert error_of(answer) == (409, "ConflictError")
    assert described(admin, tokens) == ["test"]


# Rotation


def rotate(client, tokens, token, **body):
    return client.ok("POST", f"{tokens}/{token['id']}/rotate", body)


@pytest.mark.parametrize(("body", "hours"), [({"overlapHours": 168}, 168), ({}, 24)])
def test_the_old_token_works_for_the_overlap(app, admin, tokens, body, hours):
    with time_machine.travel(START, tick=False):
        old = make(admin, tokens)
        new = rotate(admin, tokens, old, **body)
    for seconds, expected in ((0, True), (hours * 3_600 - 1, True), (hours * 3_600, False)):
        with time_machine.travel(START + timedelta(seconds=seconds), tick=False):
            assert works(app, old) is expected
            assert works(app, new)


def test_without_overlap_the_old_token_stops_immediately(app, admin, tokens):
    old = make(admin, tokens)
    new = rotate(admin, tokens, old, overlapHours=0)
    assert (works(app, old), works(app, new)) == (False, True)
    assert described(admin, tokens) == ["deploy"]


def test_the_new_token_has_the_description_and_another_secret(admin, tokens):
    old = make(admin, tokens)
    new = rotate(admin, tokens, old)
    assert new["description"] == "deploy"
    assert new["secret"] != old["secret"]
    assert new["id"] != old["id"]
    rows = {row["id"]: row for row in admin.ok("GET", tokens)["tokens"]}
    assert rows[new["id"]]["description"] == "deploy"
    assert rows[old["id"]]["description"].startswith("deploy (until rotation")


def test_a_token_can_be_rotated_again_and_again(app, admin, tokens):
    made = [make(admin, tokens, "d" * 255)]
    for _ in range(3):
        made.append(rotate(admin, tokens, made[-1]))
    assert all(works(app, token) for token in made)
    assert made[-1]["description"] == "d" * 255


def test_rotation_never_extends_the_old_token(app, admin, tokens):
    with time_machine.travel(START, tick=False):
        old = make(admin, tokens, expiresAt=(START + timedelta(hours=1)).isoformat())
        new = rotate(admin, tokens, old)
    with time_machine.travel(START + timedelta(hours=2), tick=False):
        assert not works(app, old)
    assert new["expiresAt"] == "2027-01-01T01:00:00.000Z"


def test_the_new_token_can_expire_at_another_time(admin, tokens):
    old = make(admin, tokens)
    assert rotate(admin, tokens, old, expiresAt="2099-01-01T00:00:00Z")["expiresAt"] is not None


@pytest.mark.parametrize(
    "bad",
    [
        {"overlapHours": 169},
        {"overlapHours": -1},
        {"overlapHours": "24"},
        {"expiresAt": "2001-01-01T00:00:00Z"},
        {"description": "other"},
    ],
)
def test_a_rotation_that_does_not_fit_changes_nothing(app, admin, tokens, bad):
    old = make(admin, tokens)
    before = admin.ok("GET", tokens)
    answer = admin.post(f"{tokens}/{old['id']}/rotate", bad)
    assert list(problems_of(answer)) == [f"/{field}" for field in bad]
    assert admin.ok("GET", tokens) == before


def test_a_rotation_is_recorded_without_a_secret(admin, tokens):
    old = make(admin, tokens)
    new = rotate(admin, tokens, old)
    [(before, after)] = told(admin, "token-rotated")
    assert (before["id"], before["description"]) == (old["id"], "deploy")
    assert after["expiresAt"] is not None
    assert new["secret"] not in admin.get("/events").text


def test_a_revoked_token_can_not_be_rotated(admin, tokens):
    old = make(admin, tokens)
    admin.ok("DELETE", f"{tokens}/{old['id']}")
    answer = admin.post(f"{tokens}/{old['id']}/rotate", {})
    assert error_of(answer) == (404, "NotFoundError")
