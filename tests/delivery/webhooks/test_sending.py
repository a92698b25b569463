"""What arrives at a receiver, when, and how often."""

from datetime import timedelta
from functools import partial

import pytest
import sqlalchemy as sa
import standardwebhooks
import time_machine

from app.core.actor import COMMAND_LINE
from app.core.clock import utcnow
from app.core.db import db, transact, unit_of_work
from app.core.events import service as events
from app.delivery.webhooks import outbox
from app.delivery.webhooks.models import Delivery, Webhook
from app.delivery.webhooks.outbox import LEASE, MAX_SENT, MOST_WAITING, PAUSES
from app.delivery.webhooks.payloads import MAX_BODY
from tests.support.webhooks import WEBHOOKS, allow, create, deliver, deliveries

FEATURES = "/projects/default/features"


@pytest.fixture
def clock():
    """A clock that stands still until it is moved."""
    with time_machine.travel(utcnow(), tick=False) as traveller:
        yield traveller


def make_features(client, *names, project="default"):
    for name in names:
        client.ok("POST", f"/projects/{project}/features", {"name": name})


def test_a_message_has_the_event_and_a_signature_that_can_be_verified(app, admin, allowed):
    secret = create(admin, allowed)["secret"]
    admin.ok("POST", FEATURES, {"name": "cart", "description": "Für alle"})
    assert deliver(app) == 1
    [message] = allowed.messages
    assert message.path == "/hook"
    assert standardwebhooks.Webhook(secret).verify(message.body, message.headers) == message.json
    assert message.is_signed_with(secret)
    assert not message.is_signed_with("whsec_" + "A" * 44)
    assert message.headers["Content-Type"] == "application/json"
    assert message.headers["User-Agent"].startswith("Flagstaff/")
    assert message.headers["Host"] == f"127.0.0.1:{allowed.port}"
    [event] = admin.ok("GET", "/events?type=feature-created")["events"]
    assert (event.pop("environment"), event.pop("groupId", None)) == (None, None)
    hidden = {"ip": None, "tokenId": None}
    assert message.json == {
        "type": "feature-created",
        "timestamp": event["createdAt"],
        "data": event | hidden,
    }
    assert list(message.json["data"]) == list(event)


def test_only_the_chosen_types_and_projects_are_sent(app, admin, allowed):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    chosen = {"eventTypes": ["feature-created", "segment-created"], "projects": ["shop"]}
    create(admin, allowed, **chosen)
    admin.ok("POST", "/segments", {"name": "Staff", "constraints": []})
    make_features(admin, "cart")
    make_features(admin, "till", project="shop")
    admin.ok("POST", "/projects/shop/archive", {"features": ["till"]})
    deliver(app)
    assert [(message.type, message.subject) for message in allowed.messages] == [
        ("feature-created", "till")
    ]


def test_events_before_the_webhook_and_of_a_pause_are_not_sent(app, admin, allowed):
    make_features(admin, "before")
    id = create(admin, allowed)["id"]
    make_features(admin, "after")
    deliver(app)
    admin.ok("PUT", f"{WEBHOOKS}/{id}", {"paused": True})
    make_features(admin, "paused")
    assert deliver(app) == 0
    admin.ok("PUT", f"{WEBHOOKS}/{id}", {"paused": False})
    make_features(admin, "resumed")
    deliver(app)
    assert [m.subject for m in allowed.messages if m.type == "feature-created"] == [
        "after",
        "resumed",
    ]


def test_what_waited_at_the_time_of_a_pause_is_sent_after_it(app, admin, allowed, clock):
    id = create(admin, allowed)["id"]
    allowed.status = 500
    make_features(admin, "cart")
    deliver(app)
    admin.ok("PUT", f"{WEBHOOKS}/{id}", {"paused": True})
    clock.shift(60)
    assert deliver(app) == 0
    admin.ok("PUT", f"{WEBHOOKS}/{id}", {"paused": False})
    allowed.status = 204
    deliver(app)
    assert [message.subject for message in allowed.accepted] == ["cart"]


def test_failures_are_tried_again_after_growing_pauses_and_then_given_up(
    app, admin, allowed, clock
):
    allowed.status = 500
    allowed.text = b"out of order"
    id = create(admin, allowed)["id"]
    make_features(admin, "cart")
    for pause in PAUSES:
        assert deliver(app) == 1
        clock.shift(pause - timedelta(seconds=1))
        assert deliver(app) == 0
        clock.shift(1)
    [waiting] = deliveries(admin, id)
    assert (waiting["status"], waiting["attempts"]) == ("waiting", len(PAUSES))
    assert deliver(app) == 1
    [found] = deliveries(admin, id)
    assert (found["status"], found["attempts"]) == ("failed", len(PAUSES) + 1)
    assert (found["answerStatus"], found["answer"]) == (500, "out of order")
    assert found["error"] == "Answered with 500."
    assert len({message.id for message in allowed.messages}) == 1
    clock.shift(timedelta(days=30))
    assert deliver(app) == 0


def test_the_last_attempt_is_a_day_after_the_first():
    assert timedelta(hours=24) <= sum(PAUSES, timedelta()) <= timedelta(hours=25)
    assert list(PAUSES) == sorted(PAUSES)


@pytest.mark.slow
def test_a_receiver_that_is_away_for_ten_minutes_misses_nothing(
    app, admin, receivers, monkeypatch, clock
):
    receiver = receivers()
    allow(app, monkeypatch, receiver.host)
    for project in ("shop", "bank"):
        admin.ok("POST", "/projects", {"id": project, "name": project})
    create(admin, receiver, eventTypes=["feature-created"])
    receiver.status = 503
    names = [f"f{number}" for number in range(30)]
    for number, name in enumerate(names):
        make_features(admin, name, project=("default", "shop", "bank")[number % 3])
        clock.shift(20)
        deliver(app)
    assert receiver.accepted == []
    receiver.status = 204
    for _ in range(60):
        clock.shift(15)
        deliver(app)
    got = [message.subject for message in receiver.accepted]
    assert sorted(got) == sorted(names)
    for start in range(3):
        assert [name for name in got if int(name[1:]) % 3 == start] == names[start::3]


def test_an_event_that_a_receiver_refuses_holds_back_its_own_project_only(
    app, admin, allowed, clock
):
    admin.ok("POST", "/projects", {"id": "shop", "name": "Shop"})
    create(admin, allowed, eventTypes=["feature-created"])
    allowed.answer = lambda message: 500 if message.subject == "bad" else 204
    make_features(admin, "bad", "after-bad")
    make_features(admin, "other", project="shop")
    for _ in range(5):
        deliver(app)
        clock.shift(6)
    assert [message.subject for message in allowed.accepted] == ["other"]
    allowed.answer = None
    for _ in range(3):
        clock.shift(timedelta(minutes=10))
        deliver(app)
    assert [message.subject for message in allowed.accepted] == ["other", "bad", "after-bad"]


def test_after_a_failure_nothing_is_sent_for_five_seconds(app, admin, allowed, clock):
    for number in range(5):
        admin.ok("POST", "/projects", {"id": f"p{number}", "name": f"P{number}"})
    create(admin, allowed, eventTypes=["feature-created"])
    for number in range(5):
        make_features(admin, f"f{number}", project=f"p{number}")
    allowed.status = 500
    assert [deliver(app), deliver(app)] == [1, 0]
    clock.shift(5)
    assert deliver(app) == 1


def test_sending_again_keeps_the_id_and_waits_for_nothing(app, admin, allowed, clock):
    id = create(admin, allowed, eventTypes=["feature-created"])["id"]
    make_features(admin, "cart")
    deliver(app)
    allowed.status = 500
    make_features(admin, "till")
    deliver(app)
    allowed.status = 204
    first = deliveries(admin, id)[0]
    admin.ok("POST", f"{WEBHOOKS}/{id}/deliveries/{first['id']}/send-again")
    assert deliver(app) == 1
    assert [message.subject for message in allowed.accepted] == ["cart", "cart"]
    assert allowed.accepted[0].id == allowed.accepted[1].id == first["messageId"]
    assert allowed.accepted[0].body == allowed.accepted[1].body


def test_a_test_is_sent_once_also_while_the_webhook_is_paused(app, admin, allowed):
    id = create(admin, allowed, paused=True)["id"]
    allowed.status = 400
    admin.ok("POST", f"{WEBHOOKS}/{id}/test")
    assert deliver(app) == 1
    [found] = deliveries(admin, id)
    assert (found["status"], found["eventType"], found["attempts"]) == ("failed", None, 1)
    [message] = allowed.messages
    assert message.json["type"] == "test"
    assert message.json["data"] == {"webhook": "Chat"}


def test_both_secrets_sign_for_a_day_after_a_rotation(app, admin, allowed, clock):
    created = create(admin, allowed)
    rotated = admin.ok("POST", f"{WEBHOOKS}/{created['id']}/rotate")
    assert rotated["secret"] != created["secret"]
    deliver(app)
    assert all(allowed.messages[-1].is_signed_with(one["secret"]) for one in (created, rotated))
    clock.shift(timedelta(hours=24, seconds=1))
    make_features(admin, "cart")
    deliver(app)
    assert allowed.messages[-1].is_signed_with(rotated["secret"])
    assert not allowed.messages[-1].is_signed_with(created["secret"])


def test_nothing_is_sent_with_another_secret_key(app, admin, allowed, monkeypatch):
    id = create(admin, allowed)["id"]
    make_features(admin, "cart")
    monkeypatch.setitem(app.config, "SECRET_KEY", "k" * 40)
    deliver(app)
    assert allowed.messages == []
    [found] = deliveries(admin, id)
    assert "Rotate the secret" in found["error"]


def test_an_event_that_is_too_large_comes_without_its_data(app, admin, allowed):
    create(admin, allowed, eventTypes=["application-deleted"])
    data = {"name": "x" * (MAX_BODY + 1)}
    with app.app_context(), unit_of_work(writes=True):
        events.record(COMMAND_LINE, events.EventType.APPLICATION_DELETED, data=data)
    deliver(app)
    [message] = allowed.accepted
    assert message.json["data"]["isTooLarge"] is True
    assert message.json["data"]["data"] is None
    assert message.json["data"]["id"]
    assert len(message.body) < 1_000


def test_events_that_were_pruned_before_they_were_looked_at_are_counted(app, admin, allowed):
    id = create(admin, allowed)["id"]
    make_features(admin, "one", "two", "three")
    with app.app_context(), unit_of_work(writes=True):
        pruned = events.prune(COMMAND_LINE, before=utcnow() + timedelta(days=1))
    deliver(app)
    found = admin.ok("GET", f"{WEBHOOKS}/{id}")
    assert found["missedEvents"] == 3 < pruned.count
    assert [message.type for message in allowed.accepted] == ["events-pruned"]


def test_a_message_that_waits_outlives_its_event(app, admin, allowed, clock):
    create(admin, allowed, eventTypes=["feature-created"])
    allowed.status = 500
    make_features(admin, "cart")
    deliver(app)
    with app.app_context(), unit_of_work(writes=True):
        events.prune(COMMAND_LINE, before=utcnow() + timedelta(days=1))
    allowed.status = 204
    clock.shift(5)
    deliver(app)
    assert [message.subject for message in allowed.accepted] == ["cart"]


def test_more_events_than_fit_wait_in_the_log(app, admin, allowed, clock, monkeypatch):
    monkeypatch.setattr(outbox, "MOST_WAITING", 5)
    id = create(admin, allowed, eventTypes=["feature-created"])["id"]
    allowed.status = 500
    names = [f"f{number}" for number in range(12)]
    make_features(admin, *names)
    for _ in range(3):
        deliver(app)
        clock.shift(40)
    assert len(deliveries(admin, id)) == 5
    allowed.status = 204
    clock.shift(120)
    deliver(app)
    assert [message.subject for message in allowed.accepted] == names


def test_old_deliveries_are_pruned_and_those_that_wait_are_kept(app, admin, allowed, monkeypatch):
    monkeypatch.setattr(outbox, "MAX_SENT", 3)
    id = create(admin, allowed, eventTypes=["feature-created"])["id"]
    make_features(admin, *(f"f{number}" for number in range(6)))
    deliver(app)
    allowed.status = 500
    make_features(admin, "waits")
    deliver(app)
    sent = [one["eventId"] for one in deliveries(admin, id)]
    assert len(sent) == 7
    with app.app_context():
        transact(outbox.prune, writes=True)
    assert [one["eventId"] for one in deliveries(admin, id)] == sent[3:]


def test_only_one_process_sends_for_a_webhook_and_another_takes_over_when_it_dies(
    app, admin, allowed, clock
):
    create(admin, allowed)
    make_features(admin, "cart")
    with app.app_context():
        [id] = transact(outbox.due, writes=False)
        dead = transact(partial(outbox.take, id), writes=True)
        assert dead is not None
        assert transact(outbox.due, writes=False) == []
        clock.shift(LEASE / 2)
        transact(partial(outbox.renew, [dead]), writes=True)
        clock.shift(LEASE / 2)
        assert transact(outbox.due, writes=False) == []
        assert transact(partial(outbox.take, id), writes=True) is None
    clock.shift(LEASE / 2)
    assert deliver(app) == 1
    with app.app_context():
        outcome = outbox.DeliveryOutcome(error="too late")
        assert transact(partial(outbox.settle, dead, outcome), writes=True) is None
    assert [message.subject for message in allowed.accepted] == ["cart"]
    assert deliver(app) == 0


def test_a_webhook_that_was_deleted_while_it_was_sent_is_no_problem(app, admin, allowed):
    id = create(admin, allowed)["id"]
    make_features(admin, "cart")
    with app.app_context():
        task = transact(partial(outbox.take, id), writes=True)
    admin.ok("DELETE", f"{WEBHOOKS}/{id}")
    with app.app_context():
        assert (
            transact(partial(outbox.settle, task, outbox.DeliveryOutcome(204)), writes=True) is None
        )
        assert db.session.scalar(sa.select(sa.func.count(Delivery.id))) == 0
        assert db.session.scalar(sa.select(sa.func.count(Webhook.id))) == 0


def test_the_bounds_are_what_the_help_says():
    assert (MOST_WAITING, MAX_SENT) == (1_000, 1_000)
