"""User names: none has parts that no one sees, or can be taken for someone else's."""

import pytest

from app.accounts.models import Account, key_of
from app.core.db import db, unit_of_work
from tests.support.browser import Browser
from tests.support.clients import error_of, problems_of

USERS, ROBOTS = "/user-admin", "/service-account"
UNSEEN = [
    *"\u200b\u200c\u200d\u200e\u2060\ufeff\u00ad\u034f\u061c\u115f\u180e\u2800\u3164\ufe0f\uffa0",
    *("\U000e0001", "\U000e0101", "\ue000", "\u0378", "  "),
]
CONFUSABLE = [
    "p\u0430ypal",  # Cyrillic a
    "\u0391laska",  # Greek Alpha
    "gr\u0430ce",
    "\u13aace",  # Cherokee
    "\u0570ans",  # Armenian
    "\uff50\u0430ypal",  # fullwidth p
    "ada\u043b\u0438",
]
FINE = [
    *("ada", "ada.lovelace-2", "Zoë Ångström", "józef", "Nguyễn Văn An"),
    *("Анна Петрова", "Мар’яна", "Ελένη", "דוד", "محمد", "अनिल", "ไพศาล", "ann@example.org"),  # noqa: RUF001
    *("山田太郎", "ヤマダ タロー", "やまだ3", "東京office", "김철수", "Kim 김", "ada 🚀"),
]


def account(client, path, **names):
    return client.post(path, {"rootRole": 3, **names})


@pytest.mark.parametrize("path", [USERS, ROBOTS])
@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([f"ad{char}a" for char in UNSEEN], "characters that can be seen"),
        (CONFUSABLE, "letters of one alphabet"),
    ],
)
def test_a_name_that_could_be_taken_for_another_is_refused(admin, path, names, words):
    for name in names:
        answer = account(admin, path, username=name)
        assert words in problems_of(answer)["/username"], ascii(name)


def test_names_of_many_languages_are_accepted(admin):
    for name in FINE:
        assert account(admin, USERS, username=name).status_code == 201, name


@pytest.mark.parametrize("path", [USERS, ROBOTS])
def test_a_name_can_not_become_confusable_by_a_change(admin, path):
    id = account(admin, path, username="grace").json["id"]
    answer = admin.put(f"{path}/{id}", {"username": "gr\u0430ce"})
    assert list(problems_of(answer)) == ["/username"]


def test_a_page_says_at_the_field_what_to_enter(app, people):
    people.person("boss", role="Admin")
    browser = Browser(app).sign_in("boss")
    page = browser.submit(browser.get("/users/new"), {"username": "gr\u0430ce"})
    assert page.errors[0].startswith("User name: Use letters of one alphabet")


def test_a_name_from_before_stays_valid(app, admin):
    old = "gr\u0430ce\u200b"
    id = account(admin, USERS, username="grace").json["id"]
    with app.app_context(), unit_of_work(writes=True):
        kept = db.session.get_one(Account, id)
        kept.username, kept.username_key = old, key_of(old)
    shown = admin.ok("GET", f"{USERS}/{id}")
    admin.ok("PUT", f"{USERS}/{id}", shown | {"name": "Grace"})
    admin.ok("DELETE", f"{USERS}/{id}")
    assert admin.ok("POST", f"{USERS}/{id}/restore", None)["username"] == old


@pytest.mark.parametrize("path", [USERS, ROBOTS])
def test_the_e_mail_of_someone_else_is_no_user_name(admin, path):
    account(admin, USERS, email="grace@example.org")
    other = account(admin, path, username="other").json["id"]
    for answer in (
        account(admin, path, username="Grace@Example.org"),
        admin.put(f"{path}/{other}", {"username": "GRACE@example.org"}),
    ):
        assert error_of(answer) == (409, "NameExistsError")
        assert "is the email of another user" in answer.json["message"]


@pytest.mark.parametrize("path", [USERS, ROBOTS])
def test_the_user_name_of_someone_else_is_no_e_mail(admin, path):
    account(admin, path, username="grace@example.org")
    other = account(admin, USERS, username="other").json["id"]
    for answer in (
        account(admin, USERS, email="Grace@example.org"),
        admin.put(f"{USERS}/{other}", {"email": "grace@example.org"}),
    ):
        assert error_of(answer) == (409, "NameExistsError")


def test_your_own_e_mail_can_be_your_user_name(admin):
    both = {"username": "grace@example.org", "email": "Grace@example.org"}
    id = account(admin, USERS, **both).json["id"]
    admin.ok("PUT", f"{USERS}/{id}", {"name": "Grace"} | both)


def test_a_deleted_user_whose_name_is_an_e_mail_by_now_stays_deleted(admin):
    id = account(admin, USERS, username="grace@example.org").json["id"]
    admin.ok("DELETE", f"{USERS}/{id}")
    account(admin, USERS, email="grace@example.org")
    assert error_of(admin.post(f"{USERS}/{id}/restore")) == (409, "NameExistsError")
