"""Every route and method against every kind of caller, from one table written by hand."""

import re
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask
from werkzeug.test import TestResponse

from app.core.db import db, unit_of_work, utcnow
from app.tokens import secrets
from app.tokens.models import Token
from tests.browser import Browser, Page
from tests.clients import ApiClient
from tests.people import People

PUBLIC, TOKEN, SESSION = "everybody", "whoever has a token", "whoever is signed in"
PROJECT = "/api/admin/projects/<key:project_id>"
PAGES = "/projects/<key:project_id>"
PARENTS = PROJECT + "/features/<key:name>/dependencies"
PERSON = "/users/<id:account_id>"
MACHINE = "/service-accounts/<id:account_id>"
ROBOTS = "/api/admin/service-account"

NEEDS = {
    ("GET", "/health"): PUBLIC,
    ("GET", "/ready"): PUBLIC,
    ("GET", "/static/<path:filename>"): PUBLIC,
    ("GET", "/avatars/<string(maxlength=2):initials>.svg"): PUBLIC,
    ("GET", "/api/"): PUBLIC,
    ("GET", "/api/openapi.json"): PUBLIC,
    ("GET", "/metrics"): PUBLIC,  # from this machine; others: tests/core/test_metrics.py
    ("POST", "/arrival"): PUBLIC,  # with a proof of its own, as there
    ("GET", "/api/admin/user"): TOKEN,
    ("GET", "/api/admin/user/tokens"): TOKEN,
    ("POST", "/api/admin/user/tokens"): TOKEN,
    ("DELETE", "/api/admin/user/tokens/<id:token_id>"): TOKEN,
    ("POST", "/api/admin/user/change-password"): TOKEN,
    ("POST", "/api/admin/feedback"): TOKEN,
    ("PUT", "/api/admin/feedback/<key:feedback_id>"): TOKEN,
    ("POST", "/api/admin/splash/<key:splash_id>"): TOKEN,
    ("GET", ROBOTS): "ADMIN",
    ("POST", ROBOTS): "ADMIN",
    ("GET", ROBOTS + "/<id:account_id>"): "ADMIN",
    ("PUT", ROBOTS + "/<id:account_id>"): "ADMIN",
    ("DELETE", ROBOTS + "/<id:account_id>"): "ADMIN",
    ("GET", ROBOTS + "/<id:account_id>/token"): "ADMIN",
    ("POST", ROBOTS + "/<id:account_id>/token"): "ADMIN",
    ("DELETE", ROBOTS + "/<id:account_id>/token/<id:token_id>"): "ADMIN",
    ("POST", ROBOTS + "/<id:account_id>/token/<id:token_id>/rotate"): "ADMIN",
    ("GET", "/api/admin/user-admin"): "ADMIN",
    ("POST", "/api/admin/user-admin"): "ADMIN",
    ("GET", "/api/admin/user-admin/<id:account_id>"): "ADMIN",
    ("PUT", "/api/admin/user-admin/<id:account_id>"): "ADMIN",
    ("DELETE", "/api/admin/user-admin/<id:account_id>"): "ADMIN",
    ("POST", "/api/admin/user-admin/<id:account_id>/restore"): "ADMIN",
    ("GET", "/api/admin/user-admin/inactive"): "ADMIN",
    ("POST", "/api/admin/user-admin/inactive/delete"): "ADMIN",
    ("GET", "/api/admin/projects"): TOKEN,
    ("POST", "/api/admin/projects"): "CREATE_PROJECT",
    ("GET", PROJECT): TOKEN,
    ("PUT", PROJECT): "UPDATE_PROJECT",
    ("DELETE", PROJECT): "DELETE_PROJECT",
    ("POST", PROJECT + "/revive"): "DELETE_PROJECT",
    ("GET", PROJECT + "/access"): TOKEN,
    ("PUT", PROJECT + "/access"): "PROJECT_USER_ACCESS_WRITE",
    ("PUT", PROJECT + "/environments"): "UPDATE_PROJECT",
    ("GET", PROJECT + "/features"): TOKEN,
    ("POST", PROJECT + "/features"): "CREATE_FEATURE",
    ("GET", PROJECT + "/features/<key:name>"): TOKEN,
    ("PUT", PROJECT + "/features/<key:name>"): "UPDATE_FEATURE",
    ("POST", PARENTS): "UPDATE_FEATURE_DEPENDENCY",
    ("DELETE", PARENTS): "UPDATE_FEATURE_DEPENDENCY",
    ("DELETE", PARENTS + "/<key:parent>"): "UPDATE_FEATURE_DEPENDENCY",
    ("PUT", PROJECT + "/tags"): "UPDATE_FEATURE",
    ("POST", PROJECT + "/archive/validate"): "DELETE_FEATURE",
    ("POST", PROJECT + "/archive/plan"): "DELETE_FEATURE",
    ("POST", PROJECT + "/archive"): "DELETE_FEATURE",
    ("POST", PROJECT + "/revive-features"): "DELETE_FEATURE",
    ("GET", "/api/admin/tags"): TOKEN,
    ("GET", "/api/admin/tag-types"): TOKEN,
    ("POST", "/api/admin/tag-types"): "CREATE_TAG_TYPE",
    ("PUT", "/api/admin/tag-types/<key:name>"): "UPDATE_TAG_TYPE",
    ("DELETE", "/api/admin/tag-types/<key:name>"): "DELETE_TAG_TYPE",
    ("GET", "/api/admin/environments"): TOKEN,
    ("POST", "/api/admin/environments"): "ADMIN",
    ("PUT", "/api/admin/environments/<key:name>"): "ADMIN",
    ("GET", "/api/admin/events"): "READ_LOGS",
}

PAGES_NEED = {
    ("GET", "/"): SESSION,
    ("GET", "/help"): PUBLIC,
    ("GET", "/help/<topic>"): PUBLIC,
    ("GET", "/sign-in"): PUBLIC,
    ("POST", "/sign-in"): PUBLIC,
    ("POST", "/sign-in/code"): PUBLIC,
    ("POST", "/sign-out"): SESSION,
    ("GET", "/first-admin/<secret>"): PUBLIC,
    ("POST", "/first-admin/<secret>"): PUBLIC,
    ("GET", "/projects"): SESSION,
    ("GET", "/projects/new"): "CREATE_PROJECT",
    ("POST", "/projects/new"): "CREATE_PROJECT",
    ("GET", PAGES): SESSION,
    ("GET", PAGES + "/settings"): SESSION,
    ("POST", PAGES + "/settings"): "UPDATE_PROJECT",
    ("POST", PAGES + "/put-away"): "DELETE_PROJECT",
    ("POST", PAGES + "/bring-back"): "DELETE_PROJECT",
    ("GET", PAGES + "/members"): SESSION,
    ("POST", PAGES + "/members"): "PROJECT_USER_ACCESS_WRITE",
    ("GET", PAGES + "/features/new"): "CREATE_FEATURE",
    ("POST", PAGES + "/features/new"): "CREATE_FEATURE",
    ("GET", PAGES + "/features/<key:name>"): SESSION,
    ("POST", PAGES + "/features/<key:name>"): "UPDATE_FEATURE",
    ("GET", PAGES + "/paste"): "UPDATE_FEATURE",
    ("POST", PAGES + "/selection"): "UPDATE_FEATURE",
    ("GET", PAGES + "/tags"): "UPDATE_FEATURE",
    ("POST", PAGES + "/tags"): "UPDATE_FEATURE",
    ("GET", PAGES + "/tags/review"): "UPDATE_FEATURE",
    ("POST", PAGES + "/tags/review"): "UPDATE_FEATURE",
    ("GET", PAGES + "/tags/done"): "UPDATE_FEATURE",
    ("GET", PAGES + "/tags/take-back"): "UPDATE_FEATURE",
    ("POST", PAGES + "/tags/take-back"): "UPDATE_FEATURE",
    ("GET", PAGES + "/archive"): "DELETE_FEATURE",
    ("POST", PAGES + "/archive"): "DELETE_FEATURE",
    ("GET", PAGES + "/archived"): "DELETE_FEATURE",
    ("POST", PAGES + "/untie"): "UPDATE_FEATURE_DEPENDENCY",
    ("POST", PAGES + "/revive"): "DELETE_FEATURE",
    ("GET", "/tags"): SESSION,
    ("GET", "/tags/types/new"): "CREATE_TAG_TYPE",
    ("POST", "/tags/types/new"): "CREATE_TAG_TYPE",
    ("GET", "/tags/types/<key:name>"): SESSION,
    ("POST", "/tags/types/<key:name>"): "UPDATE_TAG_TYPE",
    ("GET", "/tags/types/<key:name>/delete"): "DELETE_TAG_TYPE",
    ("POST", "/tags/types/<key:name>/delete"): "DELETE_TAG_TYPE",
    ("GET", "/environments"): SESSION,
    ("GET", "/environments/new"): "ADMIN",
    ("POST", "/environments/new"): "ADMIN",
    ("GET", "/environments/<key:name>"): SESSION,
    ("POST", "/environments/<key:name>"): "ADMIN",
    ("GET", "/users"): "ADMIN",
    ("GET", "/users/new"): "ADMIN",
    ("POST", "/users/new"): "ADMIN",
    ("GET", "/users/deleted"): "ADMIN",
    ("GET", "/users/inactive"): "ADMIN",
    ("POST", "/users/inactive"): "ADMIN",
    ("POST", "/users/inactive/delete"): "ADMIN",
    ("GET", "/users/inactive/removed"): "ADMIN",
    ("GET", PERSON): "ADMIN",
    ("POST", PERSON): "ADMIN",
    ("GET", PERSON + "/delete"): "ADMIN",
    ("POST", PERSON + "/delete"): "ADMIN",
    ("POST", PERSON + "/link"): "ADMIN",
    ("POST", PERSON + "/second-step/off"): "ADMIN",
    ("POST", PERSON + "/restore"): "ADMIN",
    ("POST", PERSON + "/sign-out"): "ADMIN",
    ("GET", "/service-accounts"): "ADMIN",
    ("GET", "/service-accounts/new"): "ADMIN",
    ("POST", "/service-accounts/new"): "ADMIN",
    ("GET", "/service-accounts/find-token"): "ADMIN",
    ("POST", "/service-accounts/find-token"): "ADMIN",
    ("GET", MACHINE): "ADMIN",
    ("POST", MACHINE): "ADMIN",
    ("GET", MACHINE + "/delete"): "ADMIN",
    ("POST", MACHINE + "/delete"): "ADMIN",
    ("GET", MACHINE + "/tokens/new"): "ADMIN",
    ("POST", MACHINE + "/tokens/new"): "ADMIN",
    ("GET", MACHINE + "/tokens/<id:token_id>/rotate"): "ADMIN",
    ("POST", MACHINE + "/tokens/<id:token_id>/rotate"): "ADMIN",
    ("GET", MACHINE + "/tokens/<id:token_id>/revoke"): "ADMIN",
    ("POST", MACHINE + "/tokens/<id:token_id>/revoke"): "ADMIN",
    ("GET", "/account"): SESSION,
    ("GET", "/account/hints"): SESSION,
    ("POST", "/account/hints"): SESSION,
    ("GET", "/account/password"): SESSION,
    ("POST", "/account/password"): SESSION,
    ("GET", "/account/second-step"): SESSION,
    ("POST", "/account/second-step"): SESSION,
    ("POST", "/account/second-step/confirm"): SESSION,
    ("POST", "/account/second-step/codes"): SESSION,
    ("POST", "/account/second-step/off"): SESSION,
    ("GET", "/account/permissions"): SESSION,
    ("GET", "/account/sessions"): SESSION,
    ("POST", "/account/sessions"): SESSION,
    ("POST", "/account/theme"): SESSION,
    ("GET", "/account/tokens/new"): SESSION,
    ("POST", "/account/tokens/new"): SESSION,
    ("GET", "/account/tokens/<id:token_id>/revoke"): SESSION,
    ("POST", "/account/tokens/<id:token_id>/revoke"): SESSION,
    ("GET", "/events"): "READ_LOGS",
    ("GET", "/set-up/<secret>"): PUBLIC,
    ("POST", "/set-up/<secret>"): PUBLIC,
}

ON_FEATURES = {"CREATE_FEATURE", "UPDATE_FEATURE", "UPDATE_FEATURE_DEPENDENCY", "DELETE_FEATURE"}
ON_PROJECT = ON_FEATURES | {"UPDATE_PROJECT", "DELETE_PROJECT", "PROJECT_USER_ACCESS_WRITE"}
OF_EDITOR = {"CREATE_PROJECT", "CREATE_TAG_TYPE", "UPDATE_TAG_TYPE", "DELETE_TAG_TYPE", "READ_LOGS"}
ANYWHERE = {"Admin": ON_PROJECT | OF_EDITOR | {"ADMIN"}, "Editor": OF_EDITOR, "Viewer": set()}
IN_PROJECT = {"Owner": ON_PROJECT, "Member": ON_FEATURES}

# What stands in a path, beside ids: things of the project "web".
FILLED = {
    "project_id": "web",
    "name": "child",
    "child": "child",
    "parent": "parent",
    "filename": "css/base.css",
    "initials": "AB",
}
STRANGERS = ("none", "malformed", "unknown", "expired", "revoked")


@dataclass(frozen=True)
class Caller:
    """A client, and by which roles it is to be judged; without a role it is nobody."""

    client: ApiClient | Browser
    role: str | None = None
    projects: dict[str, str] = field(default_factory=dict)

    def may(self, needs: str, project: str | None) -> bool:
        if needs == PUBLIC:
            return True
        if self.role is None:
            return False
        if needs in {TOKEN, SESSION} or needs in ANYWHERE[self.role]:
            return True
        return project is not None and needs in IN_PROJECT.get(self.projects.get(project), ())


@pytest.fixture
def callers(app: Flask, people: People) -> dict[str, Caller]:
    with_role = {
        f"{kind} {role}": Caller(
            ApiClient(app, people.token(make(f"{kind}-{role}", role=role))), role
        )
        for kind, make in (("person", people.person), ("service account", people.service_account))
        for role in ANYWHERE
    }
    admin = with_role["person Admin"].client
    for id in ("web", "other"):
        admin.ok("POST", "/projects", {"id": id, "name": id})
    for name in ("parent", "child"):
        admin.ok("POST", "/projects/web/features", {"name": name})
    admin.ok("POST", "/projects/web/features/child/dependencies", {"feature": "parent"})
    with_project_role = {
        f"{role} of {project}": Caller(
            people.member(f"{role}-{project}", project, role), "Viewer", {project: role}
        )
        for role in IN_PROJECT
        for project in ("web", "other")
    }
    strangers = {name: Caller(client) for name, client in unwelcome(app, people).items()}
    return strangers | with_role | with_project_role


def unwelcome(app: Flask, people: People) -> dict[str, ApiClient]:
    """Clients that nobody should listen to; the last two were an Admin's once."""
    ended = people.person("ended", role="Admin")
    expired, revoked = people.token(ended, "expired"), people.token(ended, "revoked")
    with app.app_context(), unit_of_work(writes=True):
        for token in db.session.scalars(sa.select(Token).where(Token.account_id == ended)):
            past = utcnow() - timedelta(seconds=1)
            setattr(token, f"{token.description}_at".replace("expired", "expires"), past)
    unknown = secrets.generate(secrets.TokenKind.PERSONAL)
    tokens = (None, "fst_pat_nonsense", unknown, expired, revoked)
    return dict(zip(STRANGERS, (ApiClient(app, token) for token in tokens), strict=True))


def routes(app: Flask) -> set[tuple[str, str]]:
    return {
        (method, rule.rule)
        for rule in app.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }


def bystander(people: People, name: str) -> dict[str, int]:
    """An account that is nobody's own, and its token, for the numbers in a path."""
    is_program = ROBOTS in name or MACHINE in name
    make = people.service_account if is_program else people.person
    account_id = make(name)
    people.token(account_id)
    with people.app.app_context():
        token_id = db.session.scalars(sa.select(Token.id).where(Token.account_id == account_id))
        return {"account_id": account_id, "token_id": token_id.one()}


def path_of(rule: str, **ids: int) -> str:
    """A path of that rule; what is not named here or in FILLED is of no importance."""

    def fill(match: re.Match[str]) -> str:
        converter, name = match.groups()
        return str(ids.get(name, 1)) if converter == "id" else FILLED.get(name, "something")

    return re.sub(r"<(?:(\w+)(?:\(.*?\))?:)?(\w+)>", fill, rule)


def call(client: ApiClient, method: str, path: str) -> TestResponse:
    """An empty object as the body: most routes answer 400 to whoever may call them."""
    body = {} if method in {"POST", "PUT"} else None
    return client.request(method, f"http://localhost{path}", json=body, buffered=True)


def test_the_table_has_every_route(app):
    table = NEEDS | PAGES_NEED
    missing = sorted(routes(app) - table.keys())
    assert not missing, "NEEDS lacks\n" + "\n".join(map(str, missing))
    gone = sorted(table.keys() - routes(app))
    assert not gone, "the application lacks\n" + "\n".join(map(str, gone))


def test_every_path_that_is_tried_leads_to_its_route(app):
    router = app.url_map.bind("localhost")
    for method, rule in NEEDS | PAGES_NEED:
        found, _ = router.match(path_of(rule), method, return_rule=True)
        assert found.rule == rule


def test_every_caller_gets_what_the_table_says(app, people, callers):
    wrong = []
    for (method, rule), needs in sorted(NEEDS.items()):
        path = path_of(rule, **bystander(people, f"{method} {rule}"))
        for name, caller in callers.items():
            answer = call(caller.client, method, path)
            allowed = caller.may(needs, "web" if rule.startswith(PROJECT) else None)
            if not as_expected(answer, needs, allowed=allowed, known=caller.role is not None):
                wrong.append(f"{name}: {method} {path} -> {answer.status} (needs {needs})")
    assert wrong == []


def as_expected(answer: TestResponse, needs: str, *, allowed: bool, known: bool) -> bool:
    if allowed:
        return answer.status_code < 500 and answer.status_code not in {401, 403, 405}
    if not known:
        return answer.status_code == 401 and answer.json["name"] == "AuthenticationRequired"
    return answer.status_code == 403 and f"the permission {needs}" in answer.json["message"]


def test_to_ask_for_the_head_alone_needs_the_same(app, callers):
    for (method, rule), needs in NEEDS.items():
        if method == "GET":
            answer = call(callers["none"].client, "HEAD", path_of(rule))
            assert answer.status_code not in {404, 405} or "secret" in rule, rule
            assert (answer.status_code == 401) is (needs != PUBLIC), rule


OUTSIDERS = ("person Viewer", "person Editor", "service account Editor", "Owner of other", "none")


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
    for question, before in zip(asked, unknown, strict=True):
        assert told(call(*question)) == before, question[1:]
        assert before[0] in {401, 403, 404}, question[1:]


def told(answer: TestResponse) -> tuple[object, ...]:
    """All that an answer tells: what differs from request to request is left out."""
    headers = [(k, v) for k, v in answer.headers if k not in {"X-Request-Id", "Date"}]
    return answer.status_code, headers, [kv for kv in answer.json.items() if kv[0] != "id"]


@pytest.fixture
def visitors(app: Flask, people: People, callers: dict[str, Caller]) -> dict[str, Caller]:
    """Browsers: of the people among the callers, of nobody, and of somebody who was deleted."""
    people.person("gone")
    gone = Browser(app).sign_in("gone")
    admin = callers["person Admin"].client
    id = next(u["id"] for u in admin.ok("GET", "/user-admin")["users"] if u["username"] == "gone")
    admin.ok("DELETE", f"/user-admin/{id}")
    found = {"nobody": Caller(Browser(app)), "deleted": Caller(gone)}
    for role in ANYWHERE:
        found[f"person {role}"] = Caller(Browser(app).sign_in(f"person-{role}"), role)
    for role in IN_PROJECT:
        for project in ("web", "other"):
            browser = Browser(app).sign_in(f"{role}-{project}")
            found[f"{role} of {project}"] = Caller(browser, "Viewer", {project: role})
    return found


def test_every_visitor_gets_what_the_table_says(people, visitors):
    wrong = []
    for (method, rule), needs in sorted(PAGES_NEED.items()):
        if rule == "/sign-out":
            continue  # it would end the visit
        # What is done to a bystander ends no visit.
        path = path_of(rule, **bystander(people, f"{method} {rule}"))
        for name, visitor in visitors.items():
            page = visit(visitor.client, method, path)
            allowed = visitor.may(needs, "web" if rule.startswith(PAGES) else None)
            if not as_shown(page, needs, allowed=allowed, known=visitor.role is not None):
                wrong.append(f"{name}: {method} {path} -> {page.status} (needs {needs})")
    assert wrong == []


def visit(browser: Browser, method: str, path: str) -> Page:
    return browser.get(path) if method == "GET" else browser.post(path)


def as_shown(page: Page, needs: str, *, allowed: bool, known: bool) -> bool:
    asks_to_sign_in = page.status == 401 or (page.status == 303 and "/sign-in" in page.location)
    if allowed:
        return page.status < 500 and page.status not in {401, 403, 405} and not asks_to_sign_in
    if not known:
        return asks_to_sign_in
    return page.status == 403 and page.has(f"You need the permission {needs}")


def test_a_token_opens_no_page_and_a_session_no_api(app, people, callers):
    token = callers["person Admin"].client
    for path in ("/projects", "/tags"):
        answer = token.get(f"http://localhost{path}")
        assert (answer.status_code, "/sign-in" in answer.headers["Location"]) == (303, True)
    browser = Browser(app).sign_in("person-Admin")
    assert browser.get("/projects").status == 200
    answer = browser.client.get("/api/admin/user")
    assert (answer.status_code, answer.json["name"]) == (401, "AuthenticationRequired")


PEEPERS = ("person Viewer", "person Editor", "Owner of other", "nobody")


def test_the_pages_of_a_private_project_are_as_those_of_an_unknown_one(callers, visitors):
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
