"""The application under servers that know nothing of Flagstaff."""

import sys
from datetime import timedelta
from pathlib import Path

import pytest

from app.core.clock import utcnow
from tests.support.processes import free_port
from tests.support.servers import Server, until

pytestmark = pytest.mark.slow

API = "/api/admin"
PROJECT = f"{API}/projects/pay"
FORKING = """
import os, signal, sys, threading
from waitress import serve
from wsgi import app

out, into = os.pipe()
if child := os.fork():
    os.close(out)
    signal.signal(signal.SIGTERM, lambda number, _: os.kill(child, number))
    os.waitpid(child, 0)
else:
    os.close(into)
    threading.Thread(target=lambda: os._exit(len(os.read(out, 1))), daemon=True).start()
    serve(app, listen=sys.argv[1])
"""
"""As servers do that load the application once and then fork their workers, which end with them."""

PLACE = "127.0.0.1:{port}"
SERVERS = {
    "waitress": (Path(sys.executable).with_name("waitress-serve"), f"--listen={PLACE}", "wsgi:app"),
    "flask": (sys.executable, "-m", "flask", "--app", "wsgi", "run", "--port={port}"),
    "forked": (sys.executable, "-c", FORKING, PLACE),
}


def command_of(name, port):
    return [str(word).format(port=port) for word in SERVERS[name]]


@pytest.fixture(params=SERVERS)
def server(request, start, machine, receiver) -> Server:
    machine.settings["WEBHOOK_HOSTS"] = receiver.host
    port = free_port()
    command = command_of(request.param, port)
    return start(command=command, PORT=str(port))


def ok(server, method, path, body=None, **by):
    answer = server.call(method, path, body, **by)
    assert answer.status < 300, (path, answer.data)
    return answer.json if answer.data else None


def schedule(server, machine):
    """Have the feature ``cart`` switched on in production within a moment."""
    rule = {"name": "production", "requiredApprovals": 1}
    project = {"id": "pay", "name": "Pay", "changeRequestEnvironments": [rule]}
    ok(server, "POST", f"{API}/projects", project)
    ok(server, "POST", f"{PROJECT}/features", {"name": "cart"})
    machine.ok("user", "create", "--username", "finn", "--name", "Finn", "--role", "admin")
    finn = machine.ok("token", "create", "finn", "--description", "test").split()[-1]
    change = {"feature": "cart", "action": "updateEnabled", "payload": {"enabled": True}}
    place = f"{PROJECT}/environments/production/change-requests"
    number = ok(server, "POST", place, change)["id"]
    state = f"{PROJECT}/change-requests/{number}/state"
    ok(server, "PUT", state, {"state": "In review"})
    ok(server, "PUT", state, {"state": "Approved"}, token=finn)
    at = (utcnow() + timedelta(seconds=1)).isoformat()
    ok(server, "PUT", state, {"state": "Scheduled", "scheduledAt": at})


def report(server, yes):
    body = {"tokenName": "web", "type": "client", "environment": "production"}
    token = ok(server, "POST", f"{API}/api-tokens", body)["secret"]
    bucket = {"stop": utcnow().isoformat(), "toggles": {"cart": {"yes": yes, "no": 0}}}
    body = {"appName": "shop", "instanceId": "1", "bucket": bucket}
    ok(server, "POST", "/api/client/metrics", body, token=token)


def counted(server):
    uses = ok(server, "GET", f"{API}/client-metrics/features/cart")["lastHourUsage"]
    return sum(use["yes"] for use in uses)


@pytest.mark.one_in(3)
def test_the_database_is_migrated_and_what_is_to_happen_beside_requests_happens(
    server, machine, receiver
):
    assert f"The data is in {machine.home}/flagstaff.db" in server.log.read_text()
    hook = {"name": "Chat", "url": receiver.url, "eventTypes": ["feature-environment-enabled"]}
    ok(server, "POST", f"{API}/webhooks", hook)
    schedule(server, machine)
    assert receiver.wait_for(1)[0].subject == "cart"
    report(server, yes=7)
    until(lambda: counted(server) == 7)


@pytest.mark.one_in(3)
def test_what_was_reported_a_moment_ago_is_kept_at_the_end(server, start, machine):
    ok(server, "POST", f"{API}/projects/default/features", {"name": "cart"})
    report(server, yes=7)
    assert server.end() == 0
    assert counted(start()) == 7


def test_a_link_for_the_first_admin_is_shown(start):
    port = free_port()
    command = command_of("waitress", port)
    server = start(command=command, PORT=str(port), BOOTSTRAP_TOKEN="")
    line = next(line for line in server.log.read_text().splitlines() if "first Admin" in line)
    link = line.split()[-1]
    assert link.startswith(server.address)
    assert server.call("GET", link.removeprefix(server.address)).status == 200


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["waitress", "flask"])
def test_it_refuses_to_start_with_a_sentence(name, machine):
    command = command_of(name, free_port())
    server = Server(machine, command, THREADS="many")
    assert server.process.wait(60) == 1
    assert server.log.read_text() == (
        "flagstaff: FLAGSTAFF_THREADS is 'many'. It must be a whole number from 1 to 64.\n"
    )
    assert not machine.home.exists()
