"""Two-step sign-in: the password, and a code from the owner's phone."""

import re
from base64 import b32encode
from datetime import UTC, datetime, timedelta

import pyotp
import pytest
import segno
import sqlalchemy as sa
import time_machine
from flask import Flask

from app.access.auth.models import RecoveryCode, SecondFactor
from app.core.db import db, unit_of_work
from tests.support.browser import Browser, Page
from tests.support.clients import ApiClient
from tests.support.people import PASSWORD, People
from tests.support.security_log import Log, facts
from tests.support.sign_in import sign_in

pytestmark = pytest.mark.slow

START = datetime(2026, 11, 21, 12, tzinfo=UTC)
STEP = timedelta(seconds=30)
WRONG = "This code is wrong or was already used. Enter the next one."


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
    """That of ada, who uses two-step sign-in from now on; the first code is used."""
    page = inside.follow(
        inside.submit(inside.get("/account/second-step"), form="Set up two-step sign-in")
    )
    phone = Phone(_shown(page)[0].replace(" ", ""))
    page = inside.submit(page, {"code": phone.code}, form="Turn on")
    phone.recovery = _shown(page)
    clock.shift(STEP)
    return phone


def _shown(page: Page) -> list[str]:
    [text] = page.select("pre")
    return text.css("code")[0].text().split("\n")


def half_way(app: Flask, **more: str) -> tuple[Browser, Page]:
    """A new browser in which ada has entered the password."""
    browser = Browser(app)
    page = sign_in(browser, "ada", **more)
    assert (page.status, page.h1) == (200, "Enter your code")
    return browser, page


def is_in(browser: Browser) -> bool:
    return browser.get("/account").status == 200


def events(app: Flask, people: People, ada: int, type: str) -> list[dict[str, object]]:
    client = ApiClient(app, people.token(ada, "to look"))
    return client.ok("GET", f"/events?type={type}")["events"]


def test_two_step_sign_in_starts_with_the_first_correct_code(app, inside, clock):
    page = inside.get("/account/second-step")
    assert page.has("Off")
    page = inside.follow(inside.submit(page, form="Set up two-step sign-in"))
    phone = Phone(_shown(page)[0].replace(" ", ""))
    assert page.select("svg")
    assert sign_in(Browser(app), "ada").status == 303
    refused = inside.submit(page, {"code": phone.wrong}, form="Turn on")
    assert refused.status == 400
    assert refused.errors == [
        "Code: This code is wrong. Enter the next one, and check your phone’s clock."
    ]
    page = inside.submit(refused, {"code": phone.code}, form="Turn on")
    assert page.h1 == "Recovery codes"
    assert len(set(_shown(page))) == 10
    assert inside.get("/account/second-step").has("10 recovery codes left")
    half_way(app)


def test_starting_again_gives_a_new_secret_and_invalidates_the_old_one(inside):
    pages = [
        inside.follow(inside.post("/account/second-step")),
        inside.follow(inside.post("/account/second-step")),
    ]
    before, now = (Phone(_shown(page)[0].replace(" ", "")) for page in pages)
    refused = inside.submit(pages[1], {"code": before.code}, form="Turn on")
    assert refused.status == 400
    assert inside.submit(refused, {"code": now.code}, form="Turn on").h1 == "Recovery codes"


def test_the_qr_code_contains_the_secret_the_name_and_the_issuer(inside):
    page = inside.follow(
        inside.submit(inside.get("/account/second-step"), form="Set up two-step sign-in")
    )
    totp = pyotp.TOTP(_shown(page)[0].replace(" ", ""))
    address = totp.provisioning_uri(name="ada", issuer_name="Flagstaff")
    drawn = segno.make_qr(address, error="m").svg_inline()
    assert re.search(r' d="[^"]+"', drawn)[0] in page.text


def test_the_password_alone_is_not_enough(app, phone):
    browser, page = half_way(app)
    assert not is_in(browser)
    page = browser.submit(page, {"code": phone.wrong})
    assert (page.status, page.messages) == (400, [WRONG])
    assert not is_in(browser)
    page = browser.submit(page, {"code": phone.code})
    assert page.status == 303
    assert is_in(browser)


def test_a_wrong_password_does_not_reveal_the_second_step(app, phone):
    page = sign_in(Browser(app), "ada", "another one that is wrong")
    assert page.messages == ["Wrong user name or password."]


def test_a_code_works_once(app, phone):
    first, page = half_way(app)
    assert first.submit(page, {"code": phone.code}).status == 303
    second, page = half_way(app)
    assert second.submit(page, {"code": phone.code}).messages == [WRONG]


@pytest.mark.parametrize(("late", "is_good"), [(-1, True), (1, True), (-3, False), (3, False)])
def test_a_phones_clock_can_be_off_by_half_a_minute(app, phone, clock, late, is_good):
    clock.shift(10 * STEP)
    clock.shift(late * STEP)
    code = phone.code
    clock.shift(-late * STEP)
    browser, page = half_way(app)
    assert (browser.submit(page, {"code": code}).status == 303) is is_good


def test_a_recovery_code_works_once(app, people, ada, phone):
    browser, page = half_way(app)
    assert browser.submit(page, {"code": f" {phone.recovery[3].upper()} "}).status == 303
    assert browser.get("/account/second-step").has("9 recovery codes left")
    other, page = half_way(app)
    assert other.submit(page, {"code": phone.recovery[3]}).messages == [WRONG]
    [event] = events(app, people, ada, "recovery-code-used")
    assert event["createdBy"] == "ada"


def test_the_page_says_when_no_recovery_code_is_left(app, inside, phone):
    with app.app_context(), unit_of_work(writes=True):
        db.session.execute(sa.delete(RecoveryCode))
    assert inside.get("/account/second-step").has("0 recovery codes left")


def test_new_recovery_codes_replace_the_old_ones(app, inside, phone):
    page = inside.submit(inside.get("/account/second-step"), form="Create new recovery codes")
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


def test_failures_are_shown_at_the_next_sign_in(app, phone):
    browser, page = half_way(app)
    page = browser.submit(page, {"code": phone.wrong})
    page = browser.follow(browser.submit(page, {"code": phone.code}))
    assert "1 failed attempt since" in page.messages[0]


def test_the_target_and_what_was_typed_survive_both_steps(app, phone):
    browser, page = half_way(app, next="/new-project", kept='{"name": ["Night shop"]}')
    page = browser.follow(browser.submit(page, {"code": phone.code}))
    assert page.path.startswith("/new-project")
    assert page.fields()["name"] == "Night shop"


def test_a_correct_password_waits_ten_minutes_for_its_code(app, phone, clock):
    browser, page = half_way(app)
    clock.shift(timedelta(minutes=11))
    page = browser.submit(page, {"code": phone.code})
    assert page.status == 400
    assert page.has("You took too long to sign in. Start again.")


@pytest.mark.parametrize("forged", ["", "nonsense", "WzEsICJ4Il0.aR8.abc"])
def test_the_first_step_can_not_be_forged(app, phone, forged):
    browser, page = half_way(app)
    assert browser.submit(page, {"code": phone.code, "pending": forged}).status == 400
    assert not is_in(browser)


def test_a_new_password_invalidates_the_first_step(app, inside, phone):
    browser, page = half_way(app)
    body = {"old_password": PASSWORD, "new_password": "five words that no one guesses"}
    assert inside.post("/account/password", body).status == 303
    assert browser.submit(page, {"code": phone.code}).status == 404
    assert not is_in(browser)


def test_a_link_to_set_a_password_does_not_skip_the_second_step(app, inside, ada, phone):
    page = inside.submit(inside.get(f"/users/{ada}/link"))
    browser = Browser(app)
    page = browser.get(re.search(r"/set-up/[\w-]+", page.text)[0])
    page = browser.submit(page, {"new_password": "five words that no one guesses"})
    assert page.h1 == "Enter your code"
    assert not is_in(browser)
    assert browser.submit(page, {"code": phone.code}).status == 303


def test_two_step_sign_in_can_be_turned_off(app, people, ada, inside, phone):
    page = inside.submit(inside.get("/account/second-step"), form="Turn off")
    assert inside.follow(page).messages[0].startswith("Two-step sign-in turned off")
    assert sign_in(Browser(app), "ada").status == 303
    [event] = events(app, people, ada, "second-factor-turned-off")
    assert event["data"] == {"id": ada, "name": "ada"}
    with app.app_context(), unit_of_work(writes=False):
        for left in (SecondFactor, RecoveryCode):
            assert db.session.scalar(sa.select(sa.func.count()).select_from(left)) == 0


def test_no_code_works_after_two_step_sign_in_was_turned_off(app, inside, phone):
    browser, page = half_way(app)
    inside.submit(inside.get("/account/second-step"), form="Turn off")
    for code in (phone.code, phone.recovery[0]):
        assert browser.submit(page, {"code": code}).messages == [WRONG]
    begun = inside.follow(
        inside.submit(inside.get("/account/second-step"), form="Set up two-step sign-in")
    )
    unconfirmed = Phone(_shown(begun)[0].replace(" ", ""))
    assert browser.submit(page, {"code": unconfirmed.code}).messages == [WRONG]
    assert not is_in(browser)


def test_changes_to_two_step_sign_in_are_recorded(app, people, ada, inside, phone):
    inside.submit(inside.get("/account/second-step"), form="Create new recovery codes")
    client = ApiClient(app, people.token(ada))
    for type in ("second-factor-turned-on", "recovery-codes-made"):
        [event] = client.ok("GET", f"/events?type={type}")["events"]
        assert event["data"] == {"id": ada, "name": "ada"}


def test_an_admin_turns_it_off_for_someone_who_lost_their_phone(app, people, ada, phone):
    people.person("boss", role="Admin")
    boss = Browser(app).sign_in("boss")
    page = boss.get(f"/users/{ada}")
    assert page.has("Two-step sign-in is on.")
    page = boss.follow(boss.submit(page, form="/second-step/off"))
    assert page.messages == ["Two-step sign-in turned off for ada."]
    assert sign_in(Browser(app), "ada").status == 303
    page = boss.post(f"/users/{ada}/second-step/off")
    assert page.status == 409
    assert page.has("Two-step sign-in is already off for ada.")


def test_the_database_alone_is_not_enough_to_compute_codes(app, phone):
    with app.app_context():
        factor = db.session.scalars(sa.select(SecondFactor)).one()
        digests = list(db.session.scalars(sa.select(RecoveryCode.digest)))
        held = pyotp.TOTP(b32encode(factor.salt).decode()).at(datetime.now(UTC))
    assert held != phone.code
    assert all(len(digest) == 32 for digest in digests)
    assert not {code.replace("-", "").upper().encode() for code in phone.recovery} & set(digests)


def test_recovery_codes_are_refused_while_it_is_off(inside):
    page = inside.post("/account/second-step/codes")
    assert page.status == 409
    assert page.has("Two-step sign-in is off. Turn it on before you create recovery codes.")


def test_it_can_not_be_set_up_again_while_it_is_on(inside, phone):
    page = inside.post("/account/second-step")
    assert page.status == 409
    assert page.has("Two-step sign-in is already on. Turn it off before you set it up again.")
    page = inside.post("/account/second-step/confirm", {"code": phone.code})
    assert page.has("10 recovery codes left")


def test_a_wrong_code_is_in_the_security_log_as_such(app, phone, log: Log):
    browser = Browser(app)
    browser.submit(sign_in(browser, "ada"), {"code": phone.wrong})
    assert facts(log("two-step-code-failed")[0]) == ("ada", "127.0.0.1", None, 1)
    assert log("sign-in-failed") == []
