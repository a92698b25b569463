"""Actions that someone at another person's open browser must not do ask for the password."""

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts.models import Account
from app.accounts.sessions.models import Session
from app.accounts.tokens.models import Token
from app.catalogue.sdk_tokens import service as sdk_tokens
from app.catalogue.sdk_tokens.models import SdkToken, SdkTokenType
from app.core.actor import COMMAND_LINE
from app.core.db import db, unit_of_work
from app.delivery.webhooks import service as webhooks
from app.delivery.webhooks.models import Webhook
from tests.support.browser import Browser, Page
from tests.support.clients import ApiClient, error_of
from tests.support.people import PASSWORD, People
from tests.support.security_log import Log, facts
from tests.support.sign_in import let_time_pass, sign_in

CONFIRM = "Confirm your identity"
EVE = {"username": "eve", "email": "", "name": "Eve", "root_role": "3"}
BOT = {"username": "bot", "name": "Bot", "root_role": "3"}


@pytest.fixture
def inside(app: Flask, ada: int) -> Browser:
    """A browser in which ada has signed in with a password."""
    browser = Browser(app)
    assert sign_in(browser, "ada").status == 303
    return browser


def everything(app: Flask) -> list[object]:
    """What accounts and tokens there are, and what they are."""
    with app.app_context():
        told = [
            (a.id, a.username, a.role, a.deleted_at)
            for a in db.session.scalars(sa.select(Account).order_by(Account.id))
        ]
        ids = (db.session.scalars(sa.select(kind.id)).all() for kind in (Token, SdkToken))
        hooks = db.session.execute(sa.select(Webhook.url, Webhook.hint)).all()
        return [told, *(sorted(found) for found in ids), sorted(map(tuple, hooks))]


def is_in_use(app: Flask, people: People) -> dict[str, object]:
    """The ids of a person and a service account with a token, to do things to."""
    person = people.person("someone", away_days=300)
    bot = people.service_account("robot")
    people.token(bot)
    with app.app_context():
        token = db.session.scalar(sa.select(Token.id).where(Token.account_id == bot))
    sdk = issue_sdk_token(app)
    with app.app_context(), unit_of_work(writes=True):
        allowed = webhooks.Allowed.by(app.config["SETTINGS"])
        place = {"name": "old", "url": "https://hooks.example/"}
        hook = webhooks.create(COMMAND_LINE, key="k", allowed=allowed, **place).webhook.id
    return {"person": person, "bot": bot, "token": token, "sdk": sdk, "hook": hook}


def issue_sdk_token(app: Flask) -> int:
    with app.app_context(), unit_of_work(writes=True):
        issued = sdk_tokens.create(
            COMMAND_LINE, token_name="web", type=SdkTokenType.CLIENT, environment="production"
        )
        return issued.token.id


def send(browser: Browser, path: str, fields: dict[str, str]) -> Page:
    """Fill in the form at the path, or send one that is made elsewhere."""
    page = browser.get(path)
    if page.status == 200:
        return browser.submit(page, fields, form=path)
    return browser.post(path, fields)


HOOK = {
    "name": "new",
    "url": "https://hooks.example/",
    "event_types": "feature-created",
    "projects": "*",
}
ACTS = [
    ("/users/new", EVE),
    ("/users/{person}/delete", {}),
    ("/users/{person}", EVE | {"root_role": "1"}),
    ("/users/inactive/delete", {"id": "{person}"}),
    ("/service-accounts/new", BOT | {"token": "ci"}),
    ("/service-accounts/{bot}", BOT | {"root_role": "1"}),
    ("/service-accounts/{bot}/tokens/new", {"description": "ci", "lasts": "90"}),
    ("/service-accounts/{bot}/tokens/{token}/rotate", {"hours": "24"}),
    ("/service-accounts/{bot}/delete", {"typed": "robot"}),
    ("/connect", {"token_name": "ci", "environment": "production", "projects": "*"}),
    ("/sdk-tokens/{sdk}/rotate", {"overlap_hours": "24"}),
    ("/new-webhook", HOOK),
    ("/webhooks/{hook}/edit", {"url": "https://hooks.example/other"}),
    ("/webhooks/{hook}/rotate", {}),
    ("/account/tokens/new", {"description": "laptop", "lasts": "90"}),
]


@pytest.mark.parametrize(("path", "fields"), ACTS)
def test_nothing_happens_until_the_password_is_entered_again(app, people, inside, path, fields):
    ids = is_in_use(app, people)
    path = path.format(**ids)
    fields = {name: value.format(**ids) for name, value in fields.items()}
    let_time_pass(app)
    before = everything(app)
    page = send(inside, path, fields)
    assert (page.status, page.h1) == (401, CONFIRM)
    assert everything(app) == before
    assert fields.items() <= page.fields().items()
    page = inside.submit(page, {"confirm_password": PASSWORD})
    assert page.status in {200, 303}, page.words
    assert everything(app) != before


def test_a_link_to_set_a_password_requires_your_own_password(app, people, inside):
    id = people.person("someone")
    let_time_pass(app)
    page = inside.post(f"/users/{id}/link", {})
    assert page.h1 == CONFIRM
    assert inside.submit(page, {"confirm_password": PASSWORD}).has("/set-up/")


def test_a_wrong_password_does_nothing_but_count(app, inside):
    let_time_pass(app)
    before = everything(app)
    page = inside.post("/users/new", EVE)
    for _ in range(5):
        page = inside.submit(page, {"confirm_password": "another one that is wrong"})
        assert (page.status, page.messages) == (401, ["This is not your password."])
    page = inside.submit(page, {"confirm_password": PASSWORD})
    assert page.status == 401
    assert page.messages[0].startswith("Too many attempts. Try again in")
    assert page.fields()["username"] == "eve"
    assert everything(app) == before


def test_the_password_is_not_asked_again_for_five_minutes(app, inside):
    assert inside.post("/users/new", EVE).status == 200
    let_time_pass(app)
    page = inside.post("/users/new", EVE | {"username": "other"})
    assert inside.submit(page, {"confirm_password": PASSWORD}).status == 200
    assert inside.post("/users/new", EVE | {"username": "third"}).status == 200


@pytest.mark.parametrize("wrong", [{"username": "ada"}, {"username": ""}])
def test_a_wrong_form_is_refused_before_the_password_is_asked_for(app, inside, wrong):
    let_time_pass(app)
    page = inside.post("/users/new", EVE | wrong)
    assert (page.status, page.h1) == (400, "New user")
    assert page.errors


def test_the_page_says_what_is_confirmed_and_leads_back(app, people, inside):
    id = people.person("someone")
    let_time_pass(app)
    page = send(inside, f"/users/{id}/delete", {})
    assert page.has("to delete user someone")
    back = inside.get(page.links["Cancel"])
    assert back.path == f"/users/{id}/delete"
    assert not back.messages


def test_the_password_is_asked_in_each_browser(app, inside):
    other = Browser(app)
    sign_in(other, "ada")
    let_time_pass(app)
    inside.submit(inside.post("/users/new", EVE), {"confirm_password": PASSWORD})
    assert other.post("/users/new", EVE | {"username": "other"}).h1 == CONFIRM


@pytest.mark.parametrize("span", [{"minutes": 6}, {"minutes": -6}])
def test_setting_the_clock_back_does_not_extend_the_five_minutes(app, inside, span):
    let_time_pass(app, **span)
    assert inside.post("/users/new", EVE).h1 == CONFIRM


def test_a_session_from_an_older_version_is_asked(app, inside):
    with app.app_context(), unit_of_work(writes=True):
        db.session.execute(sa.update(Session).values(proved_at=None))
    assert inside.post("/users/new", EVE).h1 == CONFIRM


def test_actions_that_can_be_undone_do_not_ask(app, people, inside):
    id = people.person("eve")
    let_time_pass(app)
    page = inside.get(f"/users/{id}")
    assert inside.submit(page, {"name": "Eve"}).status == 303
    assert inside.submit(inside.get(f"/users/{id}"), {"root_role": "2"}).status == 303


def test_guesses_of_the_current_password_are_slowed_down_as_at_sign_in(app, people, ada, inside):
    wrong = {"old_password": "wrong", "new_password": "five words that no one guesses"}
    client = ApiClient(app, people.token(ada))
    body = {"oldPassword": "wrong", "newPassword": "five words that no one guesses"}
    for _ in range(3):
        assert inside.post("/account/password", wrong).status == 400
        answer = client.post("/user/change-password", json=body)
        if answer.status_code == 429:
            break
        assert error_of(answer) == (400, "ValidationError")
    right = body | {"oldPassword": PASSWORD}
    answer = client.post("/user/change-password", json=right)
    assert error_of(answer) == (429, "RateLimitError")
    assert answer.headers["Retry-After"]
    page = inside.post("/account/password", wrong | {"old_password": PASSWORD})
    assert page.status == 400
    assert page.errors[0].startswith("Too many attempts. Try again in")


def test_a_wrong_password_is_in_the_security_log(app, inside, log: Log):
    let_time_pass(app)
    inside.post("/account/tokens/new", {"description": "x", "confirm_password": "wrong"})
    assert facts(log("password-refused")[0]) == ("ada", "127.0.0.1", None, 1)
    assert log("sign-in-failed") == []
