"""The security log in a browser without a script."""

import pytest

from app.access.security_log import service
from app.access.security_log.models import SecurityKind
from app.access.security_log.service import LogEntry
from app.access.security_log.words import WORDS
from app.core.db import unit_of_work
from tests.support.browser import Browser, Page, text_of
from tests.support.sign_in import sign_in


def rows(page: Page) -> list[list[str]]:
    """What, who, from where and details of each entry, newest first."""
    found = page.select("tbody tr")
    return [[text_of(cell) for cell in row.css("td")] for row in found]


@pytest.fixture
def flood(app) -> None:
    with app.app_context(), unit_of_work(writes=True):
        for _ in range(21):
            service.record(LogEntry(SecurityKind.TOKEN_REFUSED, "192.0.2.7", detail="unknown"))


def test_it_shows_what_happened_to_whom_and_from_where(app, browser, ada):
    sign_in(Browser(app), "ada", "wrong")
    sign_in(Browser(app), "not an account", "wrong")
    assert rows(browser.get("/security-log")) == [
        ["Sign-in failed", "", "127.0.0.1", ""],
        ["Sign-in failed", "ada", "127.0.0.1", ""],
    ]


def test_a_flood_is_a_row_that_says_how_often(browser, flood):
    found = rows(browser.get("/security-log"))
    assert len(found) == 10
    assert found[0] == ["Token refused 12 times", "", "192.0.2.7", "unknown"]


def test_account_and_address_lead_to_all_their_entries(app, browser, ada, flood):
    sign_in(Browser(app), "ada")
    page = browser.get("/security-log")
    by_account = browser.get("/security-log" + page.links["ada"])
    assert rows(by_account) == [["Sign-in", "ada", "127.0.0.1", ""]]
    assert by_account.has("Account: ada")
    assert len(rows(browser.get("/security-log" + page.links["192.0.2.7"]))) == 10


def test_older_entries_come_page_by_page(app, browser, people):
    with app.app_context(), unit_of_work(writes=True):
        for number in range(60):
            service.record(LogEntry(SecurityKind.SIGN_IN, "192.0.2.7", number, f"user {number}"))
    newest = browser.get("/security-log")
    older = browser.get("/security-log" + newest.links["Older"])
    found = [row[1] for row in rows(newest) + rows(older)]
    assert len(found) == 60
    assert found[0] == "user 59"
    assert found[-1] == "user 0"


def test_the_whole_result_is_a_file(browser, flood):
    page = browser.get("/security-log?kind=token-refused")
    file = browser.get("/security-log" + page.links["JSON"]).answer.json
    assert len(file) == 10
    assert file[0]["times"] == 12
    assert "token-refused" in browser.get("/security-log" + page.links["CSV"]).text


def test_it_is_for_admins_alone(app, people):
    people.person("editor", role="Editor")
    editor = Browser(app).sign_in("editor")
    assert editor.get("/security-log").status == 403
    assert "Security log" not in editor.get("/projects").links


def test_a_filter_that_finds_nothing_says_so(browser):
    assert browser.get("/security-log?ip=192.0.2.99").has("No entry matches")


def test_every_kind_has_words_and_help(visitor):
    page = visitor.get("/help/events")
    assert [kind for kind in SecurityKind if not page.has(WORDS[kind].description)] == []
