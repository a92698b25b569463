"""Forms that come from elsewhere, too late, or from another sign-in."""

import re

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts.sessions.models import KeptForm, Session
from app.core.db import Model, db, unit_of_work
from tests.support.access import PAGES, PAGES_NEED, path_of
from tests.support.browser import Browser, attribute
from tests.support.clients import ApiClient
from tests.support.people import PASSWORD

pytestmark = [pytest.mark.slow, pytest.mark.one_in(2)]

POSTS = sorted(rule for method, rule in PAGES_NEED if method == "POST")
UNTOLD = {"sessions", "kept_forms", "throttles", "visits"}


def contents(app: Flask) -> dict[str, list[str]]:
    """All rows of all tables but those that keep the way in, and what people opened."""
    with app.app_context():
        return {
            table.name: sorted(repr(row) for row in db.session.execute(sa.select(table)))
            for table in Model.metadata.sorted_tables
            if table.name not in UNTOLD
        }


def end_sessions(app: Flask) -> None:
    with app.app_context(), unit_of_work(writes=True):
        db.session.query(KeptForm).delete()
        db.session.query(Session).delete()


@pytest.fixture
def world(admin: ApiClient) -> None:
    """What the paths of the forms name."""
    admin.ok("POST", "/projects", json={"id": "web", "name": "Web"})
    for name in ("child", "parent"):
        admin.ok("POST", "/projects/web/features", json={"name": name})
    for id in ("empty", "old"):
        admin.ok("POST", "/projects", json={"id": id, "name": id})
    admin.ok("DELETE", "/projects/old")
    admin.ok("POST", "/tag-types", json={"name": "team"})
    admin.ok("POST", "/context", json={"name": "country"})
    admin.ok("POST", "/strategies", json={"name": "by-region"})
    sdk = {"tokenName": "web", "type": "client", "environment": "production"}
    admin.ok("POST", "/api-tokens", json=sdk)
    admin.ok("POST", "/webhooks", json={"name": "Chat", "url": "https://hooks.example/"})


FOREIGN = {
    "no token": {"csrf": False},
    "a made-up token": {"token": "made-up"},
    "another site": {"headers": {"Sec-Fetch-Site": "cross-site"}},
    "a sister site": {"headers": {"Sec-Fetch-Site": "same-site"}},
    "an unknown origin": {"headers": {"Origin": "null"}},
    "a foreign origin": {"headers": {"Origin": "https://evil.example"}},
    "a foreign origin from an old browser": {
        "headers": {"Origin": "https://evil.example", "Sec-Fetch-Site": ""}
    },
}
CHILD = f"{PAGES}/features/<key:name>"
NEW_PROJECT = {"name": "New", "mode": "open", "environments": "production"}

# What each form of a page would send: how to reach it, which one it is, and what is typed.
FILLED_IN = {
    "/new-project": ("/new-project", 0, NEW_PROJECT),
    f"{PAGES}/settings": ("/projects/web/settings", 0, {"name": "Other"}),
    f"{PAGES}/settings/archive": ("/projects/empty/settings", "Archive empty", {}),
    f"{PAGES}/settings/revive": ("/projects/old/settings", "Revive old", {}),
    f"{PAGES}/members/add": (
        "/projects/web/members",
        "/members/add",
        {"account": "boss", "role_id": "5"},
    ),
    f"{PAGES}/members": ("/projects/web/members", "Save members", {"role-1": "4"}),
    f"{PAGES}/new-feature": ("/projects/web/new-feature", 0, {"name": "new"}),
    f"{CHILD}/settings": ("/projects/web/features/child/settings", 0, {"description": "x"}),
    f"{CHILD}/tags": ("/projects/web/features/child/tags", "Save", {"parent": "parent"}),
    f"{CHILD}/environments/<key:environment>/on": (
        "/projects/web/features/child",
        "child in production Off",
        {},
    ),
    "/tags/new-type": ("/tags/new-type", 0, {"name": "risk"}),
    "/tags/types/<key:name>": ("/tags/types/team", 0, {"description": "other"}),
    "/tags/types/<key:name>/delete": ("/tags/types/team/delete", 0, {}),
    "/new-context-field": ("/new-context-field", 0, {"name": "plan"}),
    "/context-fields/<key:name>": ("/context-fields/appName", 0, {"description": "other"}),
    "/context-fields/<key:name>/delete": ("/context-fields/country", "Delete country", {}),
    "/new-strategy-type": ("/new-strategy-type", 0, {"name": "by-plan"}),
    "/strategy-types/<key:name>": ("/strategy-types/by-region", 0, {"description": "other"}),
    "/strategy-types/<key:name>/deprecate": (
        "/strategy-types/by-region",
        "Deprecate by-region",
        {},
    ),
    "/strategy-types/<key:name>/delete": ("/strategy-types/by-region", "Delete by-region", {}),
    "/sdk-tokens/<id:token_id>/revoke": ("/sdk-tokens/1/revoke", 0, {}),
    "/browser-origins": ("/browser-origins", 0, {"frontend_api_origins": "https://a.example"}),
    "/webhooks/<id:webhook_id>/edit": ("/webhooks/1/edit", 0, {"name": "Other"}),
    "/webhooks/<id:webhook_id>/test": ("/webhooks/1", "Send a test", {}),
    "/webhooks/<id:webhook_id>/delete": ("/webhooks/1/delete", 0, {}),
    "/new-environment": ("/new-environment", 0, {"name": "moon", "type": "test"}),
    "/environments/<key:name>": ("/environments/production", 0, {"sort_order": "77"}),
    "/environments/<key:name>/deprecate": ("/environments/production", "Deprecate production", {}),
}


def test_a_form_that_is_not_ours_changes_nothing_and_ours_does(app, browser, world, admin):
    other = Browser(app)
    other.sign_in("boss")
    ways = {**FOREIGN, "the token of another session": {"token": other.csrf_token()}}
    for rule, (path, which, typed) in FILLED_IN.items():
        page = browser.get(path)
        action = attribute(page.form(which), "action", path)
        sent = page.fields(which) | typed
        before = contents(app)
        for how, way in ways.items():
            given = {name: value for name, value in sent.items() if name != "csrf_token"}
            if "token" in way:
                given["csrf_token"] = way["token"]
            options = {name: way[name] for name in ("csrf", "headers") if name in way}
            assert browser.post(action, given, **options).status == 400, f"{rule}: {how}"
        assert contents(app) == before, rule
        assert browser.post(action, sent).status == 303, rule
        assert contents(app) != before, rule


@pytest.mark.parametrize("how", FOREIGN)
def test_no_page_takes_a_form_that_is_not_ours(app, browser, world, how):
    way = FOREIGN[how]
    data = {"csrf_token": way["token"]} if "token" in way else {}
    options = {name: way[name] for name in ("csrf", "headers") if name in way}
    before = contents(app)
    for rule in POSTS:
        page = browser.post(path_of(rule), data, **options)
        assert page.status == 400, f"{rule}: {page.status}"
    assert contents(app) == before
    assert browser.get("/projects").status == 200  # no one was signed out either


@pytest.mark.parametrize("half", [0, 1])
def test_no_page_takes_the_token_of_another_session_nor_one_in_the_address(
    app, browser, world, half
):
    own, other = browser.csrf_token(), Browser(app).sign_in("boss").csrf_token()
    before = contents(app)
    for rule in POSTS[half::2]:
        path = path_of(rule)
        assert browser.post(path, {"csrf_token": other}).status == 400, rule
        assert browser.post(f"{path}?csrf_token={own}", csrf=False).status == 400, rule
        for method in ("GET", "HEAD"):
            query = {"csrf_token": own, "name": "x"}
            answer = browser.client.open(path, method=method, query_string=query)
            assert answer.status_code in {200, 303, 400, 404, 405}, rule
    assert contents(app) == before
    assert browser.get("/projects").status == 200  # nor was anyone signed out


def test_one_time_links_and_signing_in_take_no_foreign_form_either(app, visitor, ada, admin):
    made = admin.ok("POST", "/user-admin", {"username": "kim", "rootRole": 3})
    link = "/" + made["inviteLink"].split("/", 3)[3]
    before = contents(app)
    for how in FOREIGN.values():
        options = {name: how[name] for name in ("csrf", "headers") if name in how}
        token = {"csrf_token": how["token"]} if "token" in how else {}
        for path, typed in (
            (link, {"new_password": PASSWORD}),
            ("/sign-in", {"name": "ada", "password": PASSWORD}),
        ):
            assert visitor.post(path, typed | token, **options).status == 400
    assert contents(app) == before
    assert visitor.get("/projects").status == 303
    assert visitor.post(link, {"new_password": PASSWORD}).status == 303


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_what_a_form_would_do_is_not_done_by_asking_for_its_address(app, browser, world, method):
    before = contents(app)
    for path, which, typed in FILLED_IN.values():
        page = browser.get(path)
        action = attribute(page.form(which), "action", path)
        sent = page.fields(which) | typed
        browser.client.open(action, method=method, query_string=sent)
    assert contents(app) == before


def test_a_token_in_the_address_is_worth_nothing(app, browser):
    token = browser.csrf_token()
    page = browser.post(f"/new-project?csrf_token={token}", {"name": "x"}, csrf=False)
    assert page.status == 400
    assert browser.get("/projects/x").status == 404


def test_a_browser_that_says_less_about_itself_can_still_send_forms(browser):
    page = browser.post(
        "/new-project",
        {"name": "Web shop", "mode": "open", "environments": "production"},
        headers={"Sec-Fetch-Site": "", "Origin": ""},
    )
    assert page.status == 303


EVE = {"username": "eve", "root_role": "1"}


@pytest.mark.parametrize(
    ("headers", "name"),
    [
        ({"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}, "ForeignFormError"),
        ({"Sec-Fetch-Site": "", "Origin": "https://evil.example"}, "ForeignFormError"),
        ({"Sec-Fetch-Site": "same-site", "Origin": ""}, "ForeignFormError"),
        ({"Sec-Fetch-Site": "", "Origin": "null"}, "ForeignFormError"),
        ({"Host": "evil.example", "Origin": "http://evil.example"}, "ForeignHostError"),
        ({"Host": "evil.example", "Sec-Fetch-Site": "", "Origin": ""}, "ForeignHostError"),
    ],
)
def test_a_foreign_form_is_refused_before_anyone_is_asked_to_sign_in(visitor, headers, name):
    page = visitor.post("/users/new", EVE, csrf=False, headers=headers)
    assert (page.status, page.has(name)) == (400, True)
    assert "<form" not in page.text
    assert "eve" not in page.text


def test_what_may_be_from_another_site_is_not_kept_for_after_the_sign_in(visitor, ada):
    silent = {"Sec-Fetch-Site": "", "Origin": ""}
    page = visitor.post("/users/new", EVE, csrf=False, headers=silent)
    assert page.status == 401
    assert "eve" not in page.text
    page = visitor.submit(page, {"name": "ada", "password": PASSWORD})
    assert page.location == "/users/new"


def test_what_was_typed_comes_back_after_signing_in_again(app, visitor, ada):
    visitor.sign_in("ada")
    page = visitor.get("/new-project")
    end_sessions(app)
    typed = {"name": "Web shop", "description": "a\nb", "mode": "private", "environments": []}
    page = visitor.submit(page, typed, button="Create project")
    assert page.status == 401
    assert page.has("nothing was saved yet, and what you typed is kept")
    page = visitor.submit(page, {"name": "ada", "password": "wrong"})
    assert page.status == 400
    page = visitor.submit(page, {"name": "ada", "password": PASSWORD})
    assert re.fullmatch(r"/new-project\?kept=\d+", page.location)
    page = visitor.follow(page)
    assert page.has("What you typed is back")
    fields = page.fields()
    assert fields["name"] == "Web shop"
    assert fields["description"] == "a\nb"
    assert fields["mode"] == "private"
    assert "environments" not in fields
    assert visitor.get("/projects/web-shop").status == 404
    page = visitor.submit(page, {"environments": "production"}, button="Create project")
    assert visitor.follow(page).h1 == "Web shop"


def test_what_others_changed_while_one_was_signed_out_is_not_overwritten(app, visitor, ada, admin):
    visitor.sign_in("ada")
    page = visitor.get("/projects/default/settings")
    end_sessions(app)
    admin.ok("PUT", "/projects/default", json={"name": "Theirs"})
    page = visitor.submit(page, {"name": "Mine"}, button="Save")
    page = visitor.follow(visitor.submit(page, {"name": "ada", "password": PASSWORD}))
    page = visitor.submit(page, form="Save", button="Save")
    assert page.status == 409
    assert page.has("Someone else changed this project")
    assert admin.ok("GET", "/projects/default")["name"] == "Theirs"


def test_chosen_rows_come_back_too(app, visitor, ada, world):
    visitor.sign_in("ada")
    page = visitor.get("/projects/web")
    end_sessions(app)
    headers = {"Referer": "http://localhost/projects/web"}
    page = visitor.post("/projects/web/selection", {"feature": ["child"]}, headers=headers)
    assert page.status == 401
    page = visitor.follow(visitor.submit(page, {"name": "ada", "password": PASSWORD}))
    assert page.fields("Edit tags")["feature"] == "child"


def test_no_password_is_ever_kept(app, visitor, ada):
    page = visitor.post("/tags/new-type", {"new_password": "secret", "Password": "secret"})
    assert page.status == 401
    assert "secret" not in page.text


def test_a_form_from_before_the_last_sign_in_is_kept_and_led_back_to(app, visitor, ada):
    visitor.sign_in("ada")
    page = visitor.get("/new-project")
    visitor.sign_in("ada")
    page = visitor.submit(page, {"name": "Web shop"}, button="Create project")
    assert (page.status, page.h1) == (400, "This form had expired")
    page = visitor.get(page.links["Back to the form, filled in"])
    assert page.fields()["name"] == "Web shop"


def test_of_two_forms_that_were_kept_each_comes_back_as_itself(visitor, ada):
    visitor.sign_in("ada")
    pages = {name: visitor.get("/new-project") for name in ("Web shop", "Night shop")}
    visitor.sign_in("ada")
    for name, page in pages.items():
        refused = visitor.submit(page, {"name": name}, button="Create project")
        pages[name] = refused.links["Back to the form, filled in"]
    assert {name: visitor.get(back).fields()["name"] for name, back in pages.items()} == {
        name: name for name in pages
    }


def test_a_session_keeps_its_three_latest_forms_and_none_that_is_large(visitor, ada):
    visitor.sign_in("ada")
    page = visitor.get("/new-project")
    visitor.sign_in("ada")
    backs = [
        visitor.submit(page, {"name": f"Shop {number}"}, button="Create project").links[
            "Back to the form, filled in"
        ]
        for number in range(5)
    ]
    found = [visitor.get(back).fields()["name"] for back in backs]
    assert found == ["", "", "Shop 2", "Shop 3", "Shop 4"]
    page = visitor.submit(page, {"description": "a" * 70_000}, button="Create project")
    assert page.has("What you typed could not be kept.")
    assert visitor.get(page.links["Back to the form"]).fields()["description"] == ""
    assert visitor.get(backs[-1]).fields()["name"] == "Shop 4"


def test_a_form_that_only_reads_is_not_kept(visitor, ada):
    visitor.sign_in("ada")
    page = visitor.post("/projects/default/strategy-sentence", {"name": "default"}, csrf=False)
    assert (page.status, page.has("could not be kept")) == (400, True)


def test_no_one_else_reads_what_was_kept(app, visitor, ada, people):
    visitor.sign_in("ada")
    page = visitor.get("/new-project")
    visitor.sign_in("ada")
    page = visitor.submit(page, {"name": "Web shop"}, button="Create project")
    back = page.links["Back to the form, filled in"]
    for name in ("ada", "eve"):
        if name == "eve":
            people.person("eve", role="Admin")
        assert Browser(app).sign_in(name).get(back).fields()["name"] == ""


@pytest.mark.parametrize("kept", ["x", "0", "999999999999999999", "-1", "9" * 5_000, "1e3", "٣"])
def test_a_number_under_which_nothing_was_kept_shows_the_empty_form(browser, kept):
    page = browser.get(f"/new-project?kept={kept}")
    assert (page.status, page.fields()["name"]) == (200, "")


DAMAGED = [
    *("nonsense", "[]", '{"name": 1}', "1", '"x"', '{"a": [[1]]}', '{"name": ["\\ud800"]}'),
    *('{"name": ["\\u0000"]}', "[" * 100_000, '{"a":' * 100_000, "9" * 5_000),
]


@pytest.mark.parametrize("kept", DAMAGED, ids=lambda kept: kept[:20])
def test_a_damaged_kept_form_is_refused_or_harmless(visitor, ada, kept):
    typed = {"name": "ada", "password": PASSWORD, "next": "/new-project", "kept": kept}
    assert visitor.post("/sign-in", {**typed, "password": "x"}).status == 400
    page = visitor.post("/sign-in", typed)
    assert page.status in {303, 400}
    if page.status == 303:
        assert visitor.follow(page).status == 200


def test_without_cookies_the_page_says_so(app):
    page = Browser(app).post("/sign-in", {"name": "a", "password": "b"}, csrf=False)
    assert page.status == 400
    assert page.has("your browser blocks cookies")
