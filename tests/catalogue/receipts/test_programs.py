"""Receipts of real SDKs, over several processes and servers."""

import signal

import pytest

from tests.support.servers import SECRET_KEY, until

pytestmark = pytest.mark.one_in(2)

FEATURES = "/api/admin/projects/default/features"
PLACE = f"{FEATURES}/cart/environments/production"
STATES = ("confirmed", "sent", "waiting", "silent", "cantTell")


@pytest.fixture
def server(start):
    server = start(PROCESSES="2")
    server.call("POST", FEATURES, {"name": "cart"})
    return server


@pytest.fixture
def token(server):
    return new_token(server)


def new_token(server):
    body = {"tokenName": "web", "type": "client", "environment": "production"}
    return server.call("POST", "/api/admin/api-tokens", body).json["secret"]


def until_known(server, *names):
    """Wait until instances of these applications are known. Those that start later don't count."""

    def known():
        found = server.call("GET", "/api/admin/arrival").json["applications"]
        return {one["appName"] for one in found}

    until(lambda: known() == {*names})


def switch(server, way):
    assert server.call("POST", f"{PLACE}/{way}").status == 200


def states(server):
    """The state of each application's instances, by their names."""
    found = server.call("GET", f"{PLACE}/receipts").json["applications"]
    return {one["appName"]: [state for state in STATES if one[state]] for one in found}


def wait_for(server, **wanted):
    until(lambda: states(server) == {f"{name}-app": [state] for name, state in wanted.items()})


def test_the_official_sdks_confirm_a_change_and_one_that_hangs_does_not(server, token, watch):
    node, python = watch("node", server, token), watch("python", server, token)
    for program in (node, python):
        program.wait_for(on=False)
    until_known(server, "node-app", "python-app")
    node.process.send_signal(signal.SIGSTOP)
    switch(server, "on")
    wait_for(server, node="silent", python="confirmed")
    assert python.wait_for(on=True) < 1
    node.process.send_signal(signal.SIGCONT)
    wait_for(server, node="confirmed", python="confirmed")
    assert node.wait_for(on=True) < 1


def test_an_sdk_that_streams_can_tell_when_it_comes_back(server, token, watch):
    node = watch("node", server, token, "streaming")
    node.wait_for(on=False)
    until_known(server, "node-app")
    switch(server, "on")
    node.wait_for(on=True)
    wait_for(server, node="cantTell")
    server.process.send_signal(signal.SIGHUP)
    wait_for(server, node="confirmed")


def test_a_command_waits_until_all_instances_have_the_change(server, machine, token, watch):
    program = watch("node", server, token)
    program.wait_for(on=False)
    until_known(server, "node-app")
    command = ("feature", "on", "default", "cart", "--environment", "production", "--wait")
    assert "Everywhere: 1 of 1 instance confirmed" in machine.ok(*command, "60s")
    assert program.wait_for(on=True) < 1
    program.process.send_signal(signal.SIGSTOP)
    switch(server, "off")
    done = machine.run(*command, "1s")
    assert (done.returncode, done.stderr) == (3, "")
    assert "0 of 1 instance confirmed" in done.stdout
    assert "node-app" in done.stdout


def test_what_an_instance_proved_to_one_server_all_know(start, empty_postgresql):
    one, two = (start(DATABASE_URL=empty_postgresql, SECRET_KEY=SECRET_KEY) for _ in range(2))
    one.call("POST", FEATURES, {"name": "cart"})
    token, names = new_token(one), {"Unleash-AppName": "shop-app", "Unleash-Connection-Id": "1"}

    def poll(server, etag=""):
        headers = names | ({"If-None-Match": etag} if etag else {})
        answer = server.call("GET", "/api/client/features", token=token, more=headers)
        return answer.status, answer.headers["ETag"]

    _, older = poll(one)
    assert poll(two, older) == (304, older)
    until_known(one, "shop-app")
    switch(one, "on")
    status, newer = poll(two, older)
    assert (status, poll(one, newer)) == (200, (304, newer))
    for server in (one, two):
        wait_for(server, shop="confirmed")
    assert poll(two, older) == (200, newer)
    for server in (one, two):
        wait_for(server, shop="sent")
