"""Changing several users at once, in a browser without JavaScript."""

import pytest
from flask import Flask

from tests.support.browser import Browser, Page, text_of
from tests.support.clients import ApiClient
from tests.support.people import PASSWORD, People
from tests.support.sign_in import let_time_pass, sign_in

BULK = "/users/bulk"
ADMIN, EDITOR, VIEWER = "1", "2", "3"
OWNER, MEMBER = "4", "5"


@pytest.fixture
def api(app: Flask, browser: Browser, people: People) -> ApiClient:
    """A client of the Admin who is signed in with the browser."""
    return ApiClient(app, people.token(1))


@pytest.fixture
def three(browser: Browser, people: People) -> list[int]:
    """The ids of ann, an Editor, and of ben and cleo, Viewers."""
    roles = {"ann": "Editor", "ben": "Viewer", "cleo": "Viewer"}
    return [people.person(name, role=role) for name, role in roles.items()]


def choose(browser: Browser, ids: list[int], **choices: object) -> Page:
    """The review of these choices; or the page before it, if they were refused."""
    page = browser.submit(browser.get("/users"), {"id": [str(id) for id in ids]}, form=BULK)
    return browser.submit(page, choices, form="Review")


def rows(page: Page) -> list[str]:
    return [text_of(row) for row in page.select("tbody tr")]


def events(api: ApiClient, type: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = api.ok("GET", f"/events?type={type}")["events"]
    return found


def test_a_role_is_given_to_several_after_a_review(browser, api, three):
    review = choose(browser, three, root_role=EDITOR)
    assert review.h1 == "Review the changes to 3 users"
    assert review.has("2 of 3 users will change.")
    assert rows(review) == [
        "A ann ann Editor",
        "B ben ben Viewer → Editor",
        "C cleo cleo Viewer → Editor",
    ]
    assert api.ok("GET", f"/user-admin/{three[1]}")["rootRole"] == 3
    done = browser.follow(browser.submit(review, {"reason": "new team"}))
    assert "2 users changed." in done.messages
    assert [api.ok("GET", f"/user-admin/{id}")["rootRole"] for id in three] == [2, 2, 2]
    recorded = events(api, "user-updated")
    assert len({event["batchId"] for event in recorded}) == 1
    assert [event["reason"] for event in recorded] == ["new team", "new team"]
    assert browser.get("/events").has("You changed the role of 2 users")


def test_several_join_a_project_and_members_keep_their_role(browser, api, people, three):
    people.join(three[0], "default", "Owner")
    review = choose(browser, three, project="default", project_role=MEMBER)
    assert [row.split(" ", 4)[-1] for row in rows(review)] == [
        "Already an Owner",
        "+ Member",
        "+ Member",
    ]
    browser.follow(browser.submit(review))
    members = api.ok("GET", "/projects/default/access")["members"]
    assert {member["id"]: member["roleId"] for member in members} == {
        three[0]: 4,
        three[1]: 5,
        three[2]: 5,
    }


def test_several_are_signed_out_everywhere(app, browser, api, three):
    theirs = Browser(app).sign_in("ben")
    review = choose(browser, three[:2], sign_out="y")
    assert review.has("2 of 2 users will change. Everyone is signed out everywhere")
    assert theirs.get("/projects").status == 200
    browser.follow(browser.submit(review))
    assert theirs.get("/projects").status == 303
    assert browser.get("/events").has("You signed 2 users out everywhere")


def test_what_changed_since_the_review_is_shown_before_anything_is_saved(browser, api, three):
    review = choose(browser, three, root_role=EDITOR)
    api.ok("PUT", f"/user-admin/{three[2]}", {"rootRole": 2})
    refused = browser.submit(review)
    assert refused.status == 409
    assert refused.errors[0].startswith("Something changed since your review, so nothing was done.")
    assert refused.has("1 of 3 users will change.")
    assert api.ok("GET", f"/user-admin/{three[1]}")["rootRole"] == 3
    assert "1 user changed." in browser.follow(browser.submit(refused)).messages
    assert api.ok("GET", f"/user-admin/{three[1]}")["rootRole"] == 2


def test_choices_that_can_not_be_made_are_refused_with_the_reason(browser, three):
    assert choose(browser, three).errors == ["Choose a role, a project, or to sign people out."]
    unknown = choose(browser, three, project="nowhere")
    assert unknown.status == 400
    assert unknown.errors == ["Add to project: There is no project with the id nowhere."]
    assert unknown.fields("Review")["project"] == "nowhere"
    none = browser.follow(browser.get(BULK))
    assert "Select at least one person. Nothing has changed." in none.messages
    assert browser.follow(browser.get(f"{BULK}?id=999&id=x")).path == "/users"


def test_someone_who_can_sign_in_stays_an_admin(app, browser, api, people, three):
    people.give_password(1)
    browser.sign_in("boss")  # again: the first password ends sessions
    refused = browser.submit(choose(browser, [1, three[0]], root_role=VIEWER))
    assert refused.status == 400
    assert refused.errors[0].startswith("This is the last Admin who can sign in.")
    assert [api.ok("GET", f"/user-admin/{id}")["rootRole"] for id in (1, three[0])] == [1, 2]


def test_the_password_is_asked_for_before_people_become_admins(app, browser, api, ada, three):
    inside = Browser(app)
    sign_in(inside, "ada")
    review = choose(inside, three, root_role=ADMIN)
    let_time_pass(app)
    asked = inside.submit(review)
    assert asked.h1 == "Confirm your identity"
    assert asked.has("make 3 users Admins")
    assert api.ok("GET", f"/user-admin/{three[0]}")["rootRole"] == 2
    assert inside.submit(asked, {"confirm_password": PASSWORD}).status == 303
    assert api.ok("GET", f"/user-admin/{three[0]}")["rootRole"] == 1


def test_an_archived_project_takes_no_one(browser, api, three):
    api.ok("POST", "/projects", {"id": "old", "name": "Old"})
    review = choose(browser, three, project="old", project_role=OWNER)
    api.ok("DELETE", "/projects/old")
    assert "is archived" in browser.submit(review).errors[0]


def test_ids_that_no_account_can_have_change_nothing(browser, api, three):
    unknown = f"id={10**18}&id=0"
    none = browser.follow(browser.post(f"{BULK}?{unknown}", {"sign_out": "y"}))
    assert "Select at least one person. Nothing has changed." in none.messages
    review = choose(browser, three, root_role=EDITOR)
    refused = browser.post(f"{BULK}/apply?{unknown}", review.fields())
    assert refused.status == 409
    assert api.ok("GET", f"/user-admin/{three[1]}")["rootRole"] == 3


def test_nothing_is_offered_if_nothing_would_change(browser, three):
    review = choose(browser, three[1:], root_role=VIEWER)
    assert review.has("0 of 2 users will change.")
    assert not [b for b in review.select("button") if text_of(b).startswith("Change")]


def test_all_who_were_deleted_together_are_restored_together(app, browser, api, people):
    ids = [people.person(f"away{days}", away_days=days) for days in (500, 300, 200)]
    review = browser.submit(
        browser.get("/users/inactive"), {"id": [str(id) for id in ids]}, button="Delete…"
    )
    done = browser.follow(browser.submit(review))
    browser.submit(done, form=f"/users/{ids[0]}/restore")
    done = browser.get(done.path)
    assert rows(done)[0].endswith("Nothing to restore")
    back = browser.follow(browser.submit(done, form="Restore all 2"))
    assert "2 users restored. Their roles are back, their tokens aren’t." in back.messages
    assert api.ok("GET", "/user-admin")["total"] == 4
    assert browser.get("/events").has("You restored 2 users")
    assert "Restore all" not in browser.get(done.path).words


def test_one_whose_name_was_taken_since_keeps_all_from_being_restored(browser, api, people):
    ids = [people.person(f"away{days}", away_days=days) for days in (500, 300)]
    review = browser.submit(
        browser.get("/users/inactive"), {"id": [str(id) for id in ids]}, button="Delete…"
    )
    done = browser.follow(browser.submit(review))
    people.person("away300")
    refused = browser.submit(done, form="Restore all 2")
    assert refused.status == 400
    assert refused.errors == [
        (
            "away300 cannot be restored: another account has this username or email now. "
            "Change that one first."
        )
    ]
    assert api.ok("GET", "/user-admin")["total"] == 2
