"""The pages of service accounts and their tokens, in a browser without JavaScript."""

import logging
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
import time_machine
from flask import Flask

from app.accounts.tokens import secrets
from app.accounts.tokens.models import Token
from app.core import secrets as our_secrets
from app.core.clock import utcnow
from app.core.db import db, unit_of_work
from tests.support.browser import Browser, Page, text_of
from tests.support.clients import ApiClient
from tests.support.people import People

HOME = "/service-accounts"
FIND = f"{HOME}/find-token"
START = datetime(2026, 6, 1, 12, tzinfo=UTC)
ADMIN, EDITOR, VIEWER = "1", "2", "3"


@pytest.fixture
def api(app: Flask, browser: Browser, people: People) -> ApiClient:
    """A client of the Admin who is signed in with the browser."""
    return ApiClient(app, people.token(1))


@pytest.fixture
def robot(people: People) -> str:
    """The page of a service account, an Editor."""
    return f"{HOME}/{people.service_account('robot', role='Editor')}"


def rows(page: Page) -> list[str]:
    return [text_of(row) for row in page.select("tbody")[0].css("tr")]


def secret_of(page: Page) -> str:
    """The secret that the page shows."""
    assert page.status == 200, page.errors
    [shown] = page.select("p.secret__value")
    return text_of(shown.css("code")[0])


def new_token(browser: Browser, robot: str, **typed: str) -> Page:
    page = browser.get(f"{robot}/tokens/new")
    return browser.submit(page, {"description": "deploy"} | typed)


def works(app: Flask, secret: str) -> bool:
    return ApiClient(app, secret).get("/user").status_code == 200


def account_of(api: ApiClient, robot: str) -> dict[str, object]:
    return api.ok("GET", f"/service-account/{robot.rpartition('/')[2]}")


def tokens_of(api: ApiClient, robot: str) -> dict[str, dict[str, object]]:
    path = f"/service-account/{robot.rpartition('/')[2]}/token"
    return {row["description"]: row for row in api.ok("GET", path)["tokens"]}


def end_token(app: Flask, secret: str, how: str) -> None:
    """Set when the token was revoked or expired to an hour ago."""
    with app.app_context(), unit_of_work(writes=True):
        query = sa.select(Token).where(Token.digest == our_secrets.digest(secret))
        setattr(db.session.scalars(query).one(), how, utcnow() - timedelta(hours=1))


def everything(app: Flask) -> str:
    """All that the database holds, as text."""
    with app.app_context(), db.engine.connect() as connection:
        tables = db.metadata.sorted_tables
        return repr([list(connection.execute(table.select())) for table in tables])


# The list


def test_without_service_accounts_the_page_says_what_to_do(browser):
    page = browser.get(HOME)
    assert page.has("No service accounts yet")
    assert page.links["New service account"] == f"{HOME}/new"
    assert browser.get(f"{HOME}?text=x").has("No service account matches")


def test_the_list_shows_roles_and_the_state_of_tokens(app, browser, people, robot):
    id = int(robot.rpartition("/")[2])
    ApiClient(app, people.token(id, "used")).ok("GET", "/user")
    people.token(id, "unused")
    end_token(app, people.token(id, "old"), "expires_at")
    people.service_account("idle")
    page = browser.get(HOME)
    busy, idle = rows(page)
    assert idle == "idle idle Viewer None Never"
    assert busy == "robot robot Editor 2 active, 1 never used just now"
    assert rows(browser.get(f"{HOME}?text=ROB")) == [busy]
    assert rows(browser.get(f"{HOME}?sort=-username")) == [busy, idle]


def test_a_token_that_expires_soon_is_marked(browser, robot):
    new_token(browser, robot, lasts="7")
    assert "1 active, 1 never used, 1 expiring in 14 days" in rows(browser.get(HOME))[0]
    assert "Expires soon" in rows(browser.get(robot))[0]


# Create


def test_a_service_account_is_created_without_a_token(browser, api):
    typed = {"name": "Deploy pipeline", "root_role": EDITOR, "reason": "for the shop"}
    made = browser.submit(browser.get(f"{HOME}/new"), typed)
    page = browser.follow(made)
    assert page.h1 == "Deploy pipeline"
    assert page.has("service-deploy-pipeline")
    assert page.has("Editor: can create projects")
    assert page.has("No tokens yet")
    event = api.ok("GET", "/events?type=service-account-created")["events"][0]
    assert event["reason"] == "for the shop"


def test_the_secret_of_a_first_token_is_shown_only_once(app, browser, api, caplog):
    caplog.set_level(logging.DEBUG)
    typed = {"name": "Deploy", "username": "deploy", "root_role": EDITOR, "token": "pipeline"}
    made = browser.submit(browser.get(f"{HOME}/new"), typed)
    secret = secret_of(made)
    assert made.path == f"{HOME}/new"
    assert made.text.count(secret) == 1
    assert made.answer.headers["Cache-Control"] == "no-store"
    assert "Location" not in made.answer.headers
    assert ApiClient(app, secret).ok("GET", "/user")["user"]["username"] == "deploy"
    for path in (HOME, made.links["Done"], f"{HOME}/new"):
        assert secret not in browser.get(path).text
    with browser.client.session_transaction() as session:
        assert secret not in str(dict(session))
    assert secret not in str(api.ok("GET", "/events"))
    assert secret not in caplog.text
    assert secret not in everything(app)


def test_a_first_token_expires_in_90_days(app, browser, people):
    with time_machine.travel(START, tick=False):
        boss = Browser(app).sign_in("boss")
        made = boss.post(f"{HOME}/new", {"name": "X", "root_role": VIEWER, "token": "first"})
        assert made.has("Expires 30 Aug 2026, 12:00 UTC")


def test_a_refused_account_creates_nothing_and_keeps_what_was_typed(browser, api, robot):
    typed = {"name": "Twice", "username": "ROBOT", "root_role": EDITOR, "token": "first"}
    page = browser.post(f"{HOME}/new", typed)
    assert page.status == 400
    assert page.errors == ["User name: The username 'ROBOT' is taken. Choose another."]
    assert page.fields().items() >= typed.items()
    too_long = browser.post(f"{HOME}/new", typed | {"username": "other", "token": "x" * 256})
    assert too_long.status == 400
    assert api.ok("GET", "/service-account")["total"] == 1


def test_the_form_and_the_api_refuse_a_new_account_in_the_same_words(browser, api, robot, subtests):
    for typed, body in (
        ({"root_role": "4"}, {"rootRole": 4}),
        ({"root_role": "x"}, {"rootRole": "x"}),
        ({"name": "a\tb"}, {"name": "a\tb"}),
        ({"name": "x" * 256}, {"name": "x" * 256}),
        ({"username": "x" * 256}, {"username": "x" * 256}),
        ({"username": "Robot"}, {"username": "Robot"}),
        ({"username": "boss"}, {"username": "boss"}),
    ):
        with subtests.test(typed=typed, body=body):
            refusal = api.post("/service-account", {"name": "A", "rootRole": 3} | body)
            page = browser.post(f"{HOME}/new", {"name": "A", "root_role": VIEWER} | typed)
            assert (refusal.status_code, page.status) in {(400, 400), (409, 400)}
            for problem in refusal.json.get("details", [refusal.json]):
                assert any(problem["message"] in error for error in page.errors), page.errors


# One service account


def test_changing_name_and_role_records_the_reason(browser, api, robot):
    changes = {"name": "Deploy", "root_role": VIEWER, "reason": "reads only"}
    page = browser.follow(browser.submit(browser.get(robot), changes))
    assert (page.h1, "Deploy saved." in page.messages) == ("Deploy", True)
    assert page.has("Viewer: can ")
    event = api.ok("GET", "/events?type=service-account-updated")["events"][0]
    assert event["reason"] == "reads only"
    assert (event["preData"]["rootRole"], event["data"]["rootRole"]) == (2, 3)


def test_a_stale_form_shows_what_the_other_admin_changed(browser, api, robot):
    page = browser.get(robot)
    api.ok("PUT", f"/service-account/{robot.rpartition('/')[2]}", {"rootRole": 1})
    late = browser.submit(page, {"name": "Deploy", "reason": "renamed"})
    assert late.status == 409
    assert late.has("Role from “Editor” to “Admin”")
    assert (late.fields()["name"], late.fields()["reason"]) == ("Deploy", "renamed")
    assert "name" not in account_of(api, robot)
    browser.follow(browser.submit(late))
    assert account_of(api, robot)["name"] == "Deploy"


def test_deleting_a_service_account_requires_typing_its_user_name(app, browser, api, people, robot):
    secret = people.token(int(robot.rpartition("/")[2]))
    review = browser.get(f"{robot}/delete")
    assert review.has("You can’t undo this. 1 token stops working immediately.")
    for typed in ("", "Robot", "other"):
        refused = browser.submit(review, {"typed": typed, "reason": "old"})
        assert refused.status == 400
        assert refused.errors == ["Type the user name, robot, to continue."]
        assert refused.fields()["reason"] == "old"
    assert works(app, secret)
    gone = browser.follow(browser.submit(review, {"typed": "robot", "reason": "old"}))
    assert (gone.path, "Service account robot deleted." in gone.messages) == (HOME, True)
    assert not works(app, secret)
    assert browser.get(robot).status == 404
    event = api.ok("GET", "/events?type=service-account-deleted")["events"][0]
    assert event["reason"] == "old"


def test_a_user_has_no_page_here(browser, people):
    id = people.person("ann")
    for path in ("", "/delete", "/tokens/new"):
        assert browser.get(f"{HOME}/{id}{path}").status == 404


# Tokens


def test_the_secret_of_a_token_is_shown_only_once(app, browser, api, robot, caplog):
    caplog.set_level(logging.DEBUG)
    made = new_token(browser, robot, reason="the new pipeline")
    secret = secret_of(made)
    assert made.text.count(secret) == 1
    assert made.answer.headers["Cache-Control"] == "no-store"
    assert works(app, secret)
    page = browser.get(robot)
    assert page.has(f"deploy fst_…{secret[-4:]}")
    assert secret not in page.text
    assert secret not in str(api.ok("GET", "/events"))
    assert secret not in caplog.text
    assert secret not in everything(app)
    event = api.ok("GET", "/events?type=token-created")["events"][0]
    assert event["reason"] == "the new pipeline"


@pytest.mark.parametrize(
    ("lasts", "date", "until"),
    [
        ("7", "", "2026-06-08T12:00:00.000Z"),
        ("90", "", "2026-08-30T12:00:00.000Z"),
        ("date", "2026-06-01", "2026-06-01T23:59:59.999Z"),
        ("date", "2027-02-28", "2027-02-28T23:59:59.999Z"),
        ("never", "", None),
    ],
)
def test_a_token_expires_as_chosen(app, people, lasts, date, until):
    with time_machine.travel(START, tick=False):
        people.person("boss", role="Admin")
        boss, api = Browser(app).sign_in("boss"), ApiClient(app, people.token(1))
        robot = f"{HOME}/{people.service_account('robot')}"
        secret_of(new_token(boss, robot, lasts=lasts, expires_at=date))
        assert tokens_of(api, robot)["deploy"]["expiresAt"] == until


def test_a_past_date_is_refused_in_the_words_of_the_api(browser, api, robot):
    path = f"/service-account/{robot.rpartition('/')[2]}/token"
    body = {"description": "deploy", "expiresAt": "2020-01-01T23:59:59.999Z"}
    [problem] = api.post(path, body).json["details"]
    page = new_token(browser, robot, lasts="date", expires_at="2020-01-01")
    assert page.status == 400
    assert page.errors == [f"Date: {problem['message']}"]
    assert page.fields()["description"] == "deploy"
    assert page.fields()["expires_at"] == "2020-01-01"


@pytest.mark.parametrize(
    ("lasts", "date", "words"),
    [
        ("date", "", "Enter a date, like 2026-11-21"),
        ("date", "soon", "Enter a date, like 2026-11-21"),
        ("90", "2030-01-01", "Choose “On a date” to use this date, or clear it"),
        ("never", "2030-01-01", "Choose “On a date” to use this date, or clear it"),
    ],
)
def test_a_date_is_required_for_its_choice_and_refused_for_others(
    browser, robot, lasts, date, words
):
    page = new_token(browser, robot, lasts=lasts, expires_at=date)
    assert page.status == 400
    assert page.errors == [f"Date: {words}"]
    assert page.fields()["expires_at"] == date
    assert browser.get(robot).has("No tokens yet")


def test_an_unknown_choice_of_expiry_is_refused(browser, api, robot):
    page = new_token(browser, robot, lasts="17")
    assert page.status == 400
    assert page.errors[0].startswith("Expires: ")
    assert tokens_of(api, robot) == {}


def test_a_taken_description_is_refused_and_keeps_what_was_typed(browser, robot):
    new_token(browser, robot)
    page = new_token(browser, robot, lasts="365", reason="again")
    assert page.status == 400
    assert "already has a token described 'deploy'" in page.errors[0]
    fields = page.fields()
    assert (fields["description"], fields["lasts"], fields["reason"]) == ("deploy", "365", "again")


@pytest.mark.parametrize("description", ["", "x" * 256, "a\tb"])
def test_the_form_and_the_api_refuse_a_description_in_the_same_words(
    browser, api, robot, description
):
    path = f"/service-account/{robot.rpartition('/')[2]}/token"
    [problem] = api.post(path, {"description": description}).json["details"]
    page = new_token(browser, robot, description=description)
    assert page.errors == [f"Description: {problem['message']}"]


@pytest.mark.parametrize(("hours", "still"), [("1", 1), ("24", 24), ("168", 168)])
def test_a_rotated_token_works_until_the_overlap_ends(app, people, hours, still):
    moment = timedelta(milliseconds=1)
    with time_machine.travel(START, tick=False) as clock:
        people.person("boss", role="Admin")
        boss = Browser(app).sign_in("boss")
        robot = f"{HOME}/{people.service_account('robot')}"
        old = secret_of(new_token(boss, robot, lasts="never"))
        page = boss.get(boss.get(robot).links["Rotate… deploy"])
        assert page.fields()["overlap_hours"] == "24"
        made = boss.submit(page, {"overlap_hours": hours, "reason": "due"})
        new = secret_of(made)
        assert old not in made.text
        assert made.answer.headers["Cache-Control"] == "no-store"
        assert (works(app, old), works(app, new)) == (True, True)
        clock.move_to(START + timedelta(hours=still) - moment)
        assert (works(app, old), works(app, new)) == (True, True)
        clock.move_to(START + timedelta(hours=still))
        assert (works(app, old), works(app, new)) == (False, True)


def test_a_token_rotated_without_overlap_stops_immediately(app, browser, robot):
    old = secret_of(new_token(browser, robot))
    page = browser.get(browser.get(robot).links["Rotate… deploy"])
    new = secret_of(browser.submit(page, {"overlap_hours": "0"}))
    assert (works(app, old), works(app, new)) == (False, True)


def test_the_form_and_the_api_refuse_an_overlap_in_the_same_words(browser, api, robot):
    secret_of(new_token(browser, robot))
    id = tokens_of(api, robot)["deploy"]["id"]
    account = robot.rpartition("/")[2]
    body = {"overlapHours": 169}
    [problem] = api.post(f"/service-account/{account}/token/{id}/rotate", body).json["details"]
    page = browser.post(f"{robot}/tokens/{id}/rotate", {"overlap_hours": "169"})
    assert page.status == 400
    assert page.errors == [f"Keep the old token working for: {problem['message']}"]


def test_a_revoked_token_stops_immediately(app, browser, api, robot):
    secret = secret_of(new_token(browser, robot))
    page = browser.get(browser.get(robot).links["Revoke… deploy"])
    assert page.has("The token will stop working immediately, for good. It was never used.")
    assert works(app, secret)
    done = browser.follow(browser.submit(page, {"reason": "leaked"}))
    assert "Token deploy revoked. It no longer works." in done.messages
    assert not works(app, secret)
    assert done.has("No tokens yet")
    assert api.ok("GET", "/events?type=token-revoked")["events"][0]["reason"] == "leaked"
    assert browser.get(page.path).status == 404


def test_a_token_is_only_found_under_its_own_account(browser, api, people, robot):
    secret_of(new_token(browser, robot))
    id = tokens_of(api, robot)["deploy"]["id"]
    other = people.service_account("other")
    for what in ("rotate", "revoke"):
        assert browser.get(f"{HOME}/{other}/tokens/{id}/{what}").status == 404
        assert browser.post(f"{HOME}/{other}/tokens/{id}/{what}").status == 404


# Check a leaked token


def check(browser: Browser, secret: str) -> Page:
    page = browser.submit(browser.get(FIND), {"secret": secret})
    assert secret.strip() not in page.text
    return page


def test_an_active_token_is_found_and_can_be_revoked(app, browser, robot, caplog):
    caplog.set_level(logging.DEBUG)
    secret = secret_of(new_token(browser, robot))
    page = check(browser, f"  {secret} ")
    assert page.has("This is “deploy” of robot It is active, and was never used.")
    assert works(app, secret)
    assert check(browser, secret).has("It is active, and was last used just now.")
    done = browser.follow(browser.submit(browser.get(page.links["Revoke…"])))
    assert done.has("Token deploy revoked")
    assert not works(app, secret)
    assert secret not in caplog.text
    assert secret not in everything(app)


@pytest.mark.parametrize(
    ("how", "words", "can_revoke"),
    [("revoked_at", "It was revoked 1 hour ago", False), ("expires_at", "It expired", True)],
)
def test_a_token_that_is_no_longer_valid_is_found(browser, robot, how, words, can_revoke):
    secret = secret_of(new_token(browser, robot))
    end_token(browser.app, secret, how)
    page = check(browser, secret)
    assert page.has(words)
    assert page.has("and is no longer valid.")
    assert ("Revoke…" in page.links) is can_revoke


def test_a_leaked_personal_token_can_be_revoked_too(app, browser, api, people):
    secret = people.token(people.person("ann"), "laptop")
    page = check(browser, secret)
    assert page.has("This is “laptop” of ann")
    review = browser.get(page.links["Revoke…"])
    assert review.has("The token will stop working immediately")
    done = browser.follow(browser.submit(review, {"reason": "found in a chat"}))
    assert (done.h1, done.messages) == ("ann", ["Token laptop revoked. It no longer works."])
    assert not works(app, secret)
    [event] = api.ok("GET", "/events?type=token-revoked")["events"]
    assert (event["createdBy"], event["reason"]) == ("boss", "found in a chat")


def test_the_token_of_a_deleted_account_is_found(browser, api, people):
    ann, robot = people.person("ann"), people.service_account("robot")
    found = people.token(ann, "laptop"), people.token(robot, "deploy")
    api.ok("DELETE", f"/user-admin/{ann}")
    api.ok("DELETE", f"/service-account/{robot}")
    for secret in found:
        page = check(browser, secret)
        assert page.has("It was revoked just now and is no longer valid.")
        assert "Revoke…" not in page.links


def test_an_unknown_token_is_reported_as_not_from_here(browser):
    for secret in (secrets.generate(secrets.TokenKind.PERSONAL), "ghp_of-another-service"):
        assert check(browser, secret).has("This token isn’t from this Flagstaff")


@pytest.mark.parametrize("secret", ["", "x" * 513])
def test_an_impossible_secret_is_refused(browser, secret):
    page = browser.post(FIND, {"secret": secret})
    assert page.status == 400
    assert not page.has("This token isn’t from this Flagstaff")


def test_a_secret_is_not_kept_with_an_expired_form(app, browser):
    secret = secrets.generate(secrets.TokenKind.PERSONAL)
    page = browser.post(FIND, {"secret": secret, "csrf_token": "of another sign-in"})
    assert page.status == 400
    assert secret not in page.text
    assert secret not in everything(app)


def test_a_secret_is_not_kept_when_the_session_has_ended(app, visitor):
    secret = secrets.generate(secrets.TokenKind.PERSONAL)
    page = visitor.post(FIND, {"secret": secret})
    assert page.status == 401
    assert secret not in page.text
    assert secret not in everything(app)


# Permissions


@pytest.mark.parametrize("role", ["Viewer", "Editor"])
def test_only_admins_see_service_accounts(app, people, robot, role):
    people.token(int(robot.rpartition("/")[2]))
    people.person("looker", role=role)
    looker = Browser(app).sign_in("looker")
    of_one = ("", "/delete", "/tokens/new", "/tokens/1/rotate", "/tokens/1/revoke")
    for path in (f"{HOME}/new", FIND, *(robot + path for path in of_one)):
        assert looker.get(path).status == 403
        assert looker.post(path).status == 403
    assert looker.get(HOME).status == 403
