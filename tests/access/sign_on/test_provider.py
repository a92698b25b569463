"""Signing in with an OpenID Connect provider, which is a real one."""

import json
import re
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_network
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import pytest
import sqlalchemy as sa
from flask import Flask

from app.access.sign_on.answers import SKEW_SECONDS
from app.access.sign_on.provider import Provider
from app.accounts.sessions.models import Session
from app.core.db import db, unit_of_work
from tests.support.browser import Browser, text_of
from tests.support.clients import ApiClient
from tests.support.oidc import KIM, OidcProvider, There, change_settings, go_there
from tests.support.sign_in import PASSWORD, let_time_pass, sign_in

pytestmark = pytest.mark.slow

ALL = {"sign_on_create": "all"}


def me(browser: Browser) -> str:
    """The user name that My account shows."""
    page = browser.get("/account")
    return page.select(".head__meta code")[0].text() if page.status == 200 else ""


def group(admin: ApiClient, **body: Any) -> int:
    answer = admin.post("/api/admin/groups", {"name": "devs", **body})
    assert answer.status_code == 201, answer.text
    return int(answer.get_json()["id"])


def failures(admin: ApiClient) -> list[str]:
    answer = admin.get("/api/admin/security-log?kind=sign-in-failed")
    return [entry["detail"] for entry in answer.get_json()["entries"]]


def test_the_first_sign_in_makes_an_account_and_the_second_finds_it(app, provider, visitor):
    change_settings(app, **ALL)
    page = visitor.follow(go_there(visitor, There(), "kim"))
    assert page.messages == ["Welcome. This is your first sign-in."]
    assert me(visitor) == "kim"
    again = Browser(app)
    page = again.follow(go_there(again, There(), "kim"))
    assert "Last sign-in" in page.messages[0]
    assert me(again) == "kim"


def test_someone_keeps_their_account_whatever_the_provider_calls_them(
    app, provider, visitor, admin
):
    change_settings(app, **ALL)
    go_there(visitor, There(), "kim")
    renamed = KIM | {"preferred_username": "park", "email": "park@example.org"}
    provider.tell({"kim": renamed})
    go_there(visitor, There(), "kim")
    assert me(visitor) == "kim"


def test_the_button_leads_there_and_back_to_the_page_that_was_asked_for(app, provider, visitor):
    change_settings(app, **ALL)
    page = visitor.follow(visitor.get("/projects?text=x"))
    link = page.links["Sign in with Example Org"]
    assert go_there(visitor, There(), "kim", link).location == "/projects?text=x"


def test_what_was_typed_is_kept_on_the_way_there(app, provider, visitor, people):
    change_settings(app, **ALL)
    go_there(visitor, There(), "kim")
    account = people.named("kim")
    people.promote(account, "Editor")
    visitor.client.delete_cookie(app.config["SESSION_COOKIE_NAME"])
    page = visitor.post("/new-project", {"name": "Half typed", "csrf_token": "old"})
    assert page.status == 401
    assert "what you typed is kept" in page.words
    page = visitor.follow(go_there(visitor, There(), "kim", page.links["Sign in with Example Org"]))
    assert page.fields()["name"] == "Half typed"


def test_no_one_gets_an_account_unless_the_operator_allows_it(provider, visitor, admin):
    page = go_there(visitor, There(), "kim")
    assert page.status == 403
    assert "There is no account for kim here. Ask an Admin." in page.words
    assert page.links["Sign in"] == "/sign-in"
    assert me(visitor) == ""
    assert "There is no account for kim here" in failures(admin)[0]


def test_only_people_whose_group_gives_a_role_get_an_account_if_so_set(
    app, provider, visitor, admin
):
    change_settings(app, sign_on_create="group")
    assert go_there(visitor, There(), "kim").status == 403
    group(admin)
    assert go_there(visitor, There(), "kim").status == 403
    admin.put("/api/admin/groups/1", {"rootRole": 2})
    assert go_there(visitor, There(), "kim").status == 303
    assert "Editor" in visitor.get("/account").words


def test_a_group_gives_roles_until_the_sign_in_after_its_end(app, provider, admin, people):
    change_settings(app, **ALL)
    admin.post("/api/admin/projects", {"id": "payments", "name": "Payments"})
    group(admin, rootRole=2, projects=[{"id": "payments", "roleId": 4}])
    browser = Browser(app)
    go_there(browser, There(), "kim")
    page = browser.get("/account/permissions?may=UPDATE_PROJECT&project=payments")
    assert "Owner of payments, through the group devs" in page.words
    assert "Root role Editor, through the group devs" in page.words
    provider.tell({"kim": KIM | {"groups": []}})
    assert browser.get("/account/permissions").has("through the group")  # until they sign in
    again = Browser(app)
    go_there(again, There(), "kim")
    page = again.get("/account/permissions")
    assert not page.has("through the group")
    access = admin.get("/api/admin/projects/payments/access").get_json()
    assert people.named("kim") not in [member["id"] for member in access["members"]]


def test_what_a_person_gave_stays_when_a_group_ends(app, provider, ada, admin, people):
    change_settings(app, **ALL)
    go_there(Browser(app), There(), "kim")
    kim = people.named("kim")
    admin.put(f"/api/admin/user-admin/{kim}", {"rootRole": 2})
    group(admin, rootRole=1)
    go_there(Browser(app), There(), "kim")
    assert admin.get(f"/api/admin/user-admin/{kim}").get_json()["rootRole"] == 1
    provider.tell({"kim": KIM | {"groups": ["others"]}})
    go_there(Browser(app), There(), "kim")
    assert admin.get(f"/api/admin/user-admin/{kim}").get_json()["rootRole"] == 2


def test_the_last_admin_who_can_sign_in_keeps_the_role_without_a_group(
    app, provider, admin, people
):
    change_settings(app, **ALL)
    group(admin, rootRole=1)
    go_there(Browser(app), There(), "kim")
    kim = people.named("kim")
    provider.tell({"kim": KIM | {"groups": []}})
    go_there(Browser(app), There(), "kim")
    assert admin.get(f"/api/admin/user-admin/{kim}").get_json()["rootRole"] == 1


@pytest.mark.parametrize("in_id_token", [True, False])
def test_claims_count_in_the_id_token_and_in_the_user_information(
    app, provider, visitor, admin, in_id_token
):
    change_settings(app, sign_on_create="group")
    provider.tell(in_id_token=in_id_token)
    provider.rotate()
    group(admin, rootRole=3)
    assert go_there(visitor, There(), "kim").status == 303


def test_an_account_is_linked_by_verified_e_mail_only_if_the_operator_allows_it(
    app, provider, people, visitor, admin
):
    ada = people.person("ada", role="Editor")
    admin.put(f"/api/admin/user-admin/{ada}", {"email": "kim@example.org"})
    change_settings(app, **ALL)
    assert "isn’t linked to you" in go_there(visitor, There(), "kim").words
    change_settings(app, sign_on_link=True)
    assert go_there(visitor, There(), "kim").status == 303
    assert me(visitor) == "ada"


def test_no_account_is_taken_over_with_an_e_mail_that_is_not_verified(
    app, provider, people, visitor, admin
):
    ada = people.person("ada", role="Admin")
    admin.put(f"/api/admin/user-admin/{ada}", {"email": "kim@example.org"})
    change_settings(app, sign_on_link=True, **ALL)
    for number, unverified in enumerate((False, None, 1, "yes")):
        name = f"eve{number}"
        claims = KIM | {"preferred_username": name, "email_verified": unverified}
        provider.tell({name: claims})
        browser = Browser(app)
        go_there(browser, There(), name)
        assert me(browser) == name  # an account of their own, a Viewer’s
        assert "Viewer" in browser.get("/account").words


def test_no_account_is_taken_over_with_a_user_name(app, provider, people, visitor):
    people.person("kim", role="Admin")
    change_settings(app, sign_on_link=True, **ALL)
    go_there(visitor, There(), "kim")
    assert me(visitor) == "kim@example.org"


def test_an_account_belongs_to_one_person_at_the_provider(app, provider, people, admin):
    ada = people.person("ada", role="Editor")
    admin.put(f"/api/admin/user-admin/{ada}", {"email": "kim@example.org"})
    change_settings(app, sign_on_link=True)
    go_there(Browser(app), There(), "kim")
    provider.tell({"eve": KIM})
    assert "linked to someone else" in go_there(Browser(app), There(), "eve").words


def test_a_deleted_account_is_not_made_again_by_signing_in(app, provider, people, admin):
    change_settings(app, **ALL)
    go_there(Browser(app), There(), "kim")
    admin.delete(f"/api/admin/user-admin/{people.named('kim')}")
    page = go_there(Browser(app), There(), "kim")
    assert page.status == 403
    assert "Your account was deleted" in page.words


FAULTS = ["iss", "aud", "azp", "nonce", "no nonce", "exp", "iat", "at_hash", "sub", "key", "none"]


@pytest.mark.parametrize("fault", [*FAULTS, "secret"])
def test_a_token_that_is_not_what_it_should_be_is_refused_and_logged(
    app, provider, visitor, admin, fault
):
    change_settings(app, **ALL)
    provider.tell(fault=fault)
    page = go_there(visitor, There(), "kim")
    assert page.status == 400
    assert page.h1 == "Sign-in did not work"
    assert "Nothing has changed." in page.words
    assert me(visitor) == ""
    assert len(failures(admin)) == 1
    provider.tell()
    assert go_there(visitor, There(), "kim").status == 303


def change(part: str, value: str | None) -> Callable[[str], str]:
    def changed(address: str) -> str:
        target = urlsplit(address)
        query = dict(parse_qsl(target.query))
        query.pop(part) if value is None else query.update({part: value})
        return target._replace(query=urlencode(query)).geturl()

    return changed


@pytest.mark.parametrize(
    ("forge", "words"),
    [
        (change("state", "another"), "not started in this browser"),
        (change("state", None), "not started in this browser"),
        (change("iss", "https://login.example.com"), "another provider"),
        (change("iss", None), "another provider"),
        (change("code", "another"), "invalid_grant"),
        (change("error", "access_denied"), "access_denied"),
    ],
)
def test_an_answer_that_was_changed_on_the_way_is_refused(app, provider, visitor, forge, words):
    change_settings(app, **ALL)
    away = visitor.client.get("/sign-in/provider").headers["Location"]
    page = visitor.get(forge(There().sign_in(away, "kim")))
    assert page.status == 400
    assert words in page.words
    assert me(visitor) == ""


def test_an_answer_counts_once_and_only_in_the_browser_that_asked(app, provider, visitor):
    change_settings(app, **ALL)
    away = visitor.client.get("/sign-in/provider").headers["Location"]
    back = There().sign_in(away, "kim")
    thief = Browser(app)
    thief.client.get("/sign-in/provider")
    assert thief.get(back).status == 400  # its own cookie does not know this state
    assert visitor.get(back).status == 303
    assert visitor.get(back).status == 400


def test_a_cookie_from_before_the_sign_in_is_worth_nothing_after_it(app, provider, visitor):
    change_settings(app, **ALL)
    name = app.config["SESSION_COOKIE_NAME"]
    away = visitor.client.get("/sign-in/provider").headers["Location"]
    before = visitor.client.get_cookie(name).value
    visitor.get(There().sign_in(away, "kim"))
    assert visitor.client.get_cookie(name).value != before
    fixed = Browser(app)
    fixed.client.set_cookie(name, before)
    assert me(fixed) == ""


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "/%0d%0aLocation: x",
        "javascript:1",
    ],
)
def test_the_way_back_leads_nowhere_else(app, provider, visitor, target):
    change_settings(app, **ALL)
    query = urlencode({"next": target})
    page = go_there(visitor, There(), "kim", f"/sign-in/provider?{query}")
    assert page.answer.headers["Location"].startswith("/")
    assert "evil" not in page.answer.headers["Location"]


def test_new_keys_of_the_provider_are_read_when_they_are_first_used(app, provider, visitor):
    change_settings(app, **ALL)
    app.extensions["flagstaff.provider"]._keys_at = float("-inf")
    go_there(visitor, There(), "kim")
    provider.rotate()
    known: Provider = app.extensions["flagstaff.provider"]
    known._keys_at -= 11  # they are read again at most every 10 seconds
    assert go_there(Browser(app), There(), "kim").status == 303


def test_signing_out_offers_to_sign_out_there_too(app, provider, visitor):
    change_settings(app, **ALL)
    go_there(visitor, There(), "kim")
    page = visitor.post("/sign-out")
    assert page.h1 == "You’re signed out of Flagstaff"
    assert me(visitor) == ""
    address = urlsplit(page.links["Sign out there too"])
    assert address.geturl().startswith(f"{provider.issuer}/session/end?")
    query = parse_qs(address.query)
    assert query["post_logout_redirect_uri"] == ["http://127.0.0.1:4242/sign-in"]
    assert "id_token_hint" in query


class _Listener(BaseHTTPRequestHandler):
    bodies: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.bodies.append(self.rfile.read(length).decode())
        self.send_response(200)
        self.end_headers()

    def do_GET(self) -> None:
        self.send_response(302)
        self.send_header("Location", "http://elsewhere.example/")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def told() -> Iterator[Callable[[], dict[str, str]]]:
    """Where the provider tells of the end of sessions: ``address``, and the form it last sent."""
    server = HTTPServer(("127.0.0.1", 0), _Listener)
    Thread(target=server.serve_forever, daemon=True).start()
    _Listener.bodies.clear()
    yield lambda: {
        "address": f"http://127.0.0.1:{server.server_port}/",
        **dict(parse_qsl(_Listener.bodies[-1] if _Listener.bodies else "")),
    }
    server.shutdown()
    server.server_close()


def back_channel(app: Flask, token: str) -> int:
    path = "/sign-in/back-channel"
    return app.test_client().post(path, data={"logout_token": token}).status_code


def test_signing_out_there_ends_the_sessions_that_began_there(app, provider, visitor, told):
    change_settings(app, **ALL)
    provider.listen(told()["address"])
    provider.rotate()
    there, same, other = There(), Browser(app), Browser(app)
    go_there(visitor, there, "kim")
    go_there(same, there, "kim")
    go_there(other, There(), "kim")
    there.sign_out(visitor.post("/sign-out").links["Sign out there too"])
    assert me(same) == "kim"
    assert back_channel(app, told()["logout_token"]) == 200
    assert me(same) == ""
    assert me(other) == "kim"


def logout_token(provider: OidcProvider, **claims: Any) -> str:
    """One that ends Kim’s sessions, with other claims; None leaves one out."""
    usual = {
        "iss": provider.issuer,
        "aud": "flagstaff",
        "sub": "kim",
        "jti": "1",
        "iat": int(time.time()),
        "exp": int(time.time()) + 120,
        "events": {"http://schemas.openid.net/event/backchannel-logout": {}},
    }
    return provider.sign({k: v for k, v in (usual | claims).items() if v is not None})


def test_an_end_of_sessions_that_does_not_expire_is_refused(app, provider, visitor):
    change_settings(app, **ALL)
    go_there(visitor, There(), "kim")
    assert back_channel(app, logout_token(provider, exp=None)) == 400
    assert me(visitor) == "kim"
    assert back_channel(app, logout_token(provider)) == 200
    assert me(visitor) == ""


def test_an_end_of_sessions_that_is_sent_again_ends_no_later_session(app, provider, visitor):
    change_settings(app, **ALL)
    early = int(time.time()) - SKEW_SECONDS - 1
    token = logout_token(provider, iat=early, exp=early + 3_000)
    go_there(visitor, There(), "kim")
    assert back_channel(app, token) == 200
    assert me(visitor) == "kim"


def test_a_forged_end_of_a_session_is_refused(app, provider, visitor, told):
    change_settings(app, **ALL)
    go_there(visitor, There(), "kim")
    with visitor.app.app_context(), unit_of_work(writes=False):
        id_token = db.session.scalar(sa.select(Session.id_token))
    headers = ({"alg": "none"}, {"alg": "RS256", "crit": 1}, {"alg": 1}, {"kid": []}, [], None)
    made = [f"{urlsafe_b64encode(json.dumps(each).encode()).decode()}.e30.AA" for each in headers]
    for forged in ("", "x", "x.y.z", *made, id_token):
        assert back_channel(app, forged) == 400
    assert me(visitor) == "kim"


def test_passwords_can_be_turned_off_but_for_named_admins(app, provider, ada, people, visitor):
    eve = people.person("eve", role="Admin")
    people.give_password(eve)
    assert sign_in(visitor, "eve").status == 303
    change_settings(app, password_sign_in=False, break_glass_admins=("Ada",))
    assert me(visitor) == ""  # the session of a password that no longer counts
    page = visitor.get("/sign-in")
    assert "Password" not in [label.text() for label in page.select("label")]
    page = visitor.get(page.links["Sign in with a password"])
    assert "Only the Admins whom the operator named" in page.words
    assert "Wrong user name or password." in sign_in(visitor, "eve").words
    assert sign_in(visitor, "ada").status == 303
    assert me(visitor) == "ada"
    assert "signed in with a password, past single sign-on" in visitor.get("/events").words


def test_a_named_admin_gets_in_while_the_provider_is_away(app, provider, ada, visitor):
    change_settings(
        app,
        oidc_issuer="http://127.0.0.1:9",
        password_sign_in=False,
        break_glass_admins=("ada",),
    )
    page = visitor.get("/sign-in/provider")
    assert page.status == 503
    assert page.answer.headers["Retry-After"]
    assert "can’t be read: no connection. Nothing has changed." in page.words
    assert sign_in(visitor, "ada", PASSWORD).status == 303


def test_a_provider_that_redirects_what_it_says_of_itself_is_not_followed(
    app, provider, visitor, told
):
    address = told()["address"].rstrip("/")
    change_settings(app, oidc_issuer=address)
    page = visitor.get("/sign-in/provider")
    assert page.status == 503
    assert "configuration redirects to http://elsewhere.example/." in page.words


def test_people_without_a_password_sign_in_there_again_before_what_is_sensitive(
    app, provider, visitor, people, admin
):
    change_settings(app, **ALL)
    go_there(visitor, There(), "kim")
    people.promote(people.named("kim"), "Admin")
    let_time_pass(app)
    page = visitor.post("/users/new", {"username": "new-one", "root_role": "3"})
    assert page.status == 401
    assert page.h1 == "Confirm your identity"
    assert people.named("new-one") is None
    page = go_there(visitor, There(), "kim", page.links["Sign in with Example Org"])
    page = visitor.follow(page)
    assert page.messages[0] == "Your identity is confirmed. Check the form and send it again."
    assert page.fields()["username"] == "new-one"
    assert visitor.submit(page).status == 200
    assert people.named("new-one")


def test_confirming_as_someone_else_or_without_asking_proves_nothing(
    app, provider, visitor, people
):
    change_settings(app, **ALL)
    provider.tell({"kim": KIM, "eve": KIM | {"preferred_username": "eve", "email": "eve@x.org"}})
    there = There()
    go_there(visitor, there, "kim")
    people.promote(people.named("kim"), "Admin")
    let_time_pass(app)
    page = go_there(visitor, There(), "eve", "/sign-in/confirm?next=/users")
    assert "as someone else" in page.words
    away = visitor.client.get("/sign-in/confirm?next=/users").headers["Location"]
    silent = re.sub("&?(prompt=login|max_age=0)", "", away)
    assert "did not ask who you are" in visitor.get(there.sign_in(silent, "kim")).words
    assert visitor.post("/users/new", {"username": "x", "root_role": "3"}).status == 401


def test_people_without_a_password_are_not_offered_to_change_it(app, provider, ada, visitor):
    change_settings(app, **ALL)
    go_there(visitor, There(), "kim")
    page = visitor.get("/account")
    assert "Change password" not in page.links
    assert "/account/single-sign-on" in page.links.values()
    assert "Set up two-step sign-in" not in visitor.get("/account/security").links
    sign_in(visitor, "ada")
    security = visitor.get("/account/security")
    assert {"Change password", "Set up two-step sign-in"} <= security.links.keys()


def test_an_account_with_a_password_is_linked_by_its_owner(app, provider, ada, visitor):
    sign_in(visitor, "ada")
    page = visitor.get("/account/single-sign-on")
    page = visitor.follow(
        go_there(visitor, There(), "kim", page.links["Sign in with Example Org to link it…"])
    )
    assert "You signed in with Example Org as kim." in page.words
    page = visitor.follow(visitor.submit(page))
    assert page.messages == ["Linked. You can sign in with Example Org from now on."]
    other = Browser(app)
    go_there(other, There(), "kim")
    assert me(other) == "ada"


def test_an_admin_unlinks_what_was_linked_wrongly(app, provider, browser, people):
    change_settings(app, **ALL)
    kim = Browser(app)
    go_there(kim, There(), "kim")
    page = browser.get(f"/users/{people.named('kim')}")
    page = browser.follow(browser.submit(page, form="unlink"))
    assert me(kim) == ""
    assert "linked to the" not in page.words


def test_an_admin_sees_the_settings_without_secrets_and_tests_the_connection(
    app, provider, browser
):
    change_settings(app, trusted_proxy=(ip_network("127.0.0.0/8"),))
    page = browser.get("/single-sign-on")
    assert "FLAGSTAFF_TRUSTED_PROXY 127.0.0.0/8" in page.words
    assert provider.issuer in page.words
    assert "a-secret" not in page.text
    assert "http://127.0.0.1:4242/sign-in/callback" in page.words
    page = browser.get(page.links["Test the connection"])
    assert "The provider answers" in page.words
    assert "It publishes 1 key to sign with." in page.words
    assert "Problem" not in page.words
    change_settings(app, oidc_issuer="http://127.0.0.1:9")
    assert "Problem http://127.0.0.1:9" in browser.get("/single-sign-on?test=1").words


def test_an_admin_tries_a_sign_in_and_nothing_changes(app, provider, browser, admin, people):
    group(admin, rootRole=2)
    page = go_there(browser, There(), "kim", "/single-sign-on/try")
    assert "They can’t sign in. There is no account for kim here." in page.words
    assert "Editor everywhere" in page.words
    assert people.named("kim") is None
    change_settings(app, **ALL)
    page = go_there(browser, There(), "kim", "/single-sign-on/try")
    assert "They get a new account." in page.words
    assert people.named("kim") is None


def test_without_a_provider_an_admin_has_what_to_send_to_the_operator(browser):
    [text] = [text_of(block) for block in browser.get("/single-sign-on").select(".code")]
    assert "FLAGSTAFF_OIDC_ISSUER=" in text
    assert "http://127.0.0.1:4242/sign-in/callback" in text
