"""Every route and method, with every kind of caller: access is as one table says."""

import re

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.core.permissions import Permission, refusal
from tests.support.access import (
    NEEDS,
    OF_WEB,
    PAGES,
    PAGES_NEED,
    PROJECT,
    PUBLIC,
    TOKEN,
    bystander,
    call,
    path_of,
    told,
    visit,
)
from tests.support.browser import Browser, Page


def routes(app: Flask) -> set[tuple[str, str]]:
    return {
        (method, rule.rule)
        for rule in app.url_map.iter_rules()
        # SCIM has tokens of its own: tests/access/scim. An alias redirects.
        if not (rule.rule.startswith("/scim/") or rule.alias)
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }


def test_the_table_has_every_route(app):
    table = NEEDS | PAGES_NEED
    missing = sorted(routes(app) - table.keys())
    assert not missing, "NEEDS lacks\n" + "\n".join(map(str, missing))
    gone = sorted(table.keys() - routes(app))
    assert not gone, "the application lacks\n" + "\n".join(map(str, gone))


def test_every_path_tried_matches_its_route(app):
    router = app.url_map.bind("localhost")
    for method, rule in NEEDS | PAGES_NEED:
        found, _ = router.match(path_of(rule), method, return_rule=True)
        assert found.rule == rule


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("quarter", range(4))
def test_every_caller_has_the_access_of_the_table(app, people, callers, quarter):
    wrong = []
    for (method, rule), needs in sorted(NEEDS.items(), key=_removals_last)[quarter::4]:
        path = path_of(rule, **bystander(people, f"{method} {rule}"))
        for name, caller in callers.items():
            answer = call(caller.client, method, path)
            allowed = caller.may(needs, "web" if rule.startswith(OF_WEB) else None)
            if not as_expected(answer, needs, allowed=allowed, known=caller.role is not None):
                wrong.append(f"{name}: {method} {path} -> {answer.status} (needs {needs})")
    assert wrong == []


def _removals_last(item: tuple[tuple[str, str], str]) -> tuple[bool, str, str]:
    """So that what the other paths name is still there, whatever quarter each is in."""
    (method, rule), _ = item
    return method == "DELETE", method, rule


def as_expected(answer: TestResponse, needs: str, *, allowed: bool, known: bool) -> bool:
    if allowed:
        return answer.status_code < 500 and answer.status_code not in {401, 403, 405}
    if not known:
        return answer.status_code == 401 and answer.json["name"] == "AuthenticationRequired"
    permission = needs.partition(",")[0]
    return answer.status_code == 403 and f"the permission {permission}" in answer.json["message"]


def test_head_requests_need_the_same_permission(app, callers):
    for (method, rule), needs in NEEDS.items():
        if method == "GET":
            answer = call(callers["none"].client, "HEAD", path_of(rule))
            is_absent = "secret" in rule or rule == "/.well-known/security.txt"
            assert answer.status_code not in {404, 405} or is_absent, rule
            assert (answer.status_code == 401) is (needs != PUBLIC), rule


OUTSIDERS = ("person Viewer", "person Editor", "service account Editor", "Owner of other", "none")


@pytest.mark.slow
def test_a_private_project_answers_like_an_unknown_one_everywhere(callers):
    in_project = sorted((method, rule) for method, rule in NEEDS if rule.startswith(PROJECT))
    asked = [
        (callers[name].client, method, path_of(rule).replace("/web", "/hidden"))
        for name in OUTSIDERS
        for method, rule in in_project
    ]
    unknown = [told(call(*question)) for question in asked]
    admin = callers["person Admin"].client
    admin.ok("POST", "/projects", {"id": "hidden", "name": "Hidden", "mode": "private"})
    admin.ok("POST", "/projects/hidden/features", {"name": "something"})
    needs = [NEEDS[route] for _ in OUTSIDERS for route in in_project]
    for question, before, needed in zip(asked, unknown, needs, strict=True):
        assert told(call(*question)) == before, question[1:]
        # A body is read first where it takes only a token to ask.
        assert before[0] in {401, 403, 404} | ({400} if needed == TOKEN else set()), question[1:]


@pytest.mark.slow
@pytest.mark.one_in(4)
@pytest.mark.parametrize("quarter", range(4))
def test_every_visitor_has_the_access_of_the_table(people, visitors, quarter):
    wrong = []
    for (method, rule), needs in sorted(PAGES_NEED.items())[quarter::4]:
        if rule in {"/sign-out", "/maintenance"}:
            continue  # it would end the visit, or all changes
        # What is done to a bystander ends no visit.
        path = path_of(rule, **bystander(people, f"{method} {rule}"))
        for name, visitor in visitors.items():
            page = visit(visitor.client, method, path)
            allowed = visitor.may(needs, "web" if rule.startswith(PAGES) else None)
            if not as_shown(page, needs, allowed=allowed, known=visitor.role is not None):
                wrong.append(f"{name}: {method} {path} -> {page.status} (needs {needs})")
    assert wrong == []


def as_shown(page: Page, needs: str, *, allowed: bool, known: bool) -> bool:
    asks_to_sign_in = page.status == 401 or (page.status == 303 and "/sign-in" in page.location)
    if allowed:
        return page.status < 500 and page.status not in {401, 403, 405} and not asks_to_sign_in
    if not known:
        return asks_to_sign_in
    words = refusal(Permission(needs.partition(",")[0]), None).partition(".")[0]
    return page.status == 403 and words in page.words


def test_a_token_opens_no_page_and_a_session_no_api(app, people, callers):
    token = callers["person Admin"].client
    for path in ("/projects", "/tags"):
        answer = token.get(f"http://localhost{path}")
        assert (answer.status_code, "/sign-in" in answer.headers["Location"]) == (303, True)
    browser = Browser(app).sign_in("person-Admin")
    assert browser.get("/projects").status == 200
    answer = browser.client.get("/api/admin/user")
    assert (answer.status_code, answer.json["name"]) == (401, "AuthenticationRequired")


PEEPERS = ("person Viewer", "person Editor", "Owner of other", "visitor")


@pytest.mark.one_in(2)
@pytest.mark.slow
def test_pages_of_a_private_project_look_like_those_of_an_unknown_one(callers, visitors):
    asked = [
        (visitors[name].client, method, path_of(rule).replace("/web", "/hidden"))
        for name in PEEPERS
        for method, rule in sorted(PAGES_NEED)
        if rule.startswith(PAGES)
    ]
    unknown = [shown(visit(*question)) for question in asked]
    admin = callers["person Admin"].client
    admin.ok("POST", "/projects", {"id": "hidden", "name": "Hidden", "mode": "private"})
    admin.ok("POST", "/projects/hidden/features", {"name": "something"})
    for question, before in zip(asked, unknown, strict=True):
        assert shown(visit(*question)) == before, question[1:]
        assert before[0] in {303, 401, 403, 404}, question[1:]


def shown(page: Page) -> tuple[int, str]:
    """All that a page tells: what differs from request to request is left out."""
    text = re.sub(r'[0-9a-f-]{36}|value="[^"]{50,}"|printed by .*', "", page.text)
    return page.status, text
