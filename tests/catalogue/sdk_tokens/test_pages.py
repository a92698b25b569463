"""The pages of SDK tokens: connecting an application, the list, rotation and revocation."""

import re
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.catalogue.sdk_tokens.models import SdkToken
from app.catalogue.usage import sdks
from app.core.clock import utcnow
from app.core.db import db, unit_of_work
from tests.support.browser import Browser
from tests.support.sdks import NEW, Sdk

LIST, CONNECT = "/sdk-tokens", "/connect"
TOKEN = re.compile(r"\S+:\w+\.fst_sdk_[0-9A-Za-z]{49}")
ASKED = {"token_name": "web-shop", "environment": "production", "projects": ["*"]}


@pytest.fixture
def shop(admin):
    for id in ("shop", "blog"):
        admin.ok("POST", "/projects", {"id": id, "name": id.capitalize()})


@pytest.fixture
def owner(app, people, shop):
    """A browser in which an Owner of the project shop is signed in."""
    people.member("olga", "shop", "Owner")
    return Browser(app).sign_in("olga")


def secret_of(page):
    [secret] = set(TOKEN.findall(page.words))
    return secret


def connect(browser, path=CONNECT, **asked):
    return browser.submit(browser.get(path), ASKED | asked, form=path)


def use(app, id):
    """As if an application had asked for features a second ago."""
    with app.app_context(), unit_of_work(writes=True):
        at = utcnow() - timedelta(seconds=1)
        db.session.execute(sa.update(SdkToken).where(SdkToken.id == id).values(last_seen_at=at))


# Connecting


def test_three_answers_and_a_name_give_a_token_that_reads(app, browser, admin, shop):
    page = connect(browser, projects=["shop", "blog"])
    assert page.has("Token for web-shop in production")
    assert page.has("Server token. Reads projects blog and shop.")
    secret = secret_of(page)
    assert secret.startswith("[]:production.")
    assert Sdk(app, secret).get().status_code == 200
    [token] = admin.ok("GET", "/api-tokens")["tokens"]
    assert (token["tokenName"], token["projects"]) == ("web-shop", ["blog", "shop"])


def test_the_token_is_shown_once(browser):
    secret = secret_of(connect(browser))
    for path in (LIST, "/sdk-tokens/1/contact", "/events"):
        assert secret.partition(".")[2] not in browser.get(path).text


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"token_name": ""}, "Application name"),
        ({"environment": ""}, "Environment: Choose an environment"),
        ({"projects": []}, "Projects: Choose at least one project, or all projects"),
    ],
)
def test_an_answer_that_is_missing_is_an_error_at_its_question(browser, admin, asked, error):
    page = connect(browser, **asked)
    assert page.status == 400
    assert len(page.errors) == 1
    assert page.errors[0].startswith(error)
    assert admin.ok("GET", "/api-tokens")["total"] == 0


def test_an_application_has_a_token_for_each_environment(browser, admin):
    connect(browser)
    page = connect(browser, environment="development")
    assert page.has('appName: "web-shop"')
    names = [token["tokenName"] for token in admin.ok("GET", "/api-tokens")["tokens"]]
    assert sorted(names) == ["web-shop", "web-shop development"]
    for environment in ("development", "production"):
        [error] = connect(browser, environment=environment).errors
        assert f"web-shop already has a token in {environment}. Rotate it" in error


def test_what_there_is_no_choice_of_is_chosen_already(browser, admin):
    page = browser.get("/connect")
    assert page.fields(0)["environment"] == "development"
    assert page.fields(0)["projects"] == "default"
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    assert "projects" not in browser.get("/connect").fields(0)


def test_the_code_asks_for_the_newest_feature_that_it_can_read(browser, admin):
    for id in ("blog", "shop"):
        admin.ok("POST", "/projects", {"id": id, "name": id})
    assert connect(browser, projects=["blog"]).has('isEnabled("my-feature"')
    for name, id in (("posts", "blog"), ("cart", "shop")):
        admin.ok("POST", f"/projects/{id}/features", {"name": name})
    page = connect(browser, token_name="reader", projects=["blog"])
    assert page.has('isEnabled("posts"')
    page = connect(browser, token_name="all", projects=["*"])
    assert page.has('isEnabled("cart"')


def test_the_page_has_code_for_each_language(browser):
    page = connect(browser)
    for language in ("Node.js", "Python", "Java", "Go", ".NET", "Ruby", "curl"):
        assert page.has(language)


def test_the_code_has_the_name_without_what_would_end_a_text(browser):
    page = connect(browser, token_name='shop"; #{exit} 🚀')
    assert page.has('appName: "shop-exit"')


def test_a_page_says_whether_the_token_was_used(app, browser):
    page = connect(browser)
    address = page.links["Check now"]
    waiting = browser.get(address)
    assert waiting.has("Waiting for the first contact")
    assert waiting.links["Check again"] == address
    use(app, 1)
    assert browser.get(address).has("web-shop is connected. Last contact")


# The list


def test_the_list_has_what_each_token_reads_and_its_end(browser, admin, shop):
    made = admin.ok("POST", "/api-tokens", NEW | {"projects": ["shop"]})
    page = browser.get(LIST)
    assert page.has(f"web Server ends in {made['secret'][-4:]}")
    assert page.has("production Project shop No one Never Never")
    assert not browser.get(f"{LIST}?text=nothing").has("shop:production")


def test_the_list_is_filtered_and_says_by_what(browser, admin):
    for name, type in (("web", "client"), ("site", "frontend")):
        admin.ok("POST", "/api-tokens", NEW | {"tokenName": name, "type": type})
    page = browser.get("/sdk-tokens?type=frontend&environment=production")
    assert page.has("1 token matches")
    assert page.has("Kind: Browser")
    assert page.has("Environment: production")
    assert browser.get("/sdk-tokens?state=expiring").has("No SDK token matches")


def test_an_empty_list_leads_to_connecting(browser):
    page = browser.get(LIST)
    assert page.has("No SDK tokens yet")
    assert page.links["Connect an application"] == CONNECT


def test_rotation_shows_the_new_token_and_keeps_the_old_one(app, browser):
    old = Sdk(app, secret_of(connect(browser)))
    page = browser.get(f"{LIST}/1/rotate")
    assert page.has("It reads all projects in production.")
    done = browser.submit(page, form=f"{LIST}/1/rotate")
    new = Sdk(app, secret_of(done))
    assert (old.get().status_code, new.get().status_code) == (200, 200)


def test_revoking_is_reviewed_and_then_stops_the_token(app, browser):
    sdk = Sdk(app, secret_of(connect(browser)))
    page = browser.get(f"{LIST}/1/revoke")
    assert page.has("The token will stop working immediately, for good. It was never used.")
    assert sdk.get().status_code == 200
    done = browser.follow(browser.submit(page, form=f"{LIST}/1/revoke"))
    assert "SDK token web-shop revoked. It no longer works." in done.messages
    assert sdk.get().status_code == 401


# In a project


def test_owners_connect_applications_to_their_project(app, owner, admin):
    settings = owner.get("/projects/shop/settings")
    page = owner.get(settings.links["Tokens of this project"])
    path = page.links["Connect an application"]
    done = connect(owner, path, projects=[])
    assert secret_of(done).startswith("shop:production.")
    assert owner.get(done.links["Check now"]).has("Waiting for the first contact")
    assert owner.get(done.links["Done"]).has("web-shop Server ends in")


def test_owners_see_and_change_the_tokens_of_their_project_alone(owner, admin):
    for number, projects in enumerate((["shop"], ["blog"], ["shop", "blog"], ["*"]), start=1):
        admin.ok("POST", "/api-tokens", NEW | {"tokenName": f"t{number}", "projects": projects})
    path = "/projects/shop/sdk-tokens"
    page = owner.get(path)
    assert page.has("1 token")
    assert page.has("t1 Server")
    for number in (2, 3, 4):
        for act in ("rotate", "revoke", "contact"):
            assert owner.get(f"{path}/{number}/{act}").status == 404
    assert owner.submit(owner.get(f"{path}/1/rotate"), form=f"{path}/1/rotate").status == 200
    assert owner.submit(owner.get(f"{path}/1/revoke"), form=f"{path}/1/revoke").status == 303


def test_an_archived_project_gets_no_new_tokens(browser, admin, shop):
    admin.ok("DELETE", "/projects/shop")
    assert "Connect an application" not in browser.get("/projects/shop/sdk-tokens").links
    page = connect(browser, "/projects/shop/connect", projects=[])
    assert page.status == 400
    assert page.has("Project shop is archived.")


def test_members_find_no_link_to_tokens(app, people, shop):
    people.member("mia", "shop")
    page = Browser(app).sign_in("mia").get("/projects/shop/settings")
    assert "Tokens of this project" not in page.links


# Is this ours?


def test_a_leaked_sdk_token_is_recognized_and_leads_to_its_revocation(app, browser):
    secret = secret_of(connect(browser))
    path = "/service-accounts/find-token"
    page = browser.submit(browser.get(path), {"secret": secret}, form=path)
    assert page.has("This is SDK token “web-shop”")
    assert page.has("Applications read all projects in production with it.")
    assert browser.get(page.links["Revoke…"]).h1 == "Revoke web-shop"
    assert browser.get("/security-log").has("SDK token 1 for production")


# Code


def test_the_go_code_is_for_the_newest_major_version_that_is_known(browser):
    newest = sdks.Sdk("unleash-go-sdk:1.0.0").newest
    assert browser.get("/help/connect").has(f"go get github.com/Unleash/unleash-go-sdk/v{newest} ")


@pytest.mark.parametrize(
    ("place", "type", "codes"),
    [
        ("server", "client", ["unleash-client", "UnleashClient"]),
        ("browser", "frontend", ["unleash-proxy-client", "@openfeature/ofrep-web-provider"]),
        ("openfeature", "client", ["@openfeature/ofrep-provider", "openfeature-provider-ofrep"]),
    ],
)
def test_an_application_gets_the_token_and_the_code_for_where_it_runs(
    browser, admin, place, type, codes
):
    page = connect(browser, place=place)
    [token] = admin.ok("GET", "/api-tokens")["tokens"]
    assert token["type"] == type
    assert all(page.has(code) for code in codes)
    [secret] = {code.text() for code in page.select(".secret code")}
    in_code = any(secret in code.text() for code in page.select("figure.code"))
    assert in_code is (place == "browser")
