"""Which passwords are accepted: length and a blocklist count, and nothing else."""

from dataclasses import replace

import pytest
import sqlalchemy as sa

from app.accounts import passwords
from app.accounts.models import Account
from app.core.actor import COMMAND_LINE
from app.core.db import db, unit_of_work
from tests.support.clients import ApiClient, error_of, problems_of

OLD = "four words that no one guesses"
DUCKS = "\U0001f986 \U0001f43b \U0001f98a \U0001f43a \U0001f981 \U0001f42f \U0001f430 ab"

TAKEN = {
    "15 characters": "river moss dune",
    "64 characters": "river moss dune " * 4,
    "128 characters": "river moss dune " * 8,
    "1,024 characters": "river moss dune " * 64,
    "only small letters": "rivermossdunesky",
    "only digits": "918273645546372",
    "only capitals": "RIVERMOSSDUNESKY",
    "only signs": "!?&%$#@+-=;:,._",
    "15 small emoji and spaces": DUCKS,
    "spaces inside": "river   moss   dune",
    "spaces around": "   river moss dune   ",
    "a tab": "river\tmoss dune",
    "Chinese": "春眠不覺曉處處聞啼鳥夜來風雨聲",
    "accents": "\u00e9t\u00e9 \u00e0 la plage \u00f4",
    "in another form": "e\u0301te\u0301 a\u0300 la plages",
    "a bad word among good ones": "password river moss dune",
    "the name among other words": "ada likes moss and dunes",
    "quotes and markup": "<b>'river\" & moss;",
    "what looks like SQL": "'; DROP TABLE x--",
    "a percent sign": "%s %d river moss",
}
REFUSED = {
    "nothing": "",
    "14 characters": "river moss dun",
    "14 emoji, of more bytes": DUCKS.replace(" ", "")[:7] * 2,
    "14 characters in 15 code points": "rive\u0301r moss dun",
    "1,025 characters": "river moss dune " * 64 + "x",
    "a megabyte": "river moss dune " * 65_536,
    "one letter": "a" * 20,
    "two letters": "ab" * 10,
    "spaces alone": " " * 20,
    "the most common": "password12345678",
    "it twice": "passwordpassword",
    "in capitals": "PASSWORDPASSWORD",
    "in wide letters": "".join(chr(ord(c) + 0xFEE0) for c in "passwordpassword"),
    "a row of keys": "qwertyuiopqwerty",
    "digits in a row": "1234567891234567",
    "the product": "flagstaffflagstaff",
    "the user name": "ada.lindqvist.ada",
    "the user name and little more": "ada.lindqvist2026",
    "the full name": "Ada Lindqvist 12",
    "the e-mail address's beginning": "a.lindqvist.1815",
}


@pytest.fixture
def ada(app, people) -> ApiClient:
    id = people.person("ada.lindqvist")
    with app.app_context(), unit_of_work(writes=True):
        account = db.session.get_one(Account, id)
        passwords.set_first(COMMAND_LINE, account, password=OLD, shortest=15)
        account.name, account.email = "Ada Lindqvist", "a.lindqvist.1815@example.org"
        account.email_key = account.email
    return ApiClient(app, people.token(id))


def change(ada: ApiClient, new: str, old: str = OLD):
    return ada.post("/user/change-password", {"oldPassword": old, "newPassword": new})


@pytest.mark.parametrize("app", ["sqlite"], indirect=True)  # no database has a say in it
def test_a_long_password_without_a_pattern_is_accepted(ada):
    old = OLD
    for how, new in TAKEN.items():
        assert change(ada, new, old).status_code == 200, how
        old = new


@pytest.mark.parametrize("app", ["sqlite"], indirect=True)  # no database has a say in it
def test_a_short_or_easily_guessed_password_is_refused(ada):
    for how, new in REFUSED.items():
        answer = change(ada, new)
        assert answer.status_code == 400, how
        assert list(problems_of(answer)) == ["/newPassword"], f"{how}: {answer.text}"


@pytest.mark.parametrize("app", ["sqlite"], indirect=True)  # no database has a say in it
def test_where_short_passwords_are_allowed_they_must_be_hard_to_guess(app, ada, monkeypatch):
    settings = replace(app.config["SETTINGS"], password_min=8)
    monkeypatch.setitem(app.config, "SETTINGS", settings)
    for new in ("Summer2026!", "P@ssw0rd1", "1qaz2wsx", "lindqvist-7", "abcd1234efgh", "x7#kQ9!"):
        assert list(problems_of(change(ada, new))) == ["/newPassword"], new
    assert change(ada, "x7#kQ9!m").status_code == 200
    assert change(ada, "moss-dune-sky", "x7#kQ9!m").status_code == 200


def test_unicode_forms_of_a_password_are_equal(ada):
    composed, decomposed = "\u00e9t\u00e9 \u00e0 la plage", "e\u0301te\u0301 a\u0300 la plage"
    assert change(ada, composed + " encore").status_code == 200
    assert change(ada, OLD, decomposed + " encore").status_code == 200


@pytest.mark.parametrize("revokes", [None, False, True])
def test_a_new_password_revokes_the_tokens_if_asked_to(ada, revokes):
    body = {"oldPassword": OLD, "newPassword": "river moss dune heath"}
    if revokes is not None:
        body["revokeTokens"] = revokes
    assert ada.post("/user/change-password", body).status_code == 200
    assert ada.get("/user").status_code == (401 if revokes else 200)


@pytest.mark.parametrize("bad", ["river moss dune\0", 12, None, ["x" * 15]])
def test_a_password_that_is_not_text_is_refused(ada, bad):
    assert error_of(change(ada, bad)) == (400, "ValidationError")


def test_a_password_is_stored_by_the_second_recommendation_of_owasp(app, real_passwords, ada):
    assert change(ada, "river moss dune sky").status_code == 200
    with app.app_context():
        stored = db.session.scalars(sa.select(Account.password_hash)).one()
    assert stored.startswith("$argon2id$v=19$m=47104,t=1,p=1$")
