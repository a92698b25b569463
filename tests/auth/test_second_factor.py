"""Signing in by two steps: the password, and a code that only its owner's phone can make."""

import re
from base64 import b32encode
from datetime import UTC, datetime, timedelta

import pyotp
import pytest
import segno
import sqlalchemy as sa
import time_machine
from flask import Flask

from app.auth.models import RecoveryCode, SecondFactor
from app.core.db import db, unit_of_work
from tests.auth.test_sign_in import PASSWORD, ada, sign_in
from tests.browser import Browser, Page
from tests.clients import ApiClient
from tests.people import People

__all__ = ["ada"]  # a fixture

START = datetime(2026, 11, 21, 12, tzinfo=UTC)
STEP = timedelta(seconds=30)
WRONG = "This code is not right, or was used already. Try the next one."


class Phone:
    """An authenticator, and the recovery codes that its owner wrote down."""

    def __init__(self, secret: str) -> None:
        self._totp = pyotp.TOTP(secret)
        self.recovery: list[str] = []

    @property
    def code(self) -> str:
        return self._totp.at(datetime.now(UTC))

    @property
    def wrong(self) -> str:
        return f"{(int(self.code) + 1) % 1_000_000:06}"


@pytest.fixture
def clock():
    with time_machine.travel(START, tick=False) as clock:
        yield clock


@pytest.fixture
def inside(app: Flask, ada: int, clock) -> Browser:
    browser = Browser(app)
    assert sign_in(browser, "ada").status == 303
    return browser


@pytest.fixture
def phone(inside: Browser, clock) -> Phone:
    """That of ada, who signs in by two steps from now on; the code she began with is used."""
    page = inside.follow(inside.submit(inside.get("/account/second-step"), form="Set it up"))
    phone = Phone(_shown(page)[0].replace(" ", ""))
    page = inside.submit(page, {"code": phone.code}, form="Turn it on")
    phone.recovery = _shown(page)
    clock.shift(STEP)
    return phone


def _shown(page: Page) -> list[str]:
    [text] = page.root.all("pre")
    return "".join(c for c in text.all("code")[0].children if isinstance(c, str)).split("\n")


def half_way(app: Flask, **more: str) -> tuple[Browser, Page]:
    """A new browser in which ada has given her password."""
    browser = Browser(app)
    page = sign_in(browser, "ada", **more)
    assert (page.status, page.h1) == (200, "Second step")
    return browser, page


def is_in(browser: Browser) -> bool:
    return browser.get("/account").status == 200


def events(app: Flask, people: People, ada: int, type: str) -> list[dict[str, object]]:
    client = ApiClient(app, people.token(ada, "to look"))
    return client.ok("GET", f"/events?type={type}")["events"]


def test_it_is_on_once_a_code_was_given_and_not_before(app, inside, clock):
    page = inside.get("/account/second-step")
    assert page.has("Off")
    page = inside.follow(inside.submit(page, form="Set it up"))
    phone = Phone(_shown(page)[0].replace(" ", ""))
    assert page.root.all("svg")
    assert sign_in(Browser(app), "ada").status == 303
    refused = inside.submit(page, {"code": phone.wrong}, form="Turn it on")
    assert refused.status == 400
    assert refused.errors == [
        "Code: This code is not right. Try the next one; is the phone’s clock right?"
    ]
    page = inside.submit(refused, {"code": phone.code}, form="Turn it on")
    assert page.h1 == "Recovery codes"
    assert len(set(_shown(page))) == 10
    assert inside.get("/account/second-step").has("10 recovery codes left")
    half_way(app)


def test_who_begins_anew_gets_another_secret_and_the_one_before_is_worth_nothing(inside):
    pages = [
        inside.follow(inside.post("/account/second-step")),
        inside.follow(inside.post("/account/second-step")),
    ]
    before, now = (Phone(_shown(page)[0].replace(" ", "")) for page in pages)
    refused = inside.submit(pages[1], {"code": before.code}, form="Turn it on")
    assert refused.status == 400
    assert inside.submit(refused, {"code": now.code}, form="Turn it on").h1 == "Recovery codes"


def test_the_picture_holds_the_secret_and_who_it_is_for_where(inside):
    page = inside.follow(inside.submit(inside.get("/account/second-step"), form="Set it up"))
    totp = pyotp.TOTP(_shown(page)[0].replace(" ", ""))
    address = totp.provisioning_uri(name="ada", issuer_name="Flagstaff")
    drawn = segno.make_qr(address, error="m").svg_inline()
    assert re.search(r' d="[^"]+"', drawn)[0] in page.text


def test_the_password_alone_lets_nobody_in(app, phone):
    browser, page = half_way(app)
    assert not is_in(browser)
    page = browser.submit(page, {"code": phone.wrong})
    assert (page.status, page.messages) == (400, [WRONG])
    assert not is_in(browser)
    page = browser.submit(page, {"code": phone.code})
    assert page.status == 303
    assert is_in(browser)


def test_a_wrong_password_is_told_as_ever_and_says_nothing_of_the_second_step(app, phone):
    page = sign_in(Browser(app), "ada", "another one that is wrong")
    assert page.messages == ["The user name or the password is not right."]


def test_a_code_is_good_once(app, phone):
    first, page = half_way(app)
    assert first.submit(page, {"code": phone.code}).status == 303
    second, page = half_way(app)
    assert second.submit(page, {"code": phone.code}).messages == [WRONG]


@pytest.mark.parametrize(("late", "is_good"), [(-1, True), (1, True), (-3, False), (3, False)])
def test_a_phone_may_be_wrong_by_half_a_minute(app, phone, clock, late, is_good):
    clock.shift(10 * STEP)
    clock.shift(late * STEP)
    code = phone.code
    clock.shift(-late * STEP)
    browser, page = half_way(app)
    assert (browser.submit(page, {"code": code}).status == 303) is is_good


def test_a_recovery_code_lets_in_once(app, people, ada, phone):
    browser, page = half_way(app)
    assert browser.submit(page, {"code": f" {phone.recovery[3].upper()} "}).status == 303
    assert browser.get("/account/second-step").has("9 recovery codes left")
    other, page = half_way(app)
    assert other.submit(page, {"code": phone.recovery[3]}).messages == [WRONG]
    [event] = events(app, people, ada, "recovery-code-used")
    assert event["createdBy"] == "ada"


def test_who_has_used_every_recovery_code_is_told_that_none_is_left(app, inside, phone):
    with app.app_context(), unit_of_work(writes=True):
        db.session.execute(sa.delete(RecoveryCode))
    assert inside.get("/account/second-step").has("0 recovery codes left")


def test_new_recovery_codes_take_the_place_of_the_old(app, inside, phone):
    page = inside.submit(inside.get("/account/second-step"), form="Make new recovery codes")
    new = _shown(page)
    assert set(new).isdisjoint(phone.recovery)
    browser, page = half_way(app)
    assert browser.submit(page, {"code": phone.recovery[0]}).messages == [WRONG]
    assert browser.submit(page, {"code": new[0]}).status == 303


def test_guesses_are_slowed_down(app, phone):
    browser, page = half_way(app)
    for _ in range(5):
        page = browser.submit(page, {"code": phone.wrong})
        assert page.messages == [WRONG]
    page = browser.submit(page, {"code": phone.code})
    assert page.status == 429
    assert page.answer.headers["Retry-After"]
    assert not is_in(browser)


def test_failures_are_told_at_the_next_sign_in(app, phone):
    browser, page = half_way(app)
    page = browser.submit(page, {"code": phone.wrong})
    page = browser.follow(browser.follow(browser.submit(page, {"code": phone.code})))
    assert "1 failed attempt since" in page.messages[0]


def test_where_one_wanted_to_go_and_what_was_typed_outlast_both_steps(app, phone):
    browser, page = half_way(app, next="/projects/new", kept='{"name": ["Night shop"]}')
    page = browser.follow(browser.submit(page, {"code": phone.code}))
    assert page.path.startswith("/projects/new")
    assert page.fields()["name"] == "Night shop"


def test_a_right_password_does_not_wait_for_ever(app, phone, clock):
    browser, page = half_way(app)
    clock.shift(timedelta(minutes=11))
    page = browser.submit(page, {"code": phone.code})
    assert page.status == 400
    assert page.has("begin anew")


@pytest.mark.parametrize("forged", ["", "nonsense", "WzEsICJ4Il0.aR8.abc"])
def test_the_first_step_can_not_be_made_up(app, phone, forged):
    browser, page = half_way(app)
    assert browser.submit(page, {"code": phone.code, "half_way": forged}).status == 400
    assert not is_in(browser)


def test_a_new_password_undoes_the_first_step(app, inside, phone):
    browser, page = half_way(app)
    body = {"old_password": PASSWORD, "new_password": "five words that nobody guesses"}
    assert inside.post("/account/password", body).status == 303
    assert browser.submit(page, {"code": phone.code}).status == 404
    assert not is_in(browser)


def test_a_link_for_a_new_password_does_not_save_the_second_step(app, inside, ada, phone):
    page = inside.submit(inside.get(f"/users/{ada}"), form="/link")
    browser = Browser(app)
    page = browser.get(re.search(r"/set-up/[\w-]+", page.text)[0])
    page = browser.submit(page, {"new_password": "five words that nobody guesses"})
    assert page.h1 == "Second step"
    assert not is_in(browser)
    assert browser.submit(page, {"code": phone.code}).status == 303


def test_who_has_it_can_turn_it_off(app, people, ada, inside, phone):
    page = inside.submit(inside.get("/account/second-step"), form="Turn it off")
    assert inside.follow(page).messages[0].startswith("Two-step sign-in is off")
    assert sign_in(Browser(app), "ada").status == 303
    [event] = events(app, people, ada, "second-factor-turned-off")
    assert event["data"] == {"id": ada, "name": "ada"}
    with app.app_context(), unit_of_work(writes=False):
        for left in (SecondFactor, RecoveryCode):
            assert db.session.scalar(sa.select(sa.func.count()).select_from(left)) == 0


def test_no_code_is_right_any_more_when_it_was_turned_off_meanwhile(app, inside, phone):
    browser, page = half_way(app)
    inside.submit(inside.get("/account/second-step"), form="Turn it off")
    for code in (phone.code, phone.recovery[0]):
        assert browser.submit(page, {"code": code}).messages == [WRONG]
    begun = inside.follow(inside.submit(inside.get("/account/second-step"), form="Set it up"))
    unconfirmed = Phone(_shown(begun)[0].replace(" ", ""))
    assert browser.submit(page, {"code": unconfirmed.code}).messages == [WRONG]
    assert not is_in(browser)


def test_what_is_done_about_it_is_told(app, people, ada, inside, phone):
    inside.submit(inside.get("/account/second-step"), form="Make new recovery codes")
    client = ApiClient(app, people.token(ada))
    for type in ("second-factor-turned-on", "recovery-codes-made"):
        [event] = client.ok("GET", f"/events?type={type}")["events"]
        assert event["data"] == {"id": ada, "name": "ada"}


def test_an_admin_turns_it_off_for_who_lost_his_phone(app, people, ada, phone):
    people.person("boss", role="Admin")
    boss = Browser(app).sign_in("boss")
    page = boss.get(f"/users/{ada}")
    assert page.has("A code is asked for too.")
    page = boss.follow(boss.submit(page, form="/second-step/off"))
    assert page.messages == ["Two-step sign-in of ada is off."]
    assert sign_in(Browser(app), "ada").status == 303
    page = boss.post(f"/users/{ada}/second-step/off")
    assert page.status == 409
    assert page.has("Two-step sign-in of ada is off already.")


def test_it_is_of_no_use_to_who_has_the_database_alone(app, phone):
    with app.app_context():
        factor = db.session.scalars(sa.select(SecondFactor)).one()
        digests = list(db.session.scalars(sa.select(RecoveryCode.digest)))
        held = pyotp.TOTP(b32encode(factor.salt).decode()).at(datetime.now(UTC))
    assert held != phone.code
    assert all(len(digest) == 32 for digest in digests)
    assert not {code.replace("-", "").upper().encode() for code in phone.recovery} & set(digests)


def test_what_is_off_has_nothing_to_recover(inside):
    page = inside.post("/account/second-step/codes")
    assert page.status == 409
    assert page.has("Two-step sign-in is off, so there is nothing to recover.")


def test_what_is_on_is_not_set_up_once_more(inside, phone):
    page = inside.post("/account/second-step")
    assert page.status == 409
    assert page.has("Two-step sign-in is on already; turn it off to set it up anew.")
    page = inside.post("/account/second-step/confirm", {"code": phone.code})
    assert page.has("10 recovery codes left")
