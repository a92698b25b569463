"""The pages about users, in a browser without JavaScript."""

import logging
import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from flask import Flask

from app.accounts.models import Account
from app.core.clock import utcnow
from app.core.db import db, unit_of_work
from tests.support.browser import Browser, Page, text_of
from tests.support.clients import ApiClient
from tests.support.people import PASSWORD, People

INACTIVE = "/users/inactive"
START = datetime(2026, 6, 1, 12, tzinfo=UTC)
ADMIN, EDITOR, VIEWER = "1", "2", "3"


@pytest.fixture
def api(app: Flask, browser: Browser, people: People) -> ApiClient:
    """A client of the Admin who is signed in with the browser."""
    return ApiClient(app, people.token(1))


@pytest.fixture
def away(people: People) -> list[int]:
    """Three inactive people, longest inactive first."""
    return [people.person(f"away{days}", away_days=days) for days in (500, 300, 200)]


def come_back(app: Flask, id: int) -> None:
    """Record a sign-in of this person."""
    with app.app_context(), unit_of_work(writes=True):
        db.session.get_one(Account, id).last_sign_in_at = utcnow()


def rows(page: Page, table: int = 0) -> list[str]:
    """The rows of a table, each in one line."""
    return [text_of(row) for row in page.select("tbody")[table].css("tr")]


def people_of(page: Page) -> list[str]:
    """The names in the list."""
    names = page.select("a.table__name")
    return [text_of(name) for name in names]


def event_of(api: ApiClient, type: str) -> dict[str, object]:
    """The last event of a type."""
    return api.ok("GET", f"/events?type={type}")["events"][0]


def secret_of(page: Page) -> str:
    [shown] = page.select("p.secret__value")
    return text_of(shown.css("code")[0])


def chosen(page: Page, *ids: int, **changes: object) -> dict[str, object]:
    return {"id": [str(id) for id in ids], **changes}


def username(client: ApiClient, id: int) -> str | None:
    """The user name, or None if there is no such user."""
    answer = client.get(f"/user-admin/{id}")
    return answer.json["username"] if answer.status_code == 200 else None


# The list


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["boss", "Ann Archer", "ben"]),
        ("?text=ARCH", ["Ann Archer"]),
        ("?text=b@x.org", ["ben"]),
        (f"?rootRole={EDITOR}", ["ben"]),
        (f"?text=ann&rootRole={EDITOR}", []),
        ("?sort=-username", ["boss", "ben", "Ann Archer"]),
        ("?limit=1&offset=1", ["Ann Archer"]),
    ],
)
def test_the_page_and_the_api_find_and_sort_users_alike(browser, api, query, found):
    new = {"username": "a.archer", "name": "Ann Archer", "rootRole": 3}
    api.ok("POST", "/user-admin", new)
    api.ok("POST", "/user-admin", {"username": "ben", "email": "b@x.org", "rootRole": 2})
    listed = [u["name"] or u["username"] for u in api.ok("GET", f"/user-admin{query}")["users"]]
    assert people_of(browser.get(f"/users{query}")) == listed == found


def test_the_list_shows_its_filters_and_how_to_remove_them(browser, people):
    people.person("ann", role="Editor")
    page = browser.get(f"/users?text=ann&rootRole={EDITOR}")
    assert page.has("1 user matches")
    assert page.links["Text: ann remove"] == f"?rootRole={EDITOR}"
    assert page.links["Role: Editor remove"] == "?text=ann"
    fields = page.fields(0)
    assert (fields["text"], fields["rootRole"]) == ("ann", EDITOR)
    empty = browser.get("/users?text=no-one-like-that")
    assert empty.has("No user matches Remove a filter.")
    assert empty.links["All users"] == "/users"


def test_the_tabs_count_everyone_whatever_the_filters(browser, api, people, away):
    api.ok("DELETE", f"/user-admin/{away[0]}")
    for path in ("", "?text=boss", "/inactive", "/deleted"):
        links = browser.get(f"/users{path}").links
        assert {"All 3", "Inactive 2", "Recently deleted 1"} <= links.keys(), path


@pytest.mark.parametrize("role", ["9", "admin", "²", "9" * 5_000])
def test_an_invalid_filter_is_named_and_ignored(browser, role):
    page = browser.get(f"/users?rootRole={role}&sort=colour")
    assert people_of(page) == ["boss"]
    messages = " ".join(page.messages)
    assert "rootRole" in messages
    assert "sort" in messages


# Create


def test_the_link_to_set_a_password_is_shown_once_and_works_once(app, browser, api, caplog):
    caplog.set_level(logging.DEBUG)
    typed = {"username": "ann", "name": "Ann Archer", "root_role": EDITOR, "reason": "new here"}
    made = browser.submit(browser.get("/users/new"), typed)
    link = secret_of(made)
    path = re.fullmatch(r"http://[^/]+(/set-up/\S+)", link)[1]
    secret = path.rpartition("/")[2]
    assert made.h1 == "Ann Archer created"
    assert made.has("Editor: can create projects")
    assert made.answer.headers["Cache-Control"] == "no-store"
    assert made.path == "/users/new"
    assert made.text.count(secret) == 1
    for other in ("/users", "/users/2", "/users/new"):
        assert secret not in browser.get(other).text
    event = api.ok("GET", "/events?type=user-created")["events"][0]
    assert (event["reason"], event["data"]["username"]) == ("new here", "ann")
    assert secret not in str(api.ok("GET", "/events"))
    assert secret not in caplog.text
    visitor = Browser(app)
    assert visitor.submit(visitor.get(path), {"new_password": PASSWORD}).status == 303
    assert visitor.get(path).status == 404


def test_a_taken_name_is_an_error_at_its_field_and_keeps_what_was_typed(browser, people):
    people.person("ann")
    typed = {"username": "ANN", "email": "a@x.org", "name": "Ann", "root_role": EDITOR}
    page = browser.post("/users/new", typed | {"reason": "twice"})
    assert page.status == 400
    assert page.title.startswith("Error:")
    assert page.errors == ["User name: The username 'ANN' is taken. Choose another."]
    assert page.fields().items() >= (typed | {"reason": "twice"}).items()


def test_the_form_of_a_new_user_says_that_a_user_name_or_an_e_mail_is_needed(browser):
    labels = [text_of(label) for label in browser.get("/users/new").select("main label")]
    assert labels[:2] == ["User name (this or an e-mail)", "E-mail (this or a user name)"]


def test_the_form_and_the_api_refuse_a_new_user_in_the_same_words(browser, api, subtests):
    for typed, body in (
        ({}, {}),
        ({"username": "a\tb"}, {"username": "a\tb"}),
        ({"username": "x" * 256}, {"username": "x" * 256}),
        ({"email": "no address"}, {"email": "no address"}),
        ({"username": "a", "name": "x" * 256}, {"username": "a", "name": "x" * 256}),
        ({"username": "a", "root_role": "4"}, {"username": "a", "rootRole": 4}),
        ({"username": "a", "root_role": "x"}, {"username": "a", "rootRole": "x"}),
        ({"username": "Boss"}, {"username": "Boss"}),
    ):
        with subtests.test(typed=typed, body=body):
            refusal = api.post("/user-admin", {"rootRole": 3} | body)
            page = browser.post("/users/new", {"root_role": VIEWER} | typed)
            assert (refusal.status_code, page.status) in {(400, 400), (409, 400)}
            for problem in refusal.json.get("details", [refusal.json]):
                assert any(problem["message"] in error for error in page.errors), page.errors
            assert api.ok("GET", "/user-admin")["total"] == 1


# One user


def test_changing_role_and_name_records_the_reason(browser, api, people):
    id = people.person("ann")
    changes = {"name": "Ann Archer", "root_role": EDITOR, "reason": "helps the shop now"}
    saved = browser.submit(browser.get(f"/users/{id}"), changes)
    page = browser.follow(saved)
    assert (page.h1, page.path) == ("Ann Archer", f"/users/{id}")
    assert "Ann Archer saved." in page.messages
    event = event_of(api, "user-updated")
    assert event["reason"] == "helps the shop now"
    assert (event["preData"]["rootRole"], event["data"]["rootRole"]) == (3, 2)
    assert event["data"]["name"] == "Ann Archer"


def test_a_user_page_shows_their_access(browser, people, api):
    id = people.person("ann", away_days=3)
    people.token(id, "laptop")
    people.join(id, "default", "Owner")
    page = browser.get(f"/users/{id}")
    assert page.has("Projects Default (Owner, given by ")
    assert page.has("Last sign-in: 3 days ago")
    assert page.has("Has no password yet and can’t sign in.")


def test_a_stale_form_shows_what_the_other_admin_changed(browser, api, people):
    id = people.person("ann")
    page = browser.get(f"/users/{id}")
    api.ok("PUT", f"/user-admin/{id}", {"name": "Ann Archer", "rootRole": 2})
    late = browser.submit(page, {"email": "a@x.org", "reason": "asked for"})
    assert late.status == 409
    assert late.title.startswith("Error:")
    assert late.has("Someone else changed this while you were editing")
    assert late.has("Full name from “nothing” to “Ann Archer”")
    assert late.has("Role from “Viewer” to “Editor”")
    fields = late.fields()
    assert (fields["email"], fields["reason"], fields["root_role"]) == (
        "a@x.org",
        "asked for",
        VIEWER,
    )
    assert "email" not in api.ok("GET", f"/user-admin/{id}")
    browser.follow(browser.submit(late))
    assert api.ok("GET", f"/user-admin/{id}")["email"] == "a@x.org"
    assert api.ok("GET", f"/user-admin/{id}")["rootRole"] == 3


def test_a_form_with_a_forged_seal_saves_nothing(browser, api, people):
    id = people.person("ann")
    page = browser.submit(browser.get(f"/users/{id}"), {"seen": "made up", "name": "X"})
    assert page.status == 400
    assert api.ok("GET", f"/user-admin/{id}")["name"] is None


@pytest.mark.parametrize(
    ("typed", "body"),
    [
        ({"username": ""}, {"username": None}),
        ({"username": "a\tb"}, {"username": "a\tb"}),
        ({"email": "no address"}, {"email": "no address"}),
        ({"name": "x" * 256}, {"name": "x" * 256}),
        ({"root_role": "5"}, {"rootRole": 5}),
        ({"username": "BOSS"}, {"username": "BOSS"}),
    ],
)
def test_the_form_and_the_api_refuse_changes_in_the_same_words(browser, api, people, typed, body):
    id = people.person("ann")
    refusal = api.put(f"/user-admin/{id}", body)
    page = browser.submit(browser.get(f"/users/{id}"), typed)
    assert (refusal.status_code, page.status) in {(400, 400), (409, 400)}
    for problem in refusal.json.get("details", [refusal.json]):
        assert any(problem["message"] in error for error in page.errors), page.errors
    assert page.fields().items() >= {k: v for k, v in typed.items() if k != "root_role"}.items()
    assert username(api, id) == "ann"


def test_a_new_link_replaces_the_earlier_one(app, browser, people):
    id = people.person("ann")
    page = browser.get(f"/users/{id}/link")
    first, second = (browser.submit(page) for _ in range(2))
    assert second.h1 == "ann: new link"
    assert second.answer.headers["Cache-Control"] == "no-store"
    paths = [secret_of(one).partition("/set-up/")[2] for one in (first, second)]
    assert Browser(app).get(f"/set-up/{paths[0]}").status == 404
    assert Browser(app).get(f"/set-up/{paths[1]}").status == 200


def test_signing_someone_out_ends_all_their_sessions_and_is_recorded(app, browser, api, people):
    id = people.person("ann")
    here, there = Browser(app).sign_in("ann"), Browser(app).sign_in("ann")
    assert (here.get("/projects").status, there.get("/projects").status) == (200, 200)
    page = browser.follow(browser.submit(browser.get(f"/users/{id}"), form=f"/users/{id}/sign-out"))
    assert "ann signed out everywhere. They can sign in again." in page.messages
    assert (here.get("/projects").status, there.get("/projects").status) == (303, 303)
    assert event_of(api, "user-signed-out")["data"] == {"id": id, "name": "ann"}
    assert Browser(app).sign_in("ann").get("/projects").status == 200
    assert browser.get("/users").status == 200


def test_a_user_is_deleted_after_a_review_and_can_be_restored(app, browser, api, people):
    id = people.person("ann", role="Editor")
    client = ApiClient(app, people.token(id))
    people.join(id, "default", "Owner")
    review = browser.get(f"/users/{id}/delete")
    assert review.has("ann will no longer be able to sign in. 1 token stops working immediately.")
    assert review.has("1 project loses a member.")
    assert rows(review) == ["Default Owner No Owner left"]
    assert review.has("1 project will have no Owner: Default.")
    assert client.get("/user").status_code == 200
    gone = browser.follow(browser.submit(review, {"reason": "left the company"}))
    assert gone.path == "/users/deleted"
    assert "ann deleted. You can restore them for 30 days." in gone.messages
    assert client.get("/user").status_code == 401
    assert event_of(api, "user-deleted")["reason"] == "left the company"
    assert gone.has("1 user, last deleted first")
    back = browser.follow(browser.submit(gone, form="/restore"))
    assert (back.path, back.h1) == (f"/users/{id}", "ann")
    assert back.has("Editor")
    assert back.has("Default (Owner, given by ")
    assert client.get("/user").status_code == 401
    assert browser.get("/users/deleted").has("No one was deleted in the last 30 days")


def test_a_user_page_draws_and_lists_26_weeks_of_activity(app, browser, people):
    id = people.person("ann", role="Editor")
    link = secret_of(browser.submit(browser.get(f"/users/{id}/link")))
    theirs = Browser(app)
    theirs.submit(
        theirs.get("/set-up/" + link.partition("/set-up/")[2]), {"new_password": PASSWORD}
    )
    theirs.post("/tags/new-type", {"name": "team", "hue": "1"})
    page = browser.get(f"/users/{id}")
    assert page.has("3 changes, 1 sign-in")
    table = next(t for t in page.select("table") if text_of(t.css("caption")[0]) == "By week")
    weeks = [[text_of(cell) for cell in row.css("td")] for row in table.css("tbody tr")]
    assert weeks == [["3", "1"]] + [["0", "0"]] * 25


def test_no_one_can_delete_their_own_account(browser, api, people):
    page = browser.get("/users/1")
    assert page.has("You can’t delete your own account. Ask another Admin.")
    assert "Delete…" not in page.links
    other = browser.get(f"/users/{people.person('ann')}")
    assert not other.has("You can’t delete your own account. Ask another Admin.")
    assert "Delete…" in other.links
    assert browser.get("/users/1/delete").has("boss can’t be deleted: this is your own account.")
    refused = browser.post("/users/1/delete")
    assert refused.status == 400
    assert refused.has("boss can’t be deleted: this is your own account.")
    assert username(api, 1) == "boss"


def test_the_last_admin_who_can_sign_in_keeps_the_role(app, browser, api, people):
    id = people.person("ann", role="Admin")
    people.give_password(id)
    assert browser.get(f"/users/{id}/delete").has("this is the last Admin who can sign in")
    refused = browser.post(f"/users/{id}/delete")
    assert refused.status == 400
    assert refused.has("this is the last Admin who can sign in")
    demoted = browser.submit(browser.get(f"/users/{id}"), {"root_role": VIEWER})
    assert demoted.status == 400
    assert "This is the last Admin who can sign in." in demoted.errors[0]
    assert api.ok("GET", f"/user-admin/{id}")["rootRole"] == 1


def test_an_unknown_user_has_no_page(browser):
    for path in ("/users/99", "/users/99/delete", f"{INACTIVE}/removed?batch=made-up"):
        assert browser.get(path).status == 404
    assert browser.post("/users/99/restore").status == 404


# Inactive users


def test_the_page_states_the_rule_with_its_date(app, browser, people):
    with time_machine.travel(START, tick=False):
        people.person("ann", away_days=200)
        page = Browser(app).sign_in("boss").get(INACTIVE)
        assert page.has("no sign-in and no token use for 180 days, that is since 3 Dec 2025")


def test_without_inactive_users_the_page_names_the_next_one(app, people):
    with time_machine.travel(START, tick=False):
        people.person("boss", role="Admin")
        people.person("ann", away_days=170)
        page = Browser(app).sign_in("boss").get(INACTIVE)
        assert page.has("No one is inactive")
        assert page.has("The next would be ann, on 11 Jun 2026, 12:00 UTC")


def test_every_inactive_user_has_a_verdict(app, browser, people):
    people.person("safe", away_days=190)
    owner, other = people.person("owner", away_days=200), people.person("other", away_days=210)
    admin = people.person("chief", role="Admin", away_days=220)
    people.give_password(admin)
    people.join(owner, "default", "Owner")
    people.join(other, "default", "Member")
    people.token(other)
    page = browser.get(INACTIVE)
    assert people_of(page) == ["chief", "other", "owner", "safe"]
    chief, middle, sole, safe = rows(page)
    assert chief.endswith("220 None Can’t be deleted: the last Admin who can sign in")
    assert middle.endswith("210 1 token and Member of Default Safe to delete")
    assert sole.endswith("200 Owner of Default Only Owner of 1 project")
    assert safe.endswith("190 None Safe to delete")
    assert page.has(
        "4 of 5 users are inactive. 2 can be deleted safely, 1 is the only Owner of a project "
        "and 1 can’t be deleted."
    )
    boxes = [e.attributes["value"] for e in page.select('input[name="id"]')]
    assert str(admin) not in boxes
    assert len(boxes) == 3


def test_your_own_account_can_not_be_selected(app, browser):
    with app.app_context(), unit_of_work(writes=True):
        boss = db.session.get_one(Account, 1)
        boss.created_at = utcnow() - timedelta(days=300)
        boss.last_sign_in_at = None
    page = browser.get(INACTIVE)
    assert page.has("Can’t be deleted: your own account")
    assert not page.select('input[name="id"]')
    refused = browser.post(INACTIVE, {"id": "1"})
    assert browser.follow(refused).has("Select at least one person.")


def test_chips_filter_the_list_and_show_counts(app, browser, people, away):
    with app.app_context(), unit_of_work(writes=True):
        never = db.session.get_one(Account, away[1])
        never.last_sign_in_at = None
    links = browser.get(INACTIVE).links
    assert people_of(browser.get(links["All 3"])) == ["away500", "away300", "away200"]
    assert people_of(browser.get(links["Never signed in 1"])) == ["away300"]
    assert people_of(browser.get(links["365 days or more 1"])) == ["away500"]
    assert len(people_of(browser.get(f"{INACTIVE}?away=nonsense&offset=x"))) == 3


def test_the_review_names_everyone_and_the_effects(browser, api, people, away):
    people.join(away[0], "default", "Owner")
    people.token(away[1])
    review = browser.submit(
        browser.get(INACTIVE), {"id": [str(away[0]), str(away[1])]}, button="Delete…"
    )
    assert review.h1 == "Delete 2 users"
    assert review.has("2 users will no longer be able to sign in.")
    assert review.has("1 token stops working immediately. 1 project loses a member.")
    assert review.has("1 project will have no Owner: Default.")
    assert [row.split(" ", 2)[1] for row in rows(review)] == ["away500", "away300"]
    assert "number" not in review.fields()
    assert username(api, away[0]) == "away500"


def test_the_review_notices_owners_who_are_deleted_together(browser, people, away):
    for id in away[:2]:
        people.join(id, "default", "Owner")
    page = browser.get(INACTIVE)
    assert "Only Owner" not in " ".join(rows(page))
    review = browser.submit(page, {"id": [str(id) for id in away[:2]]}, button="Delete…")
    assert review.has("1 project will have no Owner: Default.")
    assert not browser.submit(page, {"id": str(away[0])}, button="Delete…").has("no Owner")


def test_someone_active_since_the_review_is_skipped_and_named(app, browser, api, away):
    review = browser.submit(
        browser.get(INACTIVE), {"id": [str(id) for id in away]}, button="Delete…"
    )
    come_back(app, away[1])
    done = browser.follow(browser.submit(review, {"reason": "spring cleaning"}))
    assert done.h1 == "2 users deleted"
    assert done.has("2 users deleted, 1 skipped.")
    assert rows(done, 0) == ["away300 Active since your review"]
    assert [row.split()[0] for row in rows(done, 1)] == ["away500", "away200"]
    assert [username(api, id) for id in away] == [None, "away300", None]
    summary = event_of(api, "inactive-users-deleted")
    assert summary["reason"] == "spring cleaning"
    assert summary["data"]["skipped"] == [{"id": away[1], "reason": "active"}]
    file = browser.client.get(f"{INACTIVE}/removed{done.links['JSON']}")
    assert file.headers["Cache-Control"] == "no-store"
    assert file.json == [
        {"id": away[0], "name": "away500", "outcome": "deleted"},
        {"id": away[2], "name": "away200", "outcome": "deleted"},
        {"id": away[1], "name": "away300", "outcome": "skipped", "reason": "active"},
    ]
    back = browser.follow(browser.submit(done, form=f"/users/{away[0]}/restore"))
    assert back.has("away500 restored. Their roles are back, their tokens aren’t.")
    assert username(api, away[0]) == "away500"


def test_deleting_ten_or_more_requires_typing_the_number(browser, api, people):
    ids = [people.person(f"away{number}", away_days=200 + number) for number in range(10)]
    review = browser.submit(
        browser.get(INACTIVE), {"id": [str(id) for id in ids]}, button="Delete…"
    )
    assert review.has("Type the number of users, 10")
    for typed in ("", "9"):
        refused = browser.submit(review, {"number": typed, "reason": "cleaning"})
        assert refused.status == 400
        assert refused.errors == ["Type the number of users, 10, to continue."]
        assert refused.fields()["reason"] == "cleaning"
        assert username(api, ids[0]) == "away0"
    assert browser.follow(browser.submit(review, {"number": "10"})).h1 == "10 users deleted"


def test_an_empty_selection_changes_nothing_and_says_so(browser, api, away):
    for path in (INACTIVE, f"{INACTIVE}/delete"):
        answer = browser.post(path)
        assert answer.location == INACTIVE
        page = browser.follow(answer)
        assert "Select at least one person. Nothing has changed." in page.messages
    assert api.ok("GET", "/events?type=inactive-users-deleted")["total"] == 0


def test_an_invalid_id_counts_as_not_selected(browser, away, subtests):
    for id in ("x", "-1", "²", "0", "9" * 30, "9" * 5_000):
        with subtests.test(id=id):
            assert browser.post(INACTIVE, {"id": id}).location == INACTIVE


def test_the_page_never_deletes_active_people(browser, api, people, away):
    active, robot = people.person("active"), people.service_account("robot")
    ids = [str(id) for id in (active, robot, away[0], 999)]
    done = browser.follow(browser.post(f"{INACTIVE}/delete", {"id": ids}))
    assert done.h1 == "1 user deleted"
    assert rows(done, 0) == [
        "active Active since your review",
        "robot A service account",
        "Unknown, id 999 Unknown",
    ]
    assert username(api, active) == "active"


# Permissions


@pytest.mark.parametrize("role", ["Viewer", "Editor"])
def test_only_admins_see_the_pages_about_users(app, people, role):
    id = people.person("other")
    people.person("looker", role=role)
    looker = Browser(app).sign_in("looker")
    for path in ("", "/new", "/deleted", "/inactive", f"/{id}", f"/{id}/delete"):
        assert looker.get(f"/users{path}").status == 403
    posts = ("/new", "/inactive", "/inactive/delete", "/link", "/sign-out", "/delete", "/restore")
    for path in ("", *posts):
        where = path if path.startswith(("/new", "/inactive")) else f"/{id}{path}"
        assert looker.post(f"/users{where}", {"id": str(id)}).status == 403
