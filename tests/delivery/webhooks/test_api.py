"""The API and the commands of webhooks."""

import json
from datetime import timedelta

import pytest
import sqlalchemy as sa
import time_machine

from app.core.clock import utcnow
from app.core.db import db, unit_of_work
from app.delivery.webhooks import service, traffic
from app.delivery.webhooks.models import Webhook
from tests.support.clients import error_of, problems_of
from tests.support.webhooks import WEBHOOKS, allow, create, deliver, deliveries

CHANGED = {"name": "Team", "eventTypes": ["feature-created"], "projects": ["default"]}


def events_of(admin):
    found = admin.ok("GET", "/events?limit=1000")["events"]
    return [event for event in reversed(found) if event["type"].startswith("webhook-")]


def test_a_webhook_is_created_read_changed_and_deleted(admin, allowed):
    created = create(admin, allowed)
    assert created["secret"].startswith("whsec_")
    assert len(created["secret"]) == len("whsec_") + 44
    row = {name: value for name, value in created.items() if name != "secret"}
    assert row == {
        "id": 1,
        "name": "Chat",
        "url": allowed.url,
        "channel": None,
        "eventTypes": ["*"],
        "projects": ["*"],
        "environments": ["*"],
        "paused": False,
        "hint": created["secret"].rstrip("=")[-4:],
        "oldSecretUntil": None,
        "createdAt": row["createdAt"],
        "state": "unused",
        "waiting": 0,
        "failing": 0,
        "lastDeliveredAt": None,
        "missedEvents": 0,
    }
    assert admin.ok("GET", f"{WEBHOOKS}/1") == row
    assert admin.ok("GET", WEBHOOKS) == {"version": 1, "webhooks": [row], "total": 1}
    assert admin.put(f"{WEBHOOKS}/1", CHANGED).status_code == 204
    assert admin.ok("GET", f"{WEBHOOKS}/1") == row | CHANGED
    assert admin.delete(f"{WEBHOOKS}/1").status_code == 204
    assert error_of(admin.get(f"{WEBHOOKS}/1")) == (404, "NotFoundError")


def test_every_change_is_an_event_without_the_secret_and_the_path(app, admin, allowed):
    created = create(admin, allowed)
    admin.ok("PUT", f"{WEBHOOKS}/1", CHANGED)
    admin.ok("PUT", f"{WEBHOOKS}/1", CHANGED)  # changes nothing
    admin.ok("PUT", f"{WEBHOOKS}/1", {"url": f"{allowed.host}/other-secret-path"})
    rotated = admin.ok("POST", f"{WEBHOOKS}/1/rotate")
    admin.ok("DELETE", f"{WEBHOOKS}/1")
    found = events_of(admin)
    assert [event["type"] for event in found] == [
        "webhook-created",
        "webhook-updated",
        "webhook-updated",
        "webhook-secret-rotated",
        "webhook-deleted",
    ]
    assert found[0]["data"]["url"] == f"{allowed.host}/…"
    text = json.dumps(found)
    for secret in (created["secret"], rotated["secret"]):
        assert secret not in text
        assert secret.removeprefix("whsec_") not in text
    assert "secret-path" not in text
    with app.app_context(), db.engine.connect() as connection:
        rows = repr(connection.execute(sa.select(Webhook.__table__)).all())
    assert created["secret"] not in rows


def test_what_is_sent_has_no_secret_of_tokens_and_links_in_it(app, admin, allowed, people):
    create(admin, allowed)
    robot = admin.ok("POST", "/service-account", {"name": "Robot", "rootRole": 3})["id"]
    sdk = {"tokenName": "web", "type": "client", "environment": "production"}
    secrets = [
        admin.ok("POST", f"/service-account/{robot}/token", {"description": "x"})["secret"],
        admin.ok("POST", "/user/tokens", {"description": "x"})["secret"],
        admin.ok("POST", "/api-tokens", sdk)["secret"],
        admin.ok("POST", "/api-tokens/1/rotate", {})["secret"],
        admin.ok("POST", f"{WEBHOOKS}/1/rotate")["secret"],
        admin.ok("POST", "/user-admin", {"username": "ada", "rootRole": 3})["inviteLink"],
    ]
    deliver(app)
    sent = b"".join(message.body for message in allowed.accepted).decode()
    assert len(allowed.accepted) >= len(secrets)
    for secret in secrets:
        assert secret.rsplit("/", 1)[-1].rpartition(".")[2] not in sent


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"eventTypes": []}, "/eventTypes"),
        ({"eventTypes": ["no-such-type"]}, "/eventTypes/0"),
        ({"projects": []}, "/projects"),
        ({"projects": ["nowhere"]}, "/projects"),
        ({"name": " "}, "/name"),
        ({"paused": "yes"}, "/paused"),
        ({"secret": "whsec_mine"}, "/secret"),
    ],
)
def test_what_makes_no_sense_is_refused(admin, allowed, body, path):
    create(admin, allowed)
    new = {"name": "Other", "url": allowed.url} | body
    assert list(problems_of(admin.post(WEBHOOKS, new))) == [path]
    assert list(problems_of(admin.put(f"{WEBHOOKS}/1", body))) == [path]


def test_names_differ(admin, allowed):
    create(admin, allowed)
    create(admin, allowed, name="Other")
    body = {"name": "Chat", "url": allowed.url}
    assert error_of(admin.post(WEBHOOKS, body)) == (409, "NameExistsError")
    assert error_of(admin.put(f"{WEBHOOKS}/2", {"name": "Chat"})) == (409, "NameExistsError")


def test_there_are_at_most_so_many(admin, allowed, monkeypatch):
    monkeypatch.setattr(service, "MAX_WEBHOOKS", 1)
    create(admin, allowed)
    refused = admin.post(WEBHOOKS, {"name": "Other", "url": allowed.url})
    assert error_of(refused) == (409, "ConflictError")


def test_deliveries_are_listed_newest_first_and_by_status(app, admin, allowed):
    id = create(admin, allowed, eventTypes=["feature-created"])["id"]
    for name in ("one", "two"):
        admin.ok("POST", "/projects/default/features", {"name": name})
    deliver(app)
    allowed.status, allowed.text = 500, b"no"
    admin.ok("POST", "/projects/default/features", {"name": "three"})
    deliver(app)
    found = admin.ok("GET", f"{WEBHOOKS}/{id}/deliveries?limit=2")
    assert (found["total"], [one["status"] for one in found["deliveries"]]) == (
        3,
        ["waiting", "delivered"],
    )
    newest = found["deliveries"][0]
    assert (newest["attempts"], newest["error"], newest["answer"]) == (
        1,
        "Answered with 500.",
        "no",
    )
    assert newest["nextAttemptAt"] > newest["createdAt"]
    assert len(deliveries(admin, id, status="delivered")) == 2
    row = admin.ok("GET", f"{WEBHOOKS}/{id}")
    assert (row["state"], row["waiting"], row["failing"]) == ("failing", 1, 1)


def test_what_still_waits_and_what_is_unknown_is_not_sent_again(app, admin, allowed):
    create(admin, allowed)
    create(admin, allowed, name="Other")
    waiting = admin.ok("POST", f"{WEBHOOKS}/1/test")["id"]
    again = f"{WEBHOOKS}/{{}}/deliveries/{{}}/send-again"
    assert error_of(admin.post(again.format(1, waiting))) == (409, "ConflictError")
    assert error_of(admin.post(again.format(2, waiting))) == (404, "NotFoundError")
    assert error_of(admin.post(again.format(1, 999))) == (404, "NotFoundError")
    assert error_of(admin.get(f"{WEBHOOKS}/9/deliveries")) == (404, "NotFoundError")


def problems(app):
    with app.app_context(), unit_of_work(writes=False):
        return [says for _, says in traffic.problems(service.Allowed.by(app.config["SETTINGS"]))]


def test_problems_are_named_until_they_are_over(app, admin, allowed, monkeypatch):
    create(admin, allowed)
    assert problems(app) == []
    allowed.status = 500
    admin.ok("POST", "/projects/default/features", {"name": "cart"})
    deliver(app)
    assert problems(app) == ["Nothing has arrived yet. 1 message waiting."]
    hosts = app.config["SETTINGS"].webhook_hosts
    allow(app, monkeypatch, "")
    [says] = problems(app)
    assert "may not connect to" in says
    allow(app, monkeypatch, f"http://{hosts[0].host}:{hosts[0].port}")
    admin.ok("PUT", f"{WEBHOOKS}/1", {"paused": True})
    assert problems(app) == []


def test_a_message_that_was_given_up_is_a_problem_until_it_arrives(app, admin, allowed):
    allowed.status = 500
    with time_machine.travel(utcnow(), tick=False) as clock:
        id = create(admin, allowed, eventTypes=["feature-created"])["id"]
        admin.ok("POST", "/projects/default/features", {"name": "cart"})
        while deliver(app):
            clock.shift(timedelta(hours=14))
        assert problems(app)[-1] == "1 message given up in the last 7 days."
        allowed.status = 204
        admin.ok("POST", f"{WEBHOOKS}/{id}/deliveries/1/send-again")
        deliver(app)
        assert problems(app) == []


def test_metrics_say_how_many_messages_wait(app, admin, allowed):
    create(admin, allowed)
    admin.ok("POST", f"{WEBHOOKS}/1/test")
    text = app.test_client().get("/metrics").get_data(as_text=True)
    assert "flagstaff_webhook_messages_waiting 1.0" in text


def test_a_webhook_from_beginning_to_end_on_the_command_line(machine):
    machine.settings["WEBHOOK_HOSTS"] = "hooks.example.com"
    url = "https://hooks.example.com/x"
    made = json.loads(machine.ok("webhook", "create", "Chat", url, "--json"))
    assert made["secret"].startswith("whsec_")
    rotated = machine.ok("webhook", "rotate", "1")
    assert rotated.startswith("whsec_")
    assert rotated != made["secret"]
    types = ("--type", "feature-created", "--type", "feature-archived", "--project", "default")
    machine.ok("webhook", "update", "1", *types, "--paused")
    listed = json.loads(machine.ok("webhook", "list", "--json"))
    [row] = listed["webhooks"]
    assert row["eventTypes"] == ["feature-archived", "feature-created"]
    assert (row["projects"], row["paused"], row["state"]) == (["default"], True, "paused")
    assert "Its page says what" in machine.ok("webhook", "test", "1")
    assert "https://hooks.example.com/…" in machine.ok("webhook", "list")
    assert machine.ok("webhook", "delete", "1") == "Deleted webhook Chat (id 1)."
    refused = machine.refused("webhook", "create", "Chat", "https://evil.example/")
    assert "Flagstaff may not connect to https://evil.example yet." in refused


def test_the_doctor_names_a_webhook_whose_host_is_no_longer_allowed(machine):
    machine.settings["WEBHOOK_HOSTS"] = "hooks.example.com"
    machine.ok("webhook", "create", "Chat", "https://hooks.example.com/x")
    machine.settings["WEBHOOK_HOSTS"] = ""
    found = json.loads(machine.run("doctor", "--json").stdout)["findings"]
    [finding] = [one for one in found if one["about"] == "webhooks"]
    assert finding["state"] == "warning"
    assert finding["says"].startswith("Chat: Flagstaff may not connect to")
