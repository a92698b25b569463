"""The pages of webhooks."""

import base64
import json
import re
import shutil
import subprocess
from datetime import timedelta

import pytest
import time_machine

from app.core.clock import utcnow
from app.core.config.allowed_hosts import ALLOWED_HOSTS
from app.portal.help.receivers import ENTRIES, NODE, PYTHON
from tests.support.browser import text_of
from tests.support.webhooks import WEBHOOKS, allow, create, deliver, deliveries

NEW = {
    "name": "Payments channel",
    "event_types": ["feature-created", "feature-archived"],
    "projects": "default",
}


def test_a_webhook_is_created_and_its_secret_shown_once(app, browser, admin, allowed):
    page = browser.get("/new-webhook")
    made = browser.submit(page, NEW | {"url": allowed.url})
    assert made.h1 == "Secret of Payments channel"
    [secret] = re.findall(r"whsec_[A-Za-z0-9+/]{43}=", made.text)
    [row] = admin.ok("GET", WEBHOOKS)["webhooks"]
    assert row["eventTypes"] == ["feature-archived", "feature-created"]
    assert row["projects"] == ["default"]
    shown = browser.get("/webhooks/1")
    assert secret not in shown.text
    assert shown.has(f"whsec_…{row['hint']}")
    admin.ok("POST", "/projects/default/features", {"name": "cart"})
    deliver(app)
    assert allowed.accepted[0].is_signed_with(secret)


def test_the_form_says_what_is_missing_and_keeps_what_was_typed(browser, allowed):
    page = browser.get("/new-webhook")
    sent = {"name": "Chat", "url": "https://evil.example/", "projects": []}
    refused = browser.submit(page, sent)
    assert refused.status == 400
    assert "Events: Choose at least one event, or all" in refused.errors
    assert refused.fields()["name"] == "Chat"
    refused = browser.submit(page, NEW | {"url": "https://evil.example/"})
    assert any("FLAGSTAFF_WEBHOOK_HOSTS" in error for error in refused.errors)
    assert refused.has("feature-archived")


def test_an_empty_project_is_no_choice_in_the_form(browser, allowed):
    page = browser.post("/new-webhook", NEW | {"url": allowed.url, "projects": [""]})
    assert page.status == 400
    assert not page.select('[name="projects"][value=""]')


def test_without_an_allowed_host_the_form_says_who_can_change_that(app, browser, monkeypatch):
    allow(app, monkeypatch, "")
    for path in ("/webhooks", "/new-webhook"):
        page = browser.get(path)
        assert page.has("Only your operator can set that: the person who installed Flagstaff")
        assert "FLAGSTAFF_WEBHOOK_HOSTS=hooks.example.com" in text_of(page.select(".code")[0])


def test_the_list_has_the_state_of_each(app, browser, admin, receivers, monkeypatch):
    good, bad = receivers(), receivers()
    bad.status = 500
    allow(app, monkeypatch, f"{good.host},{bad.host}")
    create(admin, good, name="Good")
    create(admin, bad, name="Bad")
    create(admin, good, name="Resting", paused=True)
    create(admin, good, name="New", eventTypes=["tag-merged"])
    admin.ok("POST", "/projects/default/features", {"name": "cart"})
    deliver(app)
    page = browser.get("/webhooks")
    states = {
        text_of(row.css("a.table__name")[0]): text_of(row.css("[data-label=State]")[0])
        for row in page.select("tbody tr")
    }
    assert states == {
        "Bad": "Failing",
        "Good": "Delivering",
        "New": "Nothing sent yet",
        "Resting": "Paused",
    }
    assert page.has("Nothing has arrived yet.")


def test_deliveries_show_the_answer_and_can_be_sent_again(app, browser, admin, allowed):
    start = utcnow()
    with time_machine.travel(start, tick=False) as clock:
        id = create(admin, allowed, eventTypes=["feature-created"])["id"]
        allowed.status, allowed.text = 418, b"<b>short and stout</b>"
        admin.ok("POST", "/projects/default/features", {"name": "cart"})
        for _ in range(9):
            deliver(app)
            clock.shift(timedelta(hours=14))
    page = browser.get(f"/webhooks/{id}")
    assert page.has("Answered with 418.")
    assert page.has("<b>short and stout</b>")
    assert page.has("9 attempts")
    allowed.status = 204
    browser.submit(page, {}, form="send-again")
    deliver(app)
    assert [one["status"] for one in deliveries(admin, id)] == ["failed", "delivered"]
    assert not browser.get(f"/webhooks/{id}?status=failed").has("Delivered 2")
    assert browser.get(f"/webhooks/{id}?status=waiting").has("No delivery matches")


def test_a_test_can_be_sent(app, browser, admin, allowed):
    create(admin, allowed)
    browser.submit(browser.get("/webhooks/1"), {}, form="Send a test")
    deliver(app)
    assert allowed.accepted[0].type == "test"
    assert browser.get("/webhooks/1").has("test")


def test_an_edit_does_not_overwrite_anothers(browser, admin, allowed):
    create(admin, allowed)
    page = browser.get("/webhooks/1/edit")
    admin.ok("PUT", f"{WEBHOOKS}/1", {"projects": ["default"]})
    stale = browser.submit(page, {"name": "Team"})
    assert stale.status == 409
    assert stale.has("from “all” to “default”")
    saved = browser.submit(stale, {"name": "Team", "paused": "y"})
    assert saved.status == 303
    row = admin.ok("GET", f"{WEBHOOKS}/1")
    assert (row["name"], row["paused"]) == ("Team", True)


def test_rotating_shows_the_new_secret_and_until_when_the_old_one_signs(browser, admin, allowed):
    create(admin, allowed)
    rotated = browser.submit(browser.get("/webhooks/1/rotate"), {})
    assert re.search(r"whsec_[A-Za-z0-9+/]{43}=", rotated.text)
    assert browser.get("/webhooks/1").has("Messages are signed with the old one too until")


def test_deleting_says_what_is_dropped(browser, admin, allowed):
    create(admin, allowed)
    admin.ok("POST", f"{WEBHOOKS}/1/test")
    page = browser.get("/webhooks/1/delete")
    assert page.has("1 message waiting to be sent will be dropped.")
    assert browser.submit(page, {}).status == 303
    assert browser.get("/webhooks/1").status == 404


def test_only_admins_see_webhooks_in_the_navigation(browser, visitor, people):
    assert "Webhooks" in browser.get("/projects").links
    people.person("ed", role="Editor")
    assert "Webhooks" not in visitor.sign_in("ed").get("/projects").links


@pytest.fixture
def message(app, admin, allowed):
    secret = create(admin, allowed)["secret"]
    admin.ok("POST", f"{WEBHOOKS}/1/test")
    deliver(app)
    return secret, allowed.accepted[0]


def test_the_code_of_the_help_verifies_messages_in_python(browser, message):
    assert browser.get("/help/webhooks").has('raise ValueError("not from Flagstaff")')
    secret, sent = message
    found = {}
    exec(PYTHON, found)
    verify = found["verify"]
    verify(secret, sent.headers, sent.body)
    wrong = "whsec_" + base64.b64encode(b"k" * 32).decode()
    for bad in (
        lambda: verify(wrong, sent.headers, sent.body),
        lambda: verify(secret, sent.headers, sent.body + b" "),
        lambda: verify(secret, sent.headers | {"webhook-id": "other"}, sent.body),
        lambda: verify(secret, sent.headers | {"webhook-timestamp": "1"}, sent.body),
    ):
        with pytest.raises(ValueError, match=r"not from Flagstaff|too old"):
            bad()


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_entries_of_the_help_are_valid(entry):
    assert len(ALLOWED_HOSTS.read(entry)) == 1


def test_the_code_of_the_help_verifies_messages_in_node(message, tmp_path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs Node")
    secret, sent = message
    (tmp_path / "verify.mjs").write_text(NODE)
    (tmp_path / "try.mjs").write_text(
        "import { verify } from './verify.mjs';\n"
        "const { secret, headers, body } = JSON.parse(process.argv[2]);\n"
        "verify(secret, headers, Buffer.from(body));\n"
    )

    def verifies(**changed):
        given = {"secret": secret, "headers": sent.headers, "body": sent.body.decode()} | changed
        command = [node, str(tmp_path / "try.mjs"), json.dumps(given)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    assert verifies()
    assert not verifies(body=sent.body.decode() + " ")
    assert not verifies(secret="whsec_" + base64.b64encode(b"k" * 32).decode())
    assert not verifies(headers=sent.headers | {"webhook-timestamp": "1"})
