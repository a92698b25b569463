"""People get the link to set a password by mail, where there is a mail server."""

import re
from dataclasses import replace

import pytest

from tests.support.browser import Browser
from tests.support.mail import mailbox, without_tls
from tests.support.servers import until

__all__ = ["mailbox"]

pytestmark = [pytest.mark.slow, without_tls]

USERS = "/user-admin"
KIM = {"username": "kim", "email": "kim@example.org", "rootRole": 2}
PASSWORD = "four words that no one guesses"


@pytest.fixture
def sending(app, mailbox, monkeypatch):
    """The application sends through the mailbox."""
    settings = replace(app.config["SETTINGS"], mail_url=mailbox.url())
    monkeypatch.setitem(app.config, "SETTINGS", settings)
    return mailbox


def arrived(mailbox, number=1):
    until(lambda: len(mailbox.mails) >= number)
    return mailbox.mails[number - 1]


def link_in(mail):
    return re.search(r"http://127\.0\.0\.1:4242(/set-up/\S+)", mail.text)[1]


def test_who_is_invited_gets_the_link_and_can_sign_in_with_it(app, admin, sending):
    made = admin.ok("POST", USERS, KIM)
    assert made["emailSent"] is True
    mail = arrived(sending)
    assert mail.to == ["kim@example.org"]
    assert "admin created an account for you" in mail.text
    assert made["inviteLink"].endswith(link_in(mail))
    stranger = Browser(app)
    page = stranger.submit(stranger.get(link_in(mail)), {"new_password": PASSWORD})
    assert stranger.follow(page).status == 200


def test_a_new_link_goes_by_mail_and_is_on_the_page_in_any_case(browser, admin, sending):
    id = admin.ok("POST", USERS, KIM)["id"]
    page = browser.submit(browser.get(f"/users/{id}/link"), form=f"/users/{id}/link")
    assert page.has("It’s on its way to kim@example.org.")
    arrived(sending, 2)
    mails = {mail.subject: mail for mail in sending.mails}  # they may arrive in any order
    assert link_in(mails["Set a new password for Flagstaff"]) in page.text


def test_without_an_address_or_a_mail_server_the_link_is_given_by_hand(admin, sending, app):
    assert admin.ok("POST", USERS, {"username": "ada", "rootRole": 3})["emailSent"] is False
    lee = {"email": "lee@example.org", "rootRole": 3, "sendEmail": False}
    assert admin.ok("POST", USERS, lee)["emailSent"] is False
    app.config["SETTINGS"] = replace(app.config["SETTINGS"], mail_url=None)
    assert admin.ok("POST", USERS, KIM)["emailSent"] is False


def test_what_is_refused_or_tried_sends_nothing(admin, sending):
    assert admin.post(f"{USERS}?dryRun=true", KIM).status_code == 201
    assert admin.post(USERS, KIM | {"rootRole": 9}).status_code == 400
    admin.ok("POST", USERS, KIM)
    assert arrived(sending).to == ["kim@example.org"]
    assert admin.post(USERS, KIM).status_code == 409
    admin.ok("POST", USERS, {"username": "lee", "email": "lee@example.org", "rootRole": 3})
    assert arrived(sending, 2).to == ["lee@example.org"]


def test_a_mail_server_that_is_away_holds_no_one_up_and_is_in_the_log(
    app, admin, monkeypatch, caplog
):
    away = "mailto://flags:correct-horse@127.0.0.1:1?from=flags@example.org&mode=insecure"
    monkeypatch.setitem(app.config, "SETTINGS", replace(app.config["SETTINGS"], mail_url=away))
    assert admin.ok("POST", USERS, KIM)["emailSent"] is True
    until(lambda: "a mail was not sent" in caplog.text)
    assert "horse" not in caplog.text
