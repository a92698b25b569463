"""Everyone chooses which columns of lists and parts of their home page they see."""

import pytest

from tests.support.browser import Browser, text_of
from tests.support.clients import error_of

DISPLAY = "/user/display"
FIRST = {"projects": "Mode", "features": "Type", "project-features": "Type", "users": "User name"}
"""The first column that can be hidden, by page."""


def heads(page):
    return [text_of(th) for th in page.select("main thead th:not(.table__pick)")]


def shown(page):
    return [box.attributes["value"] for box in page.select('[name="show"][checked]')]


@pytest.mark.parametrize(
    ("page", "path"),
    [
        ("projects", "/projects"),
        ("features", "/features"),
        ("project-features", "/projects/default"),
        ("users", "/users"),
    ],
)
def test_a_hidden_column_is_gone_for_its_reader_alone_until_they_show_it_again(
    admin, browser, page, path
):
    admin.ok("POST", "/projects/default/features", {"name": "card"})
    before = heads(browser.get(path))
    [link] = [a for a in browser.get(path).select("main a") if text_of(a) == "Columns…"]
    form = browser.get(link.attributes["href"])
    parts = admin.ok("GET", f"{DISPLAY}/{page}")["parts"]
    assert shown(form) == parts
    back = browser.follow(browser.submit(form, {"show": parts[1:]}))
    assert back.path == path
    assert back.messages == ["Saved what you see here."]
    assert heads(back) == [head for head in before if head != FIRST[page]]
    assert len(heads(back)) == len(before) - 1
    assert heads(Browser(browser.app).sign_in("admin").get(path)) == before
    form = browser.get(link.attributes["href"])
    assert heads(browser.follow(browser.submit(form, {"show": parts}))) == before


@pytest.mark.parametrize("page", ["home", *FIRST])
def test_all_parts_can_be_hidden_at_once(admin, browser, app, page):
    admin.ok("POST", "/projects/default/features", {"name": "card"})
    browser.submit(browser.get(f"/display/{page}"), {"show": []})
    for path in ("/", "/projects", "/features", "/projects/default", "/users"):
        assert browser.get(path).status == 200
    assert shown(browser.get(f"/display/{page}")) == []


def test_home_leaves_out_what_someone_hides_and_says_how_much(people, admin, browser):
    people.person("grace", away_days=400)
    admin.ok("POST", "/projects/default/features", {"name": "card"})
    before = browser.get("/")
    assert "1 user has been inactive" in before.words
    assert "Latest changes" in before.words
    parts = [
        part
        for part in admin.ok("GET", f"{DISPLAY}/home")["parts"]
        if part not in {"inactive", "latest"}
    ]
    page = browser.follow(browser.submit(browser.get("/display/home?back=/"), {"show": parts}))
    assert "been inactive" not in page.words
    assert "Latest changes" not in page.words
    assert "Choose what shows here (2 hidden)" in page.words


def test_the_api_does_the_same_and_names_what_can_be_hidden(admin):
    admin.ok("PUT", f"{DISPLAY}/projects", {"hidden": ["owners", "mode"]})
    found = admin.ok("GET", f"{DISPLAY}/projects")
    assert found["hidden"] == ["mode", "owners"]
    parts = ["mode", "features", "onInProduction", "members", "owners", "changed"]
    assert found["parts"] == parts
    everything = admin.ok("GET", DISPLAY)["pages"]
    assert {one["page"] for one in everything} == {"home", *FIRST}
    admin.ok("PUT", f"{DISPLAY}/projects", {"hidden": []})
    assert admin.ok("GET", f"{DISPLAY}/projects")["hidden"] == []


def test_what_can_not_be_hidden_is_refused_with_what_can(admin):
    answer = admin.put(f"{DISPLAY}/projects", {"hidden": ["name", "mode"]})
    assert error_of(answer) == (400, "ValidationError")
    [problem] = answer.json["details"]
    assert problem["path"] == "/hidden"
    assert "Choose from: mode, features, onInProduction, members, owners and" in problem["message"]
    assert error_of(admin.put(f"{DISPLAY}/moon", {"hidden": []})) == (404, "NotFoundError")
