"""Where to report security problems, as RFC 9116 asks."""

from dataclasses import replace
from datetime import datetime

from app.core.clock import utcnow
from tests.support.clients import error_of

PATH = "/.well-known/security.txt"


def test_it_names_the_contact_and_when_that_expires(app):
    before = app.config["SETTINGS"]
    app.config["SETTINGS"] = replace(before, security_contact="mailto:security@example.org")
    answer = app.test_client().get(PATH)
    app.config["SETTINGS"] = before
    assert answer.content_type == "text/plain; charset=utf-8"
    contact, expires = answer.text.splitlines()
    assert contact == "Contact: mailto:security@example.org"
    assert datetime.fromisoformat(expires.removeprefix("Expires: ")) > utcnow()


def test_without_a_contact_there_is_none(app):
    assert error_of(app.test_client().get(PATH)) == (404, "NotFoundError")
