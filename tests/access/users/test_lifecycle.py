"""Users after their creation: changes, deletion, restoring, passwords."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest
import time_machine

from app.accounts.models import Account
from app.core.db import db
from tests.support.browser import Browser
from tests.support.clients import ApiClient, error_of, problems_of
from tests.support.races import at_once, statuses

PATH = "/user-admin"
PASSWORD = "four green ducks in a row"
ANOTHER = "five yellow geese in a pond"
START = datetime(2027, 1, 1, tzinfo=UTC)


@pytest.fixture
def invite(admin):
    """Creates a user; the id and the one-time link."""

    def invited(username, root_role=3, **fields):
        body = {"username": username, "rootRole": root_role} | fields
        created = admin.ok("POST", PATH, body)
        return created["id"], created["inviteLink"]

    return invited


@pytest.fixture
def settle(app, people, stranger, invite):
    """Creates a user with PASSWORD; the id and a client."""

    def settled(username, root_role=3):
        id, link = invite(username, root_role)
        assert set_password(stranger, link).status_code == 303
        return id, ApiClient(app, people.token(id))

    return settled


def set_password(client, link, password=PASSWORD):
    """The answer to the form of the link's page: a redirect when it was accepted."""
    path = urlsplit(link).path
    return Browser(client.app).post(path, {"new_password": password}).answer


def change_password(client, old=PASSWORD, new=ANOTHER):
    body = {"oldPassword": old, "newPassword": new}
    return client.post("/user/change-password", body)


def has_password(app, id):
    with app.app_context():
        return db.session.get_one(Account, id).password_hash is not None


def read(client, id):
    return client.ok("GET", f"{PATH}/{id}")


def told(client, type):
    events = client.ok("GET", f"/events?type={type}")["events"]
    return [(event["preData"], event["data"]) for event in events]


# Changing


def test_only_the_given_fields_change(admin, invite):
    id, _ = invite("grace", name="Grace", email="grace@example.com")
    before = read(admin, id)
    for field, value in {"name": "G.", "rootRole": 2, "email": "g@example.com"}.items():
        answer = admin.put(f"{PATH}/{id}", {field: value})
        assert (answer.status_code, answer.json) == (200, read(admin, id))
        before |= {field: value}
        assert read(admin, id) | {"imageUrl": None} == before | {"imageUrl": None}


def test_null_clears_optional_fields(admin, invite):
    id, _ = invite("grace", name="Grace", email="grace@example.com")
    admin.ok("PUT", f"{PATH}/{id}", {"name": None, "email": None})
    assert (read(admin, id)["name"], "email" in read(admin, id)) == (None, False)
    answer = admin.put(f"{PATH}/{id}", {"username": None})
    assert list(problems_of(answer)) == ["/username"]


def test_what_was_read_can_be_sent_back_without_an_event(admin, invite):
    id, _ = invite("grace", name="Grace")
    admin.ok("PUT", f"{PATH}/{id}", read(admin, id))
    assert told(admin, "user-updated") == []


def test_a_change_is_recorded_with_before_and_after(admin, invite):
    id, _ = invite("grace")
    admin.ok("PUT", f"{PATH}/{id}", {"rootRole": 2})
    [(before, after)] = told(admin, "user-updated")
    assert (before["rootRole"], after["rootRole"], after["id"]) == (3, 2, id)


@pytest.mark.parametrize("taken", [{"username": "ADA"}, {"email": "Ada@Example.com"}])
def test_names_of_others_are_refused(admin, invite, taken):
    invite("ada", email="ada@example.com")
    id, _ = invite("grace")
    assert error_of(admin.put(f"{PATH}/{id}", taken)) == (409, "NameExistsError")
    assert read(admin, id)["username"] == "grace"


def test_your_own_username_can_change_case(admin, invite):
    id, _ = invite("grace")
    admin.ok("PUT", f"{PATH}/{id}", {"username": "Grace"})
    assert read(admin, id)["username"] == "Grace"


@pytest.mark.parametrize("bad", [{"rootRole": 4}, {"username": ""}, {"id2": 1}, {"email": "x"}])
def test_what_does_not_fit_is_refused(admin, invite, bad):
    id, _ = invite("grace")
    assert list(problems_of(admin.put(f"{PATH}/{id}", bad))) == [f"/{field}" for field in bad]


def test_a_new_role_counts_immediately(admin, settle):
    id, client = settle("grace", root_role=1)
    settle("ada", root_role=1)
    client.ok("GET", PATH)
    admin.ok("PUT", f"{PATH}/{id}", {"rootRole": 3})
    assert error_of(client.get(PATH)) == (403, "NoAccessError")


def test_a_service_account_is_no_user(admin, people):
    robot = people.service_account("robot")
    for answer in (
        admin.put(f"{PATH}/{robot}", {"name": "x"}),
        admin.delete(f"{PATH}/{robot}"),
        admin.post(f"{PATH}/{robot}/restore"),
    ):
        assert error_of(answer) == (404, "NotFoundError")


# Deleting and restoring


def test_a_deleted_user_is_gone_immediately(admin, settle, stranger, invite):
    id, client = settle("grace")
    answer = admin.delete(f"{PATH}/{id}")
    assert (answer.status_code, answer.data) == (200, b"")
    assert error_of(client.get("/user"))[0] == 401
    assert error_of(admin.get(f"{PATH}/{id}"))[0] == 404
    assert error_of(admin.delete(f"{PATH}/{id}"))[0] == 404
    [(before, _)] = told(admin, "user-deleted")
    assert before["username"] == "grace"


def test_a_deleted_users_names_are_free(admin, invite):
    id, _ = invite("grace", email="grace@example.com")
    admin.ok("DELETE", f"{PATH}/{id}")
    again, _ = invite("Grace", email="grace@example.com")
    assert again != id


def test_no_one_can_delete_themselves(settle):
    settle("ada", root_role=1)
    id, client = settle("grace", root_role=1)
    assert error_of(client.delete(f"{PATH}/{id}")) == (409, "ConflictError")
    client.ok("GET", PATH)


def test_a_restored_user_has_roles_and_memberships_but_no_tokens(admin, people, settle):
    id, client = settle("grace", root_role=2)
    people.join(id, "default", "Owner")
    before = read(admin, id)
    admin.ok("DELETE", f"{PATH}/{id}")
    assert admin.ok("GET", "/projects/default/access")["members"] == []
    assert admin.ok("POST", f"{PATH}/{id}/restore") == before == read(admin, id)
    [member] = admin.ok("GET", "/projects/default/access")["members"]
    assert (member["id"], member["roleId"]) == (id, 4)
    assert error_of(client.get("/user"))[0] == 401
    [(_, after)] = told(admin, "user-restored")
    assert after["id"] == id


def test_users_who_can_be_restored_are_listed(admin, invite):
    id, _ = invite("grace")
    invite("ada")
    admin.ok("DELETE", f"{PATH}/{id}")
    found = admin.ok("GET", f"{PATH}?deleted=true")
    assert ([user["id"] for user in found["users"]], found["total"]) == ([id], 1)


@pytest.mark.parametrize("taken", [{"username": "GRACE"}, {"email": "Grace@example.com"}])
def test_a_user_whose_name_was_taken_since_stays_deleted(admin, invite, taken):
    id, _ = invite("grace", email="grace@example.com")
    admin.ok("DELETE", f"{PATH}/{id}")
    admin.ok("POST", PATH, {"rootRole": 3} | taken)
    assert error_of(admin.post(f"{PATH}/{id}/restore")) == (409, "NameExistsError")
    assert error_of(admin.get(f"{PATH}/{id}"))[0] == 404


@pytest.mark.parametrize(("days", "status"), [(29.99, 200), (30.01, 404)])
def test_a_user_can_be_restored_for_30_days(admin, invite, days, status):
    with time_machine.travel(START, tick=False):
        id, _ = invite("grace")
        admin.ok("DELETE", f"{PATH}/{id}")
    with time_machine.travel(START + timedelta(days=days), tick=False):
        assert admin.post(f"{PATH}/{id}/restore").status_code == status
        assert admin.ok("GET", f"{PATH}?deleted=true")["users"] == []


def test_a_user_who_was_not_deleted_is_not_restored(admin, invite):
    id, _ = invite("grace")
    for unknown in (id, 999):
        assert error_of(admin.post(f"{PATH}/{unknown}/restore")) == (404, "NotFoundError")


# The last Admin


def test_the_last_admin_who_can_sign_in_stays(admin, settle):
    id, client = settle("grace", root_role=1)  # the caller has no password
    for answer in (
        admin.delete(f"{PATH}/{id}"),
        admin.put(f"{PATH}/{id}", {"rootRole": 2}),
        client.put(f"{PATH}/{id}", {"rootRole": 3, "name": "Grace"}),
    ):
        assert error_of(answer) == (409, "ConflictError")
    assert (read(admin, id)["rootRole"], read(admin, id)["name"]) == (1, None)
    admin.ok("PUT", f"{PATH}/{id}", {"name": "Grace"})


def test_an_admin_can_be_deleted_when_another_can_sign_in(admin, settle):
    first, _ = settle("grace", root_role=1)
    second, _ = settle("ada", root_role=1)
    admin.ok("PUT", f"{PATH}/{first}", {"rootRole": 3})
    assert error_of(admin.delete(f"{PATH}/{second}")) == (409, "ConflictError")


@pytest.mark.slow
def test_twenty_demotions_at_once_leave_an_admin(admin, settle):
    ids = [settle(f"admin{number}", root_role=1)[0] for number in range(20)]
    answers = at_once(lambda path=f"{PATH}/{id}": admin.put(path, {"rootRole": 3}) for id in ids)
    assert statuses(answers) == {200: 19, 409: 1}
    assert [read(admin, id)["rootRole"] for id in ids].count(1) == 1


def test_of_two_admins_who_delete_each_other_at_once_one_stays(settle):
    (grace, as_grace), (ada, as_ada) = (settle(name, root_role=1) for name in ("grace", "ada"))
    answers = at_once(
        [lambda: as_grace.delete(f"{PATH}/{ada}"), lambda: as_ada.delete(f"{PATH}/{grace}")]
    )
    assert sorted(answer.status_code < 300 for answer in answers) == [False, True]
    assert max(answer.status_code for answer in answers) in {401, 409}


# The first password, by the link


def test_the_link_shows_whose_password_it_sets(invite, stranger):
    _, link = invite("grace")
    page = stranger.get(link)
    assert (page.status_code, page.mimetype) == (200, "text/html")
    assert "grace" in page.text


def test_the_link_sets_the_password_once(app, invite, stranger, people):
    id, link = invite("grace")
    assert set_password(stranger, link).status_code == 303
    for answer in (set_password(stranger, link, ANOTHER), stranger.get(link)):
        assert (answer.status_code, answer.mimetype) == (404, "text/html")
    client = ApiClient(app, people.token(id))
    assert change_password(client, ANOTHER).status_code == 400
    assert change_password(client, PASSWORD).status_code == 200


def test_of_two_who_use_the_link_at_once_one_succeeds(invite, stranger):
    _, link = invite("grace")
    answers = at_once([lambda: set_password(stranger, link)] * 2)
    assert statuses(answers) == {303: 1, 404: 1}


@pytest.mark.parametrize(("hours", "status"), [(47.9, 200), (48.1, 404)])
def test_the_link_works_for_48_hours(app, invite, stranger, hours, status):
    with time_machine.travel(START, tick=False):
        id, link = invite("grace")
    with time_machine.travel(START + timedelta(hours=hours), tick=False):
        assert stranger.get(link).status_code == status
        assert set_password(stranger, link).status_code == {200: 303}.get(status, status)
    assert has_password(app, id) is (status == 200)


def test_unknown_links_and_those_of_deleted_users_are_not_found(app, admin, invite, stranger):
    id, link = invite("grace")
    admin.ok("DELETE", f"{PATH}/{id}")
    for address in (link, f"{link}x", link.rsplit("/", 1)[0] + "/unknown"):
        assert stranger.get(address).status_code == 404
        assert set_password(stranger, address).status_code == 404
    assert not has_password(app, id)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("", "at least 15 characters"),
        ("four green duck", None),
        ("four green duc", "at least 15 characters"),
        ("abcabcabcabcabcabc", "more different characters"),
        ("Password Password 1", "easy to guess"),
        ("GraceHopper-GraceHopper", "easy to guess"),
    ],
)
def test_a_bad_password_is_refused_on_the_page(app, invite, stranger, bad, words):
    id, link = invite("gracehopper")
    page = set_password(stranger, link, bad)
    assert has_password(app, id) is (words is None)
    if words is not None:
        assert words in page.text
        assert 'role="alert"' in page.text
        assert set_password(stranger, link).status_code == 303


def test_the_event_of_a_first_password_does_not_contain_it(admin, invite, stranger):
    id, link = invite("grace")
    set_password(stranger, link)
    [(_, after)] = told(admin, "password-changed")
    assert after["id"] == id
    assert PASSWORD not in admin.get("/events").text


# Changing the password


def test_the_password_is_changed_with_the_old_one(settle):
    _, client = settle("grace")
    answer = change_password(client)
    assert (answer.status_code, answer.data) == (200, b"")
    assert list(problems_of(change_password(client, PASSWORD, ANOTHER))) == ["/oldPassword"]
    assert change_password(client, ANOTHER, PASSWORD).status_code == 200


@pytest.mark.parametrize("bad", ["short", "abcabcabcabcabcabc", "password-password", "x" * 1_025])
def test_a_new_password_must_be_good(settle, bad):
    _, client = settle("grace")
    assert list(problems_of(change_password(client, PASSWORD, bad))) == ["/newPassword"]
    assert change_password(client).status_code == 200


def test_both_passwords_are_needed(settle):
    _, client = settle("grace")
    answer = client.post("/user/change-password", {})
    assert set(problems_of(answer)) == {"/oldPassword", "/newPassword"}


def test_an_account_without_a_password_can_not_change_it(app, people, viewer):
    robot = ApiClient(app, people.token(people.service_account("robot")))
    for client in (viewer, robot):
        assert error_of(change_password(client)) == (409, "ConflictError")


def test_a_link_does_not_outlive_the_deletion_of_its_account(admin, stranger):
    made = admin.ok("POST", "/user-admin", {"username": "grace", "rootRole": 3})
    admin.ok("DELETE", f"/user-admin/{made['id']}")
    admin.ok("POST", f"/user-admin/{made['id']}/restore")
    link = made["inviteLink"].removeprefix("http://127.0.0.1:4242")
    assert stranger.app.test_client().get(link).status_code == 404
