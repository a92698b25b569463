"""Guessing passwords is slow, and does not lock out the owner."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from argon2.exceptions import InvalidHashError
from flask import Flask

from app.access.auth import service
from app.accounts import passwords
from app.accounts.models import Account
from app.accounts.sessions.service import Browser as OpenedBy
from app.core.db import db, unit_of_work
from app.core.errors import TooManyRequests
from app.core.networks import network_of
from tests.support.browser import Browser
from tests.support.people import PASSWORD
from tests.support.sign_in import sign_in
from tests.support.statements import statements

pytestmark = pytest.mark.slow

START = datetime(2026, 11, 21, tzinfo=UTC)
HERE, THERE = "192.0.2.7", "198.51.100.9"

Try = Callable[..., str]


@pytest.fixture
def attempt(app: Flask) -> Try:
    """Tries to sign in from an address: "in", "wrong", or the seconds to wait."""

    def attempt(name: str, password: str = "wrong", ip: str = HERE) -> str:
        with app.app_context():
            try:
                browser = OpenedBy(ip=ip, user_agent="", idle_hours=12)
                welcome = service.sign_in(name, password, browser, app.config["SETTINGS"])
            except TooManyRequests as refusal:
                return refusal.headers["Retry-After"]
            return "in" if welcome else "wrong"

    return attempt


@pytest.mark.parametrize("name", ["ada", "no-such-user"])
def test_after_five_failures_each_further_one_doubles_the_delay(attempt, ada, name):
    with time_machine.travel(START, tick=False) as clock:
        for _ in range(5):
            assert attempt(name) == "wrong"
        for seconds in (2, 4, 8, 16):
            assert attempt(name) == str(seconds + 1)
            clock.shift(timedelta(seconds=seconds + 1))
            assert attempt(name) == "wrong"


def test_an_attempt_that_is_too_early_costs_no_hashing(app, attempt, ada):
    with time_machine.travel(START, tick=False):
        for _ in range(5):
            attempt("ada")
        with app.app_context(), unit_of_work(writes=True):
            db.session.get_one(Account, ada).password_hash = "which can't be verified"
        assert attempt("ada", PASSWORD) == "3"
        with pytest.raises(InvalidHashError):
            attempt("ada", PASSWORD, ip=THERE)


def test_a_busy_server_does_not_count_as_a_failure(attempt, ada):
    with time_machine.travel(START, tick=False):
        with passwords.hashing_slot(), passwords.hashing_slot():
            assert {attempt("ada", PASSWORD) for _ in range(12)} == {"1"}
        assert attempt("ada", PASSWORD) == "in"


def test_guessing_as_fast_as_allowed_from_everywhere_is_limited_to_a_hundred(attempt, ada):
    tried = number = 0
    with time_machine.travel(START, tick=False) as clock:
        while datetime.now(UTC) < START + timedelta(hours=1):
            number += 1
            answer = attempt("ada", "x" * 2_000, ip=f"10.{number // 250}.{number % 250}.1")
            tried += answer == "wrong"
            if answer != "wrong":
                clock.shift(timedelta(seconds=int(answer)))
    assert 50 <= tried <= 100


def test_a_minute_of_guessing_from_one_network_is_limited_to_ten(attempt, ada):
    tried = 0
    with time_machine.travel(START, tick=False) as clock:
        for _ in range(120):
            tried += attempt("ada") == "wrong"
            clock.shift(timedelta(seconds=0.5))
    assert tried <= 10


def test_the_correct_password_has_to_wait_too_and_then_resets_the_counter(attempt, ada):
    with time_machine.travel(START, tick=False) as clock:
        for _ in range(5):
            attempt("ada")
        assert attempt("ada", PASSWORD) == "3"
        clock.shift(timedelta(seconds=3))
        assert attempt("ada", PASSWORD) == "in"
        assert attempt("ada") == "wrong"
        assert attempt("ada", PASSWORD) == "in"


def test_an_attack_does_not_lock_out_an_owner_from_another_network(attempt, ada):
    with time_machine.travel(START, tick=False):
        for _ in range(8):
            attempt("ada", ip=THERE)
        assert attempt("ada", ip=THERE) != "wrong"
        assert attempt("ada", PASSWORD, ip=HERE) == "in"


def test_many_names_from_one_network_are_slowed_down_together(attempt, ada):
    with time_machine.travel(START, tick=False):
        answers = [attempt(f"name-{n}", ip=f"192.0.2.{n}") for n in range(21)]
        assert answers == ["wrong"] * 20 + ["3"]
        assert attempt("ada", PASSWORD, ip="192.0.2.99") == "3"
        assert attempt("ada", PASSWORD, ip=THERE) == "in"


@pytest.mark.parametrize("names", [[f"name-{n}" for n in range(21)], ["ada"] * 8])
def test_neighbours_who_guess_do_not_lock_out_an_owner_at_a_known_address(attempt, ada, names):
    with time_machine.travel(START, tick=False):
        assert attempt("ada", PASSWORD, ip="192.0.2.99") == "in"
        for n, name in enumerate(names):
            attempt(name, ip=f"192.0.2.{n}")
        assert attempt("ada", PASSWORD, ip="192.0.2.98") not in ("in", "wrong")
        assert attempt("ada", PASSWORD, ip="192.0.2.99") == "in"


def test_strangers_at_the_owners_address_who_guess_other_names_do_not_lock_them_out(attempt, ada):
    with time_machine.travel(START, tick=False):
        assert attempt("ada", PASSWORD) == "in"
        assert [attempt(f"name-{n}") for n in range(21)][-1] == "3"
        assert attempt("ada", PASSWORD) == "in"


def test_guessing_from_a_known_address_is_slowed_down_too(app, attempt, people):
    names = [f"colleague-{n}" for n in range(6)]
    with time_machine.travel(START, tick=False):
        for name in names:
            people.give_password(people.person(name))
            assert attempt(name, PASSWORD) == "in"
        assert [attempt(names[0]) for _ in range(6)] == ["wrong"] * 5 + ["3"]
        answers = [attempt(name) for name in names[1:] for _ in range(4)]
        assert answers == ["wrong"] * 15 + ["3"] * 5


def test_one_name_from_many_networks_is_slowed_down_except_from_known_ones(attempt, ada):
    with time_machine.travel(START, tick=False) as clock:
        assert attempt("ada", PASSWORD, ip=HERE) == "in"
        tried = 0
        for n in range(360):
            tried += attempt("ada", ip=f"10.0.{n % 250}.{n}") == "wrong"
            clock.shift(timedelta(seconds=10))
        assert tried <= 100
        assert attempt("ada", PASSWORD, ip="203.0.113.1") != "in"
        assert attempt("ada", PASSWORD, ip=HERE) == "in"


def test_no_one_waits_longer_than_five_minutes_and_counters_expire(attempt, ada):
    with time_machine.travel(START, tick=False) as clock:
        for _ in range(16):
            attempt("ada")
            clock.shift(timedelta(minutes=5))
        attempt("ada")
        assert int(attempt("ada", PASSWORD)) <= 301
        clock.shift(timedelta(minutes=61))
        assert [attempt("ada") for _ in range(5)] == ["wrong"] * 5


def test_setting_the_clock_back_makes_no_one_wait_forever(attempt, ada):
    with time_machine.travel(START + timedelta(days=300), tick=False):
        for _ in range(6):
            attempt("ada")
    with time_machine.travel(START, tick=False):
        assert int(attempt("ada", PASSWORD)) <= 301


def test_the_page_says_how_long_to_wait(app: Flask, visitor: Browser, ada):
    with time_machine.travel(START, tick=False):
        for _ in range(5):
            sign_in(visitor, "ada", "wrong")
        page = sign_in(visitor, "ada")
    assert (page.status, page.answer.headers["Retry-After"]) == (429, "3")
    assert page.messages[0].startswith("Too many attempts. Try again in 3 seconds.")


@pytest.mark.parametrize(
    ("ip", "network"),
    [
        ("192.0.2.7", "192.0.2.0/24"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        (None, "unknown"),
        ("nonsense", "unknown"),
    ],
)
def test_what_counts_as_one_network(ip, network):
    assert network_of(ip) == network


def test_a_failure_runs_the_same_statements_without_an_account(app, attempt, ada):
    asked = {}
    for name, ip in (("ada", HERE), ("no-such-user", THERE)):
        with statements(app) as seen:
            assert attempt(name, ip=ip) == "wrong"
        asked[name] = list(seen)
    known, unknown = asked.values()
    assert known == unknown
