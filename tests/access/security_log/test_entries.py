"""What gets into the security log, and what never does."""

from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
import time_machine
from flask import Flask

from app.access.auth import attempts
from app.access.auth.models import SignIn
from app.accounts.tokens import secrets
from app.accounts.tokens.models import Token
from app.core.db import db
from tests.support.access import unwelcome
from tests.support.browser import Browser
from tests.support.people import PASSWORD, People
from tests.support.security_log import Log, facts
from tests.support.sign_in import sign_in


def everything(app: Flask) -> str:
    """All that the log has in the database."""
    with app.app_context():
        return repr(db.session.execute(sa.text("SELECT * FROM security_log")).all())


def test_a_sign_in_and_a_sign_out_are_recorded_with_who_and_from_where(log: Log, visitor, ada):
    sign_in(visitor, "ada@example.org")
    visitor.post("/sign-out")
    for kind in ("sign-in", "sign-out"):
        [entry] = log(kind)
        assert facts(entry) == ("ada", "127.0.0.1", None, 1)
        assert entry["accountId"] == ada


def test_a_failed_sign_in_names_the_account_if_there_is_one(log: Log, visitor, ada):
    sign_in(visitor, " Ada@Example.org ", "wrong")
    [entry] = log("sign-in-failed")
    assert (entry["accountId"], entry["name"]) == (ada, "ada")


def test_what_was_typed_as_a_name_is_never_stored(app, log: Log, visitor, ada):
    sign_in(visitor, PASSWORD, "ada")
    [entry] = log("sign-in-failed")
    assert (entry["accountId"], entry["name"], entry["detail"]) == (None, None, None)
    assert PASSWORD not in everything(app)


def test_attempts_that_come_too_early_are_recorded(log: Log, visitor, ada):
    for _ in range(6):
        sign_in(visitor, "ada", "wrong")
    assert facts(log("sign-in-failed")[0]) == (None, "127.0.0.1", "too many attempts", 1)


def test_ending_other_sessions_is_recorded(log: Log, visitor, ada):
    sign_in(visitor, "ada")
    visitor.post("/account/sessions")
    assert facts(log("other-sessions-ended")[0]) == ("ada", "127.0.0.1", None, 1)


def test_a_refused_caller_is_recorded_with_what_they_asked_for(app, log: Log, people: People):
    people.client("looker").post("/projects", {"id": "x", "name": "x"})
    [entry] = log("access-refused")
    assert facts(entry) == ("looker", "127.0.0.1", "POST /api/admin/projects", 1)
    assert isinstance(entry["tokenId"], int)
    Browser(app).sign_in("looker").get("/users")
    assert facts(log("access-refused")[0]) == ("looker", "127.0.0.1", "GET /users", 1)


def test_a_refused_token_is_recorded_with_why_and_whose_it_was(app, log: Log, people):
    clients = unwelcome(app, people)
    for _ in range(2):  # the first time that an expired token is used, this is stored
        for client in clients.values():
            assert client.get("/user").status_code == 401
    found = [(e["name"], e["detail"], e["tokenId"] is not None) for e in log("token-refused")]
    one = [("ended", "revoked", True), ("ended", "expired", True), (None, "unknown", False)]
    assert found == [*one, *one]


def test_nothing_of_a_refused_token_is_stored(app, log: Log, stranger):
    stranger.token = secrets.generate(secrets.TokenKind.PERSONAL)
    stranger.get("/user")
    assert len(log("token-refused")) == 1
    assert stranger.token[8:20] not in everything(app)


def test_a_request_with_nothing_like_a_token_is_not_recorded(log: Log, stranger):
    stranger.get("/user")
    stranger.token = "no token of this form"
    stranger.get("/user")
    assert log() == []


@pytest.mark.parametrize("format", ["csv", "json"])
def test_an_export_is_recorded_with_its_file_and_its_rows(log: Log, browser, people, format):
    number = len(browser.get("/users?format=json").answer.json)
    assert browser.get(f"/users?format={format}").status == 200
    detail = f"users.{format}, {number} rows"
    assert facts(log("list-exported")[0]) == ("boss", "127.0.0.1", detail, 1)


def test_looking_up_a_leaked_token_is_recorded_without_its_secret(app, log: Log, people, browser):
    secret = people.token(people.person("ada"))
    for typed in (secret, "something else"):
        browser.post("/service-accounts/find-token", {"secret": typed})
    with app.app_context():
        id = db.session.scalars(sa.select(Token.id).order_by(Token.id.desc())).first()
    details = [entry["detail"] for entry in log("token-looked-up")]
    assert details == ["unknown", f"token {id} of ada"]
    assert "something" not in everything(app)


def test_an_entry_outlives_its_account(log: Log, admin, viewer):
    viewer.get("/events")
    [before] = log()
    admin.ok("DELETE", f"/user-admin/{before['accountId']}")
    assert log() == [before]
    assert before["name"] == "viewer"


def test_a_refusal_is_no_event(log: Log, viewer, admin):
    before = admin.ok("GET", "/events")["total"]
    viewer.get("/events")
    assert len(log("access-refused")) == 1
    assert admin.ok("GET", "/events")["total"] == before


def test_old_attempts_to_sign_in_are_deleted(app: Flask, visitor, ada):
    for year in (2025, 2026):
        with time_machine.travel(datetime(year, 1, 1, tzinfo=UTC), tick=False):
            sign_in(visitor, "ada")
    with app.app_context(), time_machine.travel(datetime(2026, 6, 1, tzinfo=UTC), tick=False):
        attempts.prune()
        assert [at.year for at in db.session.scalars(sa.select(SignIn.at))] == [2026]
