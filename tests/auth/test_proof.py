"""What a stranger at somebody's open browser must not do asks for the password first."""

from datetime import timedelta

import pytest
import sqlalchemy as sa
from flask import Flask

from app.accounts.models import Account
from app.core.db import db, unit_of_work, utcnow
from app.sessions.models import Session
from app.tokens.models import Token
from tests.auth.test_sign_in import PASSWORD, ada, sign_in
from tests.browser import Browser, Page
from tests.clients import ApiClient, error_of
from tests.people import People

__all__ = ["ada"]  # a fixture

CONFIRM = "Confirm that it is you"
EVE = {"username": "eve", "email": "", "name": "Eve", "root_role": "3"}
BOT = {"username": "bot", "name": "Bot", "root_role": "3"}


@pytest.fixture
def inside(app: Flask, ada: int) -> Browser:
    """A browser in which ada has signed in with her password."""
    browser = Browser(app)
    assert sign_in(browser, "ada").status == 303
    return browser


def let_time_pass(app: Flask, **span: float) -> None:
    """Let the password have been given so long ago in every session."""
    with app.app_context(), unit_of_work(writes=True):
        at = utcnow() - timedelta(**span or {"minutes": 6})
        db.session.execute(sa.update(Session).values(proved_at=at))


def everything(app: Flask) -> list[object]:
    """What accounts and tokens there are, and what they are."""
    with app.app_context():
        told = [
            (a.id, a.username, a.role, a.deleted_at)
            for a in db.session.scalars(sa.select(Account).order_by(Account.id))
        ]
        return [told, list(db.session.scalars(sa.select(Token.id).order_by(Token.id)))]


def is_in_use(app: Flask, people: People) -> dict[str, object]:
    """The ids of a person and a service account with a token, to do things to."""
    person = people.person("someone", away_days=300)
    bot = people.service_account("robot")
    people.token(bot)
    with app.app_context():
        token = db.session.scalar(sa.select(Token.id).where(Token.account_id == bot))
    return {"person": person, "bot": bot, "token": token}


def send(browser: Browser, path: str, fields: dict[str, str]) -> Page:
    """Fill in the form at the path, or send one that is made elsewhere."""
    page = browser.get(path)
    if page.status == 200:
        return browser.submit(page, fields, form=path)
    return browser.post(path, fields)


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
    ("/account/tokens/new", {"description": "laptop", "lasts": "90"}),
]


@pytest.mark.parametrize(("path", "fields"), ACTS)
def test_nothing_is_done_until_the_password_was_given_again(app, people, inside, path, fields):
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


def test_a_new_link_for_a_password_is_made_for_nobody_but_who_gives_his_own(app, people, inside):
    id = people.person("someone")
    let_time_pass(app)
    page = inside.post(f"/users/{id}/link", {})
    assert page.h1 == CONFIRM
    assert inside.submit(page, {"confirm_password": PASSWORD}).has("/set-up/")


def test_another_password_does_nothing_but_count(app, inside):
    let_time_pass(app)
    before = everything(app)
    page = inside.post("/users/new", EVE)
    for _ in range(5):
        page = inside.submit(page, {"confirm_password": "another one that is wrong"})
        assert (page.status, page.messages) == (401, ["This is not your password."])
    page = inside.submit(page, {"confirm_password": PASSWORD})
    assert page.status == 401
    assert page.messages[0].startswith("Too many attempts just now")
    assert page.fields()["username"] == "eve"
    assert everything(app) == before


def test_it_is_not_asked_soon_after_signing_in_or_after_it_was_given(app, inside):
    assert inside.post("/users/new", EVE).status == 200
    let_time_pass(app)
    refused = EVE | {"username": "eve"}  # taken by now
    page = inside.post("/users/new", refused)
    page = inside.submit(page, {"confirm_password": PASSWORD})
    assert page.status == 400
    assert page.h1 == "New user"
    assert inside.post("/users/new", EVE | {"username": "other"}).status == 200


def test_it_is_asked_in_each_browser(app, inside):
    other = Browser(app)
    sign_in(other, "ada")
    let_time_pass(app)
    inside.submit(inside.post("/users/new", EVE), {"confirm_password": PASSWORD})
    assert other.post("/users/new", EVE).h1 == CONFIRM


@pytest.mark.parametrize("span", [{"minutes": 6}, {"minutes": -6}])
def test_a_clock_that_was_set_back_does_not_make_it_last_longer(app, inside, span):
    let_time_pass(app, **span)
    assert inside.post("/users/new", EVE).h1 == CONFIRM


def test_a_session_from_before_this_was_asked_is_asked(app, inside):
    with app.app_context(), unit_of_work(writes=True):
        db.session.execute(sa.update(Session).values(proved_at=None))
    assert inside.post("/users/new", EVE).h1 == CONFIRM


def test_what_can_be_mended_is_not_asked_for(app, people, inside):
    id = people.person("eve")
    let_time_pass(app)
    page = inside.get(f"/users/{id}")
    assert inside.submit(page, {"name": "Eve"}).status == 303
    assert inside.submit(inside.get(f"/users/{id}"), {"root_role": "2"}).status == 303


def test_guesses_of_the_present_password_are_slowed_down_as_at_sign_in(app, people, ada, inside):
    wrong = {"old_password": "wrong", "new_password": "five words that nobody guesses"}
    client = ApiClient(app, people.token(ada))
    body = {"oldPassword": "wrong", "newPassword": "five words that nobody guesses"}
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
    assert page.errors[0].startswith("Too many attempts just now")
