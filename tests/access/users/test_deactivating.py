"""Keeping people from signing in until they are reactivated, one or many."""

import pytest

from tests.support.browser import Browser
from tests.support.clients import ApiClient, error_of

PATH = "/user-admin"


@pytest.fixture
def three(people):
    """The ids of three people who have been away for long."""
    return [people.person(name, away_days=400) for name in ("grace", "hedy", "ida")]


def deactivated(admin, ids):
    return [id for id in ids if "deactivatedAt" in admin.ok("GET", f"{PATH}/{id}")]


def event_types(admin):
    return [event["type"] for event in admin.ok("GET", "/events")["events"]]


def test_a_deactivated_person_has_no_access_and_keeps_their_roles(app, admin, people):
    id = people.person("grace", role="Editor")
    token, session = people.token(id), Browser(app).sign_in("grace")
    found = admin.ok("POST", f"{PATH}/{id}/deactivate")
    assert (found["id"], found["rootRole"]) == (id, 2)
    assert found["deactivatedAt"]
    assert ApiClient(app, token).get("/user").status_code == 401
    assert session.get("/account").status == 303
    assert event_types(admin)[0] == "user-deactivated"


def test_deactivating_again_changes_nothing(admin, three):
    first = admin.ok("POST", f"{PATH}/{three[0]}/deactivate")
    assert admin.ok("POST", f"{PATH}/{three[0]}/deactivate") == first
    assert event_types(admin).count("user-deactivated") == 1


def test_several_are_deactivated_and_reactivated_together(admin, three):
    admin.ok("POST", f"{PATH}/{three[0]}/deactivate")
    found = admin.ok("POST", f"{PATH}/deactivate", {"ids": three})
    assert found["version"] == 1
    assert [user["id"] for user in found["users"]] == three[1:]
    assert deactivated(admin, three) == three
    found = admin.ok("POST", f"{PATH}/reactivate", {"ids": three})
    assert [user["id"] for user in found["users"]] == three
    assert deactivated(admin, three) == []
    assert admin.ok("POST", f"{PATH}/reactivate", {"ids": three})["users"] == []


@pytest.mark.parametrize("act", ["deactivate", "reactivate"])
def test_all_are_changed_or_none(admin, three, act):
    if act == "reactivate":
        admin.ok("POST", f"{PATH}/deactivate", {"ids": three})
    before = deactivated(admin, three)
    answer = admin.post(f"{PATH}/{act}", {"ids": [*three, 99_999, 0]})
    assert error_of(answer) == (404, "NotFoundError")
    assert "0, 99999" in answer.get_json()["message"]
    assert deactivated(admin, three) == before


def test_who_must_stay_is_refused(app, admin, people, three):
    own = admin.ok("GET", "/user")["user"]["id"]
    for ids in ([own], [*three, own]):
        assert error_of(admin.post(f"{PATH}/deactivate", {"ids": ids})) == (409, "ConflictError")
    robot = people.service_account("robot", role="Admin")
    assert error_of(admin.post(f"{PATH}/{robot}/deactivate")) == (404, "NotFoundError")
    last = ApiClient(app, people.token(robot)).post(f"{PATH}/{own}/deactivate")
    assert error_of(last) == (409, "ConflictError")
    assert deactivated(admin, [own, *three]) == []


def test_a_person_is_deactivated_on_their_page_and_that_is_undone(app, browser, admin, people):
    id = people.person("grace", role="Editor")
    people.token(id)
    page = browser.get(f"/users/{id}")
    done = browser.follow(browser.submit(page, form="Deactivate grace"))
    assert done.path == f"/users/{id}"
    assert done.messages == ["grace deactivated. 1 token ended."]
    assert done.has("They can’t sign in, and have no tokens.")
    undone = browser.follow(browser.submit(done, form="Undo deactivating grace"))
    assert undone.messages == ["Undone. You had deactivated user grace. Their tokens stay revoked."]
    assert deactivated(admin, [id]) == []
    browser.follow(browser.submit(undone, form="Deactivate grace"))
    again = browser.follow(browser.submit(browser.get(f"/users/{id}"), form="Reactivate"))
    assert deactivated(admin, [id]) == []
    assert again.has("Deactivate grace")


def test_inactive_people_are_deactivated_at_once_and_that_is_undone(browser, admin, three):
    page = browser.get("/users/inactive")
    chosen = {"id": [str(id) for id in three[:2]]}
    done = browser.follow(browser.submit(page, chosen, form="Deactivate", button="Deactivate"))
    assert done.path == "/users/inactive"
    assert done.messages == ["2 people deactivated. 0 tokens ended."]
    assert deactivated(admin, three) == three[:2]
    assert "grace" not in done.words
    undone = browser.follow(browser.submit(done, form="Undo deactivating 2 people"))
    assert undone.messages == ["Undone. You had deactivated 2 users. Their tokens stay revoked."]
    assert deactivated(admin, three) == []


def test_the_list_of_users_says_who_is_deactivated(browser, admin, three):
    admin.ok("POST", f"{PATH}/{three[0]}/deactivate")
    page = browser.get("/users")
    assert page.has("grace Deactivated")
    assert not page.has("hedy Deactivated")


def test_without_a_choice_no_one_is_deactivated(browser, three):
    page = browser.get("/users/inactive")
    done = browser.follow(browser.submit(page, form="Deactivate", button="Deactivate"))
    assert done.messages == ["Select at least one person. Nothing has changed."]
