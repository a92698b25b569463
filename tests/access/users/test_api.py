import pytest

from tests.support.clients import error_of, problems_of

PATH = "/user-admin"
GRACE = {"username": "grace", "email": "grace@example.com", "name": "Grace Hopper", "rootRole": 2}


def test_a_new_user_is_at_the_location(admin):
    answer = admin.post(PATH, GRACE)
    assert answer.status_code == 201
    shown = admin.ok("GET", answer.headers["Location"])
    assert shown == {key: value for key, value in answer.json.items() if key != "inviteLink"}
    assert {key: shown[key] for key in GRACE} == GRACE
    assert (shown["isAPI"], shown["loginAttempts"], shown["seenAt"]) == (False, 0, None)


def test_the_creation_is_recorded(admin):
    user = admin.ok("POST", PATH, GRACE)
    event = admin.ok("GET", "/events?type=user-created")["events"][0]
    assert (event["createdBy"], event["data"]["id"]) == ("admin", user["id"])


@pytest.mark.parametrize("known", ["username", "email"])
def test_a_username_or_an_email_is_enough(admin, known):
    user = admin.ok("POST", PATH, {known: GRACE[known], "rootRole": 3})
    assert user[known] == GRACE[known]


def test_one_of_the_two_is_needed(admin):
    assert list(problems_of(admin.post(PATH, {"name": "Grace", "rootRole": 3}))) == ["/username"]


@pytest.mark.parametrize(
    "again", [{"username": "GRACE"}, {"email": "Grace@Example.com"}, {"username": " grace "}]
)
def test_both_are_unique_in_any_case(admin, again):
    admin.ok("POST", PATH, GRACE)
    assert error_of(admin.post(PATH, again | {"rootRole": 3})) == (409, "NameExistsError")


def test_a_username_of_a_service_account_is_taken(admin):
    admin.ok("POST", "/service-account", {"username": "Grace", "rootRole": 3})
    assert error_of(admin.post(PATH, GRACE)) == (409, "NameExistsError")


def test_what_does_not_fit_is_refused(admin, subtests):
    for bad in (
        {"rootRole": 4},
        {"rootRole": "1"},
        {"email": "no-address"},
        {"email": f"{'a' * 250}@example.com"},
        {"username": ""},
        {"username": "u" * 256},
        {"name": "n" * 256},
        {"password": "secret"},
    ):
        with subtests.test(bad=bad):
            assert list(problems_of(admin.post(PATH, GRACE | bad))) == [
                f"/{field}" for field in bad
            ]


def test_the_list_contains_only_people(admin, people):
    grace = people.person("grace")
    people.service_account("robot")
    found = admin.ok("GET", PATH)
    assert list(found)[:2] == ["version", "users"]
    assert [user["username"] for user in found["users"]] == ["admin", "grace"]
    assert found["total"] == 2
    assert [u["id"] for u in admin.ok("GET", f"{PATH}?limit=1&offset=1")["users"]] == [grace]


def test_a_service_account_and_a_deleted_user_are_not_found(admin, people):
    machine, gone = people.service_account("robot"), people.person("gone", away_days=200)
    admin.ok("POST", f"{PATH}/inactive/delete", {"ids": [gone]})
    for id in (machine, gone, 999, 2**31, 2**40):
        assert error_of(admin.get(f"{PATH}/{id}")) == (404, "NotFoundError")
    assert [user["username"] for user in admin.ok("GET", PATH)["users"]] == ["admin"]


def test_no_response_contains_a_secret(admin, people, app):
    grace = people.person("grace")
    token = people.token(grace)
    for path in (PATH, f"{PATH}/{grace}", f"{PATH}/inactive"):
        text = admin.get(path).text.lower()
        assert token.lower() not in text
        assert "password" not in text


@pytest.mark.parametrize("path", ["", "/1", "/inactive"])
@pytest.mark.parametrize("role", ["Editor", "Viewer"])
def test_only_admins_may_look(people, path, role):
    client = people.client("someone", role=role)
    assert error_of(client.get(f"{PATH}{path}")) == (403, "NoAccessError")


def test_only_admins_may_create(editor):
    assert error_of(editor.post(PATH, GRACE)) == (403, "NoAccessError")
