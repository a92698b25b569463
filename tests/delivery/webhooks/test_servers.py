"""Webhooks sent by real servers, which may be killed at any time."""

import signal
import threading

import pytest

from app.delivery.webhooks.outbox import LEASE
from tests.support.machines import SECONDS
from tests.support.servers import until
from tests.support.webhooks import WEBHOOKS

pytestmark = pytest.mark.one_in(2)

API = "/api/admin"
AGAIN_SECONDS = 15
"""After a kill, others must have gone on by then: a lease ends after 6 seconds."""


def ok(server, method, path, body=None):
    answer = server.call(method, API + path, body)
    assert answer.status < 300, answer.data
    return answer.json if answer.data else None


def make_features(server, names):
    for name in names:
        ok(server, "POST", "/projects/default/features", {"name": name})


def create(server, receiver):
    body = {"name": "Chat", "url": receiver.url, "eventTypes": ["feature-created"]}
    return ok(server, "POST", WEBHOOKS, body)


def assert_each_was_sent_once(server, receiver, names):
    def noted():
        found = ok(server, "GET", f"{WEBHOOKS}/1/deliveries")["deliveries"]
        return [one["status"] for one in found]

    until(lambda: noted() == ["delivered"] * len(names))
    assert [message.subject for message in receiver.messages] == names


@pytest.fixture
def hosts(machine, receiver):
    machine.settings["WEBHOOK_HOSTS"] = receiver.host
    return receiver


def test_a_message_arrives_within_seconds_and_is_counted(start, hosts):
    server = start()
    secret = create(server, hosts)["secret"]
    make_features(server, ["cart"])
    [message] = hosts.wait_for(1)
    assert message.is_signed_with(secret)
    counted = b'flagstaff_webhook_attempts_total{outcome="delivered"} 1.0'
    until(lambda: counted in server.call("GET", "/metrics").data)
    assert server.end() == 0


def test_messages_survive_a_kill_and_nothing_is_lost_or_out_of_order(start, hosts):
    server = start(PROCESSES="2")
    create(server, hosts)
    hosts.seconds = 0.05
    names = [f"f{number}" for number in range(60)]
    make_features(server, names[:30])
    hosts.wait_for(5)
    server.process.kill()  # of the parent; its processes end with it
    server.process.wait(SECONDS)
    server = start(PROCESSES="2")
    before = len(hosts.accepted)
    until(lambda: len(hosts.accepted) > before, AGAIN_SECONDS)
    make_features(server, names[30:])
    until(lambda: len({one.subject for one in hosts.accepted}) == 60, 3 * SECONDS)
    first_times = list(dict.fromkeys(one.subject for one in hosts.accepted))
    assert first_times == names
    twice = [one for one in hosts.accepted if one.subject in names]
    assert len(twice) <= len(names) + 1  # what was being sent can arrive again, with its id
    assert len({one.id for one in hosts.accepted}) == 60


def test_a_server_that_ends_finishes_what_it_sends(start, hosts):
    server = start()
    create(server, hosts)
    arrived, answered = threading.Event(), threading.Event()
    hosts.answer = lambda _: arrived.set() or (answered.wait(SECONDS) and 204)
    make_features(server, ["cart", "till"])
    assert arrived.wait(SECONDS)
    server.process.send_signal(signal.SIGTERM)
    server.wait_until_it_stops_listening()
    answered.set()
    assert server.process.wait(SECONDS) == 0
    assert hosts.accepted[0].subject == "cart"
    assert_each_was_sent_once(start(), hosts, ["cart", "till"])


def test_a_message_that_takes_longer_than_a_lease_is_sent_once(start, hosts):
    server = start(PROCESSES="2")
    create(server, hosts)
    hosts.seconds = LEASE.total_seconds() + 2
    make_features(server, ["cart"])
    assert_each_was_sent_once(server, hosts, ["cart"])


def test_a_slow_receiver_holds_up_neither_others_nor_the_server(start, machine, receivers):
    slow, quick = receivers(), receivers()
    machine.settings["WEBHOOK_HOSTS"] = f"{slow.host},{quick.host}"
    server = start(PROCESSES="1")
    slow.seconds = 30
    for name, receiver in (("Slow", slow), ("Quick", quick)):
        body = {"name": name, "url": receiver.url, "eventTypes": ["feature-created"]}
        ok(server, "POST", WEBHOOKS, body)
    names = [f"f{number}" for number in range(5)]
    make_features(server, names)
    quick.wait_for(5)
    assert slow.messages == []
    assert [one.subject for one in quick.accepted] == names
    assert server.call("GET", "/health", token=None).status == 200


def test_two_servers_send_each_message_exactly_once(servers, machine, receiver):
    machine.settings["WEBHOOK_HOSTS"] = receiver.host
    one, other = servers(2)
    create(one, receiver)
    names = [f"f{number}" for number in range(40)]
    for number, name in enumerate(names):
        make_features((one, other)[number % 2], [name])
    assert_each_was_sent_once(one, receiver, names)


def test_nothing_is_sent_while_no_host_is_allowed(start, machine, receiver):
    machine.settings["WEBHOOK_HOSTS"] = receiver.host
    server = start()
    create(server, receiver)
    server.end()
    machine.settings["WEBHOOK_HOSTS"] = ""
    server = start()
    make_features(server, ["cart"])
    place = f"{WEBHOOKS}/1/deliveries?status=waiting"

    def errors():
        found = ok(server, "GET", place)["deliveries"]
        return [one["error"] for one in found if one["attempts"]]

    until(errors)
    assert "to add it to FLAGSTAFF_WEBHOOK_HOSTS" in errors()[0]
    assert receiver.messages == []
