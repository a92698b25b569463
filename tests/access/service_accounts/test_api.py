import pytest

from tests.support.clients import ApiClient, error_of, problems_of

PATH = "/service-account"
VIEWER = {"rootRole": 3}


def test_the_answer_has_the_fields_of_the_document_in_its_order(admin):
    answer = admin.post(PATH, {"username": "ci", "name": "Build server", "rootRole": 2})
    assert answer.status_code == 201
    body = answer.json
    assert answer.headers["Location"] == f"/api/admin/service-account/{body['id']}"
    assert list(body) == [
        "id",
        "name",
        "username",
        "imageUrl",
        "rootRole",
        "createdAt",
        "tokens",
        "isAPI",
        "loginAttempts",
        "emailSent",
        "seenAt",
    ]
    assert (body["name"], body["username"], body["rootRole"]) == ("Build server", "ci", 2)
    assert (body["tokens"], body["isAPI"], body["loginAttempts"]) == ([], False, 0)
    assert (body["emailSent"], body["seenAt"]) == (False, None)


def test_the_location_answers_with_the_same_account(admin):
    answer = admin.post(PATH, {"username": "ci", "rootRole": 3})
    assert admin.ok("GET", answer.headers["Location"]) == answer.json


def test_the_creation_is_recorded_in_the_event_log(admin):
    created = admin.ok("POST", PATH, {"username": "ci", "rootRole": 3})
    [event] = admin.ok("GET", "/events?type=service-account-created")["events"]
    assert event["createdBy"] == "admin"
    assert event["data"]["id"] == created["id"]


def test_the_root_role_must_be_the_id_of_a_root_role(admin, subtests):
    for bad in (0, 4, 5, 99, -1, "1", True, 1.5, None, [1]):
        with subtests.test(bad=bad):
            assert list(problems_of(admin.post(PATH, {"rootRole": bad}))) == ["/rootRole"]


def test_the_root_role_is_required(admin):
    assert list(problems_of(admin.post(PATH, {"name": "x"}))) == ["/rootRole"]


@pytest.mark.parametrize("role", [1, 2, 3, 3.0])
def test_every_root_role_may_be_given(admin, role):
    assert admin.ok("POST", PATH, {"rootRole": role})["rootRole"] == role


def test_the_username_may_have_255_characters(admin):
    created = admin.ok("POST", PATH, VIEWER | {"username": "u" * 255})
    assert created["username"] == "u" * 255


def test_a_username_has_1_to_255_characters_of_one_line(admin, subtests):
    for bad in ("", "  ", "u" * 256, 7, None, "a\nb", "a\u202eb"):
        with subtests.test(bad=bad):
            assert list(problems_of(admin.post(PATH, VIEWER | {"username": bad}))) == ["/username"]


def test_every_problem_is_named(admin):
    answer = admin.post(PATH, {"username": "", "name": 1, "rootRole": 9, "color": "red"})
    assert set(problems_of(answer)) == {"/username", "/name", "/rootRole", "/color"}


def test_the_username_is_trimmed(admin):
    assert admin.ok("POST", PATH, VIEWER | {"username": "  ci \t"})["username"] == "ci"


@pytest.mark.parametrize("again", ["build", "BUILD", " Build ", "\uff22uild"])
def test_a_username_is_unique_over_service_accounts_whatever_its_case(admin, again):
    admin.ok("POST", PATH, VIEWER | {"username": "Build"})
    refusal = admin.post(PATH, VIEWER | {"username": again})
    assert error_of(refusal) == (409, "NameExistsError")


def test_a_username_is_unique_over_users_too(admin, people):
    people.person("Grace")
    refusal = admin.post(PATH, VIEWER | {"username": "gRACE"})
    assert error_of(refusal) == (409, "NameExistsError")


def test_a_refused_account_creates_nothing(admin):
    admin.ok("POST", PATH, VIEWER | {"username": "ci"})
    admin.post(PATH, VIEWER | {"username": "CI"})
    assert admin.ok("GET", "/events?type=service-account-created")["total"] == 1


def test_a_missing_username_is_derived_from_the_name_until_one_is_free(admin):
    made = [admin.ok("POST", PATH, VIEWER | {"name": "Build Server!"}) for _ in range(3)]
    assert [account["username"] for account in made] == [
        "service-build-server",
        "service-build-server-2",
        "service-build-server-3",
    ]
    assert {account["name"] for account in made} == {"Build Server!"}


def test_a_derived_username_avoids_those_of_people(admin, people):
    people.person("Service-Build")
    created = admin.ok("POST", PATH, VIEWER | {"name": "build"})
    assert created["username"] == "service-build-2"


def test_a_gap_in_the_numbers_is_used(admin):
    admin.ok("POST", PATH, VIEWER | {"username": "service-build-3"})
    made = [admin.ok("POST", PATH, VIEWER | {"name": "build"})["username"] for _ in range(3)]
    assert made == ["service-build", "service-build-2", "service-build-4"]


def test_a_long_name_makes_a_username_that_fits(admin):
    for _ in range(2):
        created = admin.ok("POST", PATH, VIEWER | {"name": "n" * 255})
        assert len(created["username"]) <= 255


@pytest.mark.parametrize("nameless", [{}, {"name": "構築"}])
def test_without_anything_to_derive_it_from_the_username_has_the_id(admin, nameless):
    created = admin.ok("POST", PATH, VIEWER | nameless)
    assert created["username"] == f"service-account-{created['id']}"
    assert created.get("name") == nameless.get("name")


def test_the_username_of_the_next_id_may_be_taken(admin):
    first = admin.ok("POST", PATH, VIEWER)
    taken = f"service-account-{first['id'] + 2}"
    admin.ok("POST", PATH, VIEWER | {"username": taken})
    assert admin.ok("POST", PATH, VIEWER)["username"] == f"{taken}-2"


@pytest.mark.parametrize("role", ["Editor", "Viewer"])
def test_only_admins_may(people, role):
    refusal = people.client("someone", role=role).post(PATH, VIEWER)
    assert error_of(refusal) == (403, "NoAccessError")
    assert "ADMIN" in refusal.json["message"]


def test_strangers_may_not(stranger):
    assert error_of(stranger.post(PATH, VIEWER)) == (401, "AuthenticationRequired")


def test_another_content_type_is_refused(admin):
    answer = admin.post(PATH, data="rootRole=1", content_type="application/x-www-form-urlencoded")
    assert error_of(answer) == (415, "ContentTypeerror")


def test_an_admin_service_account_may_do_it_too(app, people):
    robot = ApiClient(app, people.token(people.service_account("robot", role="Admin")))
    robot.ok("POST", PATH, VIEWER | {"username": "child"})
    [event, *_] = robot.ok("GET", "/events?type=service-account-created")["events"]
    assert event["createdBy"] == "robot"


def test_its_token_acts_as_the_account_and_is_shown_once(admin, app):
    account = admin.ok("POST", PATH, {"username": "ci", "rootRole": 2})
    path = f"{PATH}/{account['id']}"
    token = admin.ok("POST", f"{path}/token", {"description": "laptop"})
    assert list(token) == [
        "id",
        "secret",
        "createdAt",
        "seenAt",
        "userId",
        "description",
        "expiresAt",
    ]
    me = ApiClient(app, token["secret"]).ok("GET", "/user")["user"]
    assert (me["id"], me["accountType"], me["rootRole"]) == (account["id"], "Service Account", 2)
    shown = admin.get(path)
    assert [row["id"] for row in shown.json["tokens"]] == [token["id"]]
    assert token["secret"] not in shown.text


def test_a_token_description_is_unique_per_account(admin):
    first, second = (admin.ok("POST", PATH, VIEWER)["id"] for _ in range(2))
    body = {"description": "laptop"}
    admin.ok("POST", f"{PATH}/{first}/token", body)
    assert error_of(admin.post(f"{PATH}/{first}/token", body)) == (409, "NameExistsError")
    admin.ok("POST", f"{PATH}/{second}/token", body)


@pytest.mark.parametrize("bad", ["2020-01-01T00:00:00Z", "2999-01-01", "2999-01-01T00:00:00", 5])
def test_a_token_expires_in_the_future_or_never(admin, bad):
    account = admin.ok("POST", PATH, VIEWER)["id"]
    answer = admin.post(f"{PATH}/{account}/token", {"description": "x", "expiresAt": bad})
    assert list(problems_of(answer)) == ["/expiresAt"]


def test_a_user_is_not_a_service_account(admin, people):
    person = people.person("grace")
    for answer in (
        admin.get(f"{PATH}/{person}"),
        admin.post(f"{PATH}/{person}/token", {"description": "x"}),
        admin.get(f"{PATH}/999"),
    ):
        assert error_of(answer) == (404, "NotFoundError")
