"""Every list as a file: all of it, and nothing in it that a spreadsheet would run."""

import csv
import io
import json
import re
import threading

import pytest

from app.web import exports
from app.web.exports import safe_cell
from tests.support.browser import Browser
from tests.support.clients import ApiClient

pytestmark = pytest.mark.one_in(2)

LISTS = {
    "/projects": "projects",
    "/projects/default": "features",
    "/tags": "tags",
    "/environments": "environments",
    "/users": "users",
    "/users/deleted": "users",
    "/users/inactive": "inactiveUsers",
    "/service-accounts": "serviceAccounts",
    "/sdk-tokens": "tokens",
    "/webhooks": "webhooks",
    "/events": "events",
    "/applications": "applications",
}
HOSTILE = ["=1+1", "+1", "-1", "a;=1", "a; @b", "a|+1", "@SUM(A1)", "=HYPERLINK(1)", "＝1+1", "＠x"]  # noqa: RUF001


@pytest.fixture
def filled(admin: ApiClient) -> None:
    """A project, features and tags whose texts a spreadsheet might take for formulas."""
    for number, text in enumerate(HOSTILE):
        id = f"p{number}"
        admin.ok("POST", "/projects", json={"id": id, "name": text, "description": text})
        body = {"name": f"f{number}", "description": text}
        admin.ok("POST", "/projects/default/features", json=body, headers={"X-Reason": "=1"})
        tags = {"addedTags": [{"value": text}], "removedTags": []}
        body = {"features": [f"f{number}"], "tags": tags}
        admin.ok("PUT", "/projects/default/tags", json=body)
        admin.ok(
            "POST", "/user-admin", json={"username": f"{text}{number}", "name": text, "rootRole": 3}
        )
    admin.ok("POST", "/service-account", json={"name": "=1+1", "rootRole": 3})
    sdk = {"tokenName": "=1+1", "type": "client", "environment": "production"}
    admin.ok("POST", "/api-tokens", json=sdk)
    hook = {"name": "=1+1", "url": "https://hooks.example/"}
    admin.ok("POST", "/webhooks", json=hook)


def read(browser: Browser, path: str, format: str) -> str:
    answer = browser.client.get(f"{path}{'&' if '?' in path else '?'}format={format}")
    assert answer.status_code == 200
    assert "attachment" in answer.headers["Content-Disposition"]
    assert answer.headers["Cache-Control"] == "no-store"
    return answer.get_data(as_text=True)


@pytest.mark.parametrize("path", LISTS)
def test_no_cell_of_a_file_is_a_formula(browser, filled, path):
    text = read(browser, path, "csv")
    assert text.startswith("\ufeff")
    table = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
    assert {len(row) for row in table} == {len(table[0])}
    risky = [
        cell
        for row in table
        for cell in row
        for part in re.split(r"[;|\t\r\n]", cell)
        if part.lstrip(" ").startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))  # noqa: RUF001
    ]
    assert risky == []


@pytest.mark.parametrize("path", LISTS)
def test_a_file_has_all_that_the_list_has_word_for_word(browser, admin, filled, path):
    rows = json.loads(read(browser, path, "json"))
    api = {
        "/projects/default": "/projects/default/features",
        "/users": "/user-admin",
        "/users/deleted": "/user-admin?deleted=true",
        "/users/inactive": "/user-admin/inactive",
        "/service-accounts": "/service-account",
        "/sdk-tokens": "/api-tokens",
        "/applications": "/metrics/applications",
    }.get(path, path)
    listed = admin.ok("GET", f"{api}{'&' if '?' in api else '?'}limit=1000")[LISTS[path]]
    if path == "/events":
        rows = [{k: v for k, v in row.items() if k != "sentence"} for row in rows]
        repeated = {"environment", "groupId"}
        listed = [{k: v for k, v in row.items() if k not in repeated} for row in listed]
    assert rows == listed


def test_a_file_has_what_the_filter_left(browser, filled):
    rows = json.loads(read(browser, "/projects/default?text=f1", "json"))
    assert [row["name"] for row in rows] == ["f1"]
    assert json.loads(read(browser, "/projects?mode=private", "json")) == []


def test_what_a_cell_looks_like(app, subtests):
    for value, cell in (
        (None, ""),
        (0, "0"),
        ("plain", "plain"),
        ("=1", "'=1"),
        ("  =1", "'  =1"),
        (["a", "b"], "a, b"),
        ([{"a": 1}], '[{"a": 1}]'),
        (-5, "'-5"),
        ("a;=1", "a;'=1"),
        ("a\t =1", "a\t' =1"),
        ("a\n-1", "a\n'-1"),
        ("\t=1", "'\t'=1"),
        ("a;b-c", "a;b-c"),
    ):
        with subtests.test(value=value, cell=cell), app.app_context():
            assert safe_cell(value) == cell


def test_half_of_the_threads_write_downloads_at_most(app, browser, monkeypatch):
    monkeypatch.setattr(exports, "PART_LENGTH", 1)  # a file has parts, of which one is sent
    path, limit = "/users?format=csv", app.config["SETTINGS"].threads // 2
    all_begun, may_end = threading.Barrier(limit + 1), threading.Event()

    def download() -> None:
        answer = browser.client.get(path)
        all_begun.wait(10)
        may_end.wait(10)
        answer.close()  # as when the client is gone

    downloads = [threading.Thread(target=download) for _ in range(limit)]
    for one in downloads:
        one.start()
    all_begun.wait(10)
    assert browser.client.get(path).status_code == 429
    may_end.set()
    for one in downloads:
        one.join()
    assert browser.client.get(path).status_code == 200
