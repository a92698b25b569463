"""People get mail about what waits for them, unless they stopped it."""

import re
import signal
from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa
import time_machine

from app.access import expiring
from app.accounts.mails import service as mails
from app.accounts.mails.models import MailKind
from app.accounts.mails.service import FRESH, PAUSES
from app.accounts.models import Account
from app.core.clock import utcnow
from app.core.db import db, unit_of_work
from app.core.messages import Outcome
from app.releases.change_requests import applying
from tests.support.browser import Browser
from tests.support.change_requests import LIST, new_desk, switching
from tests.support.machines import SECONDS
from tests.support.mail import mailbox, without_tls
from tests.support.servers import until

__all__ = ["mailbox"]

REASON = {"X-Reason": "It is over"}

pytestmark = [pytest.mark.slow, without_tls]


@pytest.fixture
def desk(app, admin, people):
    """A project whose people have addresses: kim@example.org and so on."""
    made = new_desk(admin, people)
    with app.app_context(), unit_of_work(writes=True):
        for account in db.session.scalars(sa.select(Account)):
            account.email = f"{account.username}@example.org"
    return made


def written(app):
    """Take each mail that is due: its addressee, and its subject."""
    found = []
    with app.app_context(), unit_of_work(writes=True):
        while (task := mails.take()) is not None:
            found.append((task.to.partition("@")[0], task.subject))
    return found


def test_all_who_can_approve_are_asked_for_a_review_but_not_its_author(app, desk):
    desk.open(switching("card", on=True))
    asked = "kim asks for your review of change request 1 in production of pay"
    assert written(app) == [("admin", asked), *((n, asked) for n in ("finn", "sofia", "rosa"))]


def test_those_who_are_named_are_asked_alone_and_later_ones_once_they_are(app, desk):
    number = desk.draft(switching("card", on=True))["id"]
    ids = {name: id_of(app, name) for name in ("finn", "rosa")}
    desk.kim.ok("PUT", f"{LIST}/{number}/approvers", {"reviewers": [ids["finn"]]})
    assert written(app) == []
    desk.to("In review", number)
    assert [to for to, _ in written(app)] == ["finn"]
    desk.kim.ok("PUT", f"{LIST}/{number}/approvers", {"reviewers": [*ids.values()]})
    assert [to for to, _ in written(app)] == ["rosa"]


def id_of(app, username):
    with app.app_context(), unit_of_work(writes=False):
        return db.session.scalar(sa.select(Account.id).where(Account.username == username))


def test_the_author_hears_that_their_schedule_failed(app, desk):
    number = desk.approved(switching("card", on=True))
    desk.kim.ok("PUT", f"{LIST}/{number}/title", {"title": "Cards for ACME"})
    written(app)
    desk.to("Scheduled", number, scheduledAt=(utcnow() + timedelta(hours=1)).isoformat())
    desk.admin.ok("POST", "/projects/pay/archive", {"features": ["card"]}, headers=REASON)
    with app.app_context():
        applying.check_outcomes()
    with app.app_context(), time_machine.travel(utcnow() + timedelta(hours=2)):
        applying.apply_due()
        found = written(app)
    assert [to for to, _ in found] == ["kim"]
    expected = "Change request 1 (Cards for ACME) in production of pay was not applied: "
    assert found[0][1].startswith(expected)


def test_tokens_that_expire_are_named_once_to_the_people_who_can_renew_them(app, desk, people):
    soon = (utcnow() + timedelta(days=3)).isoformat()
    later = (utcnow() + timedelta(days=30)).isoformat()
    desk.kim.ok("POST", "/user/tokens", {"description": "mine", "expiresAt": soon})
    desk.kim.ok("POST", "/user/tokens", {"description": "other", "expiresAt": later})
    sdk = {"tokenName": "web", "type": "client", "environment": "production", "expiresAt": soon}
    desk.admin.ok("POST", "/api-tokens", sdk)
    for _ in range(2):
        with app.app_context(), unit_of_work(writes=True):
            expiring.queue_mails()
    day = f"{utcnow() + timedelta(days=3):%d %b %Y}"
    assert written(app) == [
        ("kim", f"Your token mine expires on {day}"),
        ("admin", f"The SDK token web in production expires on {day}"),
    ]


def test_everyone_chooses_what_they_get(app, desk):
    assert desk.finn.ok("GET", "/user/mail") == {"kinds": ["reviews", "schedules", "expiry"]}
    desk.finn.ok("PUT", "/user/mail", {"kinds": ["expiry"]})
    assert desk.finn.ok("GET", "/user/mail") == {"kinds": ["expiry"]}
    desk.open(switching("card", on=True))
    assert "finn" not in [to for to, _ in written(app)]


def test_the_choice_is_on_the_page_where_there_is_a_mail_server(app, desk, people, monkeypatch):
    browser = Browser(app).sign_in("rosa")
    assert not browser.get("/account").has("Mail to rosa@example.org about:")
    settings = replace(app.config["SETTINGS"], mail_url="mailto://smtp.example.org")
    monkeypatch.setitem(app.config, "SETTINGS", settings)
    page = browser.get("/account")
    assert page.has("Mail to rosa@example.org about:")
    browser.submit(page, {"kinds": "schedules"}, form="/account/mail")
    assert desk.rosa.ok("GET", "/user/mail") == {"kinds": ["schedules"]}


def test_what_the_mail_server_refuses_is_tried_again_and_then_given_up(app, desk):
    with app.app_context(), time_machine.travel(utcnow(), tick=False) as clock:
        with unit_of_work(writes=True):
            mails.queue([id_of(app, "finn")], MailKind.EXPIRY, subject="A", path="/account")
        for pause in (*PAUSES, FRESH):
            with unit_of_work(writes=True):
                mails.settle(mails.take(), Outcome("The message was not taken."))
                assert mails.take() is None
            clock.shift(pause)
        with unit_of_work(writes=True):
            assert mails.take() is None


def test_mail_to_an_account_without_an_address_is_not_due(app, desk):
    with app.app_context(), unit_of_work(writes=True):
        finn = id_of(app, "finn")
        mails.queue([finn], MailKind.EXPIRY, subject="A", path="/account")
        assert mails.is_any_due()
        db.session.get_one(Account, finn).email = None
        assert not mails.is_any_due()


def test_a_link_in_the_mail_stops_it_without_signing_in(app, desk):
    desk.open(switching("card", on=True))
    with app.app_context(), unit_of_work(writes=True):
        task = mails.take()
        link = mails.stop_link(task, app.config["SECRET_KEY"])
    stranger = Browser(app)
    page = stranger.get(link)
    assert page.h1 == "Stop mail?"
    assert desk.admin.ok("GET", "/user/mail")["kinds"][0] == "reviews"
    assert stranger.submit(page).h1 == "Mail stopped"
    assert desk.admin.ok("GET", "/user/mail") == {"kinds": ["schedules", "expiry"]}
    assert stranger.get(link).h1 == "Mail stopped"
    assert stranger.get(f"{link}x").status == 404


@pytest.fixture
def served(start, machine, mailbox):
    """A server with an Admin whose tokens expire soon."""
    machine.settings["MAIL_URL"] = mailbox.url()
    machine.ok(
        "user", "create", "--username", "kim", "--email", "kim@example.org", "--role", "admin"
    )
    return start


def expiring_tokens(machine, number):
    for each in range(number):
        machine.ok("token", "create", "kim", "--description", f"t{each}", "--days", "3")


def test_a_mail_arrives_with_links_of_which_the_log_has_no_secret(served, machine, mailbox):
    expiring_tokens(machine, 1)
    server = served()
    until(lambda: mailbox.mails)
    [mail] = mailbox.mails
    assert mail.to == ["kim@example.org"]
    assert mail.subject.startswith("Your token t0 expires on ")
    assert f"{server.address}/account" in mail.text
    link = re.search(rf"Stop it: {server.address}(/account/mail/stop/\S+)", mail.text)[1]
    assert mail.headers["List-Unsubscribe"] == f"<{server.address}{link}>"
    assert link.rpartition("/")[2] not in server.log.read_text()


def test_no_mail_arrives_twice_though_two_servers_are_killed(served, machine, mailbox):
    expiring_tokens(machine, 12)
    mailbox.seconds = 0.1
    for number in (2, 5):
        server = served(PROCESSES="2")
        until(lambda number=number: len(mailbox.mails) >= number)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait(SECONDS)
    served(PROCESSES="2")
    until(lambda: len(mailbox.mails) >= 10)  # two may be lost with the servers
    subjects = [mail.subject for mail in mailbox.mails]
    assert len(set(subjects)) == len(subjects)
