"""The headers of every answer, whatever its status, and how little a failure tells."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import gettempdir

import pytest
import sqlalchemy as sa
from flask import Flask
from werkzeug.test import TestResponse

from app.accounts import passwords
from app.core.config import from_environment
from app.core.db import db
from app.factory import create_app
from tests.support.browser import Browser
from tests.support.clients import ApiClient
from tests.support.headers import ALWAYS
from tests.support.people import PASSWORD

LARGE = "x" * 2_200_000
INSIDES = re.compile(
    rf"Traceback|File \"|line \d+, in|site-packages|/tmp/|{re.escape(gettempdir())}|sqlite|psycopg|"
    r"sqlalchemy|werkzeug|waitress|Python/|\b(SELECT|INSERT|UPDATE|FROM) |away_for_a_test|feedback|"
    r"sign_ins",
)
NOWHERE = {
    "sqlite": "sqlite:////dev/null/flagstaff.db",
    "postgresql": "postgresql://postgres@127.0.0.1:1/x",
}


@contextmanager
def without(app: Flask, table: str) -> Iterator[None]:
    """Let the table not be there, which nothing is prepared for."""
    away = f"{table}_away_for_a_test"  # a name of its own: SQLite's connections remember names
    rename(app, table, away)
    try:
        yield
    finally:
        rename(app, away, table)


def rename(app: Flask, table: str, other: str) -> None:
    with app.app_context(), db.engine.begin() as connection:
        connection.execute(sa.text(f"ALTER TABLE {table} RENAME TO {other}"))


@pytest.fixture
def broken(app: Flask, tmp_path) -> Flask:
    """The same application, whose database is not to be reached."""
    with app.app_context():
        url = NOWHERE[db.engine.dialect.name]
    home = tmp_path / "home"
    found = {"FLAGSTAFF_HOME": str(home), "FLAGSTAFF_DATABASE_URL": url}
    return create_app(from_environment(found))


@contextmanager
def both_turns() -> Iterator[None]:
    """Let two passwords be worked on already."""
    with passwords.hashing_slot(), passwords.hashing_slot():
        yield


@pytest.fixture
def answers(app, broken, people, ada, caplog) -> dict[str, TestResponse]:
    """One answer of each kind: of the API, of a page, of a file."""
    caplog.set_level(logging.INFO, "flagstaff.access")
    admin, stranger = ApiClient(app, people.token(ada)), ApiClient(app, None)
    admin.ok("POST", "/projects/default/features", {"name": "one"})
    old = {"oldPassword": PASSWORD, "newPassword": PASSWORD}
    large, text = {"Content-Type": "application/json"}, {"Content-Type": "text/plain"}
    project = {"id": "new", "name": "New"}
    inside, outside = Browser(app).sign_in("ada"), Browser(app)
    given = {"name": "ada", "password": PASSWORD}
    found = {
        "200 API": admin.get("/user"),
        "201 API": admin.post("/projects", project),
        "202 API": admin.post("/projects/default/archive", {"features": ["one"]}),
        "400 API": admin.post("/projects", {}),
        "401 API": stranger.get("/user"),
        "403 API": people.client("viewer").post("/projects", project),
        "404 API": admin.get("/projects/nowhere"),
        "404 API, no such address": admin.get("/nowhere"),
        "405 API": admin.delete("/user"),
        "409 API": admin.post("/projects", project),
        "412 API": admin.put("/projects/new", project, headers={"If-Match": '"x"'}),
        "413 API": admin.request("POST", "/projects", data=LARGE, headers=large),
        "415 API": admin.request("POST", "/projects", data="{}", headers=text),
        "503 API": ApiClient(broken, "x" * 40).get("/user"),
        "200 page": inside.get("/projects").answer,
        "303 page": outside.get("/projects").answer,
        "400 page": inside.post("/new-project", csrf=False).answer,
        "401 page": outside.post("/new-project").answer,
        "403 page": Browser(app).sign_in("viewer").get("/new-project").answer,
        "404 page": inside.get("/nowhere").answer,
        "405 page": inside.post("/projects").answer,
        "409 page": inside.post("/projects/new/settings/revive").answer,
        "413 page": inside.post("/new-project", {"name": LARGE}).answer,
        "503 page": Browser(broken).get("/set-up/x").answer,
        "200 file": inside.client.get("/static/css/base.css", buffered=True),
        "304 file": inside.client.get(
            "/static/css/base.css", headers=unchanged(inside), buffered=True
        ),
        "404 file": inside.client.get("/static/nothing.css"),
        "200 document": stranger.get("/api/openapi.json"),
        "503 health": broken.test_client().get("/ready"),
    }
    with both_turns():
        found["429 API"] = admin.post("/user/change-password", old)
        found["429 page"] = outside.post("/sign-in", given).answer
    with without(app, "feedback"):
        found["500 API"] = admin.get("/user")
    with without(app, "sign_ins"):
        found["500 page"] = inside.get("/account/security").answer
    assert {name: answer.status_code for name, answer in found.items()} == {
        name: int(name[:3]) for name in found
    }
    return found


def unchanged(browser: Browser) -> dict[str, str]:
    return {
        "If-None-Match": browser.client.get("/static/css/base.css", buffered=True).headers["ETag"]
    }


@pytest.mark.slow
def test_every_answer_has_every_header_and_none_tells_what_is_inside(answers, caplog):
    records = caplog.get_records("setup")
    for name, answer in answers.items():
        check_headers(name, answer)
        if answer.status_code >= 400 and "health" not in name:
            check_words(name, answer)
        id = answer.headers["X-Request-Id"]
        [line] = [record for record in records if id in record.getMessage()]
        assert f" {name[:3]} in " in line.getMessage(), name
        assert line.levelname == ("ERROR" if "cause" in line.facts else "INFO"), name
        assert bool(line.exc_info) == name.startswith("500"), name


def check_headers(name: str, answer: TestResponse) -> None:
    for header, value in ALWAYS.items():
        assert answer.headers.getlist(header) == [value], f"{name}: {header}"
    assert "Server" not in answer.headers, name
    assert "Strict-Transport-Security" not in answer.headers, name
    assert answer.headers["X-Request-Id"], name
    kind = answer.headers.get("Content-Type", "")
    assert not kind.startswith("text/") or "charset=utf-8" in kind, f"{name}: {kind}"
    if "file" not in name:
        assert answer.headers["Cache-Control"] == "no-store", name
    if answer.status_code in {429, 503}:
        assert int(answer.headers["Retry-After"]) > 0, name


def check_words(name: str, answer: TestResponse) -> None:
    is_told = "API" in name or answer.status_code >= 500
    assert not is_told or answer.headers["X-Request-Id"] in answer.text, name
    assert not INSIDES.findall(f"{answer.text} {answer.headers}"), name


@pytest.mark.parametrize("path", ["/sign-in", "/api/admin/user", "/static/css/base.css", "/health"])
def test_over_https_browsers_get_hsts(tmp_path, path):
    environ = {"FLAGSTAFF_HOME": str(tmp_path), "FLAGSTAFF_BASE_URL": "https://flags.example.org"}
    answer = create_app(from_environment(environ)).test_client().get(path, buffered=True)
    assert answer.headers.getlist("Strict-Transport-Security") == ["max-age=31536000"]
    assert [answer.headers.getlist(header) for header in ALWAYS] == [[v] for v in ALWAYS.values()]
