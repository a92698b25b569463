"""Streams and deltas of the client API: SDKs learn of a change when it happens."""

import signal
import socket

import pytest

from tests.support.servers import SECONDS, serving_with, until

FEATURES = "/api/admin/projects/default/features"
STREAMING = "/api/client/streaming"
STREAMS = "app.delivery.sdk.streams"


@pytest.fixture
def streaming(open_stream):
    """Opens a stream of the client API with a token."""

    def begin(server, token, **more):
        return open_stream(server, STREAMING, Authorization=token, **more)

    return begin


@pytest.fixture
def server(start):
    return start(PROCESSES="2")


def new_token(server, type="client", **more):
    body = {"tokenName": f"{type} {more}", "type": type, "environment": "production"} | more
    return server.call("POST", "/api/admin/api-tokens", body).json


@pytest.fixture
def token(server):
    return new_token(server)["secret"]


def create(server, name, project="default"):
    path = f"/api/admin/projects/{project}/features"
    assert server.call("POST", path, {"name": name}).status == 201


def switch(server, name, way):
    path = f"{FEATURES}/{name}/environments/production/{way}"
    assert server.call("POST", path).status == 200


def open_streams(server):
    metrics = server.call("GET", "/metrics").data.decode()
    [line] = [line for line in metrics.splitlines() if line.startswith("flagstaff_open_streams ")]
    return float(line.split()[1])


def kinds(event):
    """What happened in an event of a stream, in its order: pairs of a type and a name."""
    found = []
    for one in event.data["events"]:
        subject = one.get("feature", one.get("segment", {}))
        found.append((one["type"], subject.get("name", one.get("featureName"))))
    return found


def test_a_stream_begins_with_all_features_and_sends_each_change(server, token, streaming):
    create(server, "cart")
    stream = streaming(server, token)
    assert stream.status == 200
    assert stream.headers["Content-Type"] == "text/event-stream"
    first = stream.event()
    assert first.name == "unleash-connected"
    [hydration] = first.data["events"]
    assert hydration["type"] == "hydration"
    assert [(one["name"], one["enabled"]) for one in hydration["features"]] == [("cart", False)]
    switch(server, "cart", "on")
    update = stream.event()
    assert (update.name, kinds(update)) == ("unleash-updated", [("feature-updated", "cart")])
    assert update.data["events"][0]["feature"]["enabled"] is True
    assert update.data["events"][0]["eventId"] > hydration["eventId"]


def test_who_comes_back_gets_what_has_changed_since(server, token, streaming):
    create(server, "cart")
    stream = streaming(server, token)
    known = stream.event().id
    stream.close()
    back = streaming(server, token, Last_Event_ID=known)
    assert kinds(back.event()) == []
    create(server, "menu")
    changed = back.event()
    assert kinds(changed) == [("feature-updated", "menu")]
    again = streaming(server, token, Last_Event_ID=changed.id)
    assert kinds(again.event()) == []
    unknown = streaming(server, token, Last_Event_ID="unknown")
    assert kinds(unknown.event()) == [("hydration", None)]


def test_what_a_stream_says_last_is_what_a_restarted_server_calls_current(
    server, token, start, streaming
):
    create(server, "cart")
    known = streaming(server, token).event().id
    assert server.end() == 0
    server = start(PROCESSES="2")
    back = streaming(server, token, Last_Event_ID=known)
    assert kinds(back.event()) == []


def test_a_stream_ends_when_its_token_is_revoked(server, streaming):
    token = new_token(server)
    stream = streaming(server, token["secret"])
    stream.event()
    assert server.call("DELETE", f"/api/admin/api-tokens/{token['secret']}").status == 200
    stream.wait_for_end()
    assert streaming(server, token["secret"]).status == 401


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_streams_end_properly_when_their_process_does(server, token, number, streaming):
    streams = [streaming(server, token) for _ in range(20)]
    for stream in streams:
        stream.event()
    server.process.send_signal(number)
    for stream in streams:
        stream.wait_for_end()


def test_clients_come_back_at_different_times(server, token, streaming):
    times = {streaming(server, token).retry for _ in range(8)}
    assert len(times) > 1
    assert all(1_000 <= time < 5_000 for time in times)


def test_streams_have_bounds_for_each_token_and_each_address(start, streaming):
    server = start(
        PROCESSES="1", command=serving_with(STREAMS, MOST=6, MOST_OF_TOKEN=3, MOST_OF_ADDRESS=2)
    )
    one, two = new_token(server)["secret"], new_token(server, tokenName="two")["secret"]
    opened = []

    def status(token, address):
        opened.append(streaming(server, token, address=address))
        return opened[-1].status

    assert [status(one, "127.0.0.2") for _ in range(3)] == [200, 200, 429]
    assert [status(one, "127.0.0.3") for _ in range(2)] == [200, 429]
    assert [status(two, f"127.0.0.{host}") for host in (3, 4, 5, 6)] == [200, 200, 200, 429]
    assert opened[2].headers["Retry-After"] == "60"
    opened[0].close()
    until(lambda: status(one, "127.0.0.7") == 200)


def test_quiet_streams_get_comments_so_that_no_one_takes_them_for_dead(start, streaming):
    server = start(command=serving_with(STREAMS, QUIET_SECONDS=0.5))
    stream = streaming(server, new_token(server)["secret"])
    stream.event()
    assert [stream.line() for _ in range(4)] == [":", "", ":", ""]


def test_who_reads_nothing_is_cut_off_and_holds_no_one_up(start, streaming):
    server = start(command=serving_with("app.operations.server.connections", STALL_SECONDS=1.0))
    token = new_token(server)["secret"]
    for number in range(100):
        body = {"name": f"feature-{number}", "description": "x" * 5_000}
        assert server.call("POST", FEATURES, body).status == 201
    reading = streaming(server, token)
    reading.event()
    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        deaf.connect(("127.0.0.1", server.port))
        deaf.sendall(
            f"GET {STREAMING} HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\n\r\n".encode()
        )
        until(lambda: open_streams(server) == 2)
        switch(server, "feature-7", "off")
        create(server, "cart")
        assert kinds(reading.event()) == [("feature-updated", "cart")]
        until(lambda: open_streams(server) == 1)


def test_an_old_client_gets_a_stream_without_chunks(server, token):
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as client:
        client.sendall(f"GET {STREAMING} HTTP/1.0\r\nAuthorization: {token}\r\n\r\n".encode())
        with client.makefile("rb") as answer:
            lines = iter(answer.readline, b"")
            head = list(iter(lambda: next(lines).strip().lower(), b""))
            assert b"transfer-encoding: chunked" not in head
            assert next(lines).startswith(b"retry: ")
            assert next(lines) == b"\n"
            assert next(lines) == b"event: unleash-connected\n"


def test_a_second_request_on_the_connection_of_a_stream_ends_it(server, token):
    request = f"GET {STREAMING} HTTP/1.1\r\nHost: x\r\nAuthorization: {token}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as client:
        client.sendall(request)
        until(lambda: open_streams(server) == 1)
        client.sendall(request)
        while client.recv(65_536):
            pass
    until(lambda: open_streams(server) == 0)


def test_another_server_says_that_it_has_no_streams(sdk):
    answer = sdk.get("streaming")
    assert (answer.status_code, answer.json["name"]) == (501, "NotImplementedError")


def test_a_stream_needs_a_token_for_servers(server, token):
    frontend = new_token(server, "frontend")["secret"]
    assert server.call("GET", STREAMING, token=frontend).status == 403
    assert server.call("GET", STREAMING, token=None).status == 401


@pytest.mark.parametrize(
    ("language", "mode"), [("node", "streaming"), ("node", "delta"), ("python", "streaming")]
)
def test_an_sdk_sees_each_change(server, token, watch, language, mode):
    create(server, "cart")
    program = watch(language, server, token, mode)
    program.wait_for(on=False)
    for way in ("on", "off", "on"):
        switch(server, "cart", way)
        program.wait_for(on=way == "on")
    assert program.errors == []


@pytest.mark.parametrize("language", ["node", "python"])
def test_an_sdk_streams_through_a_reload_and_a_restart(server, token, watch, start, language):
    create(server, "cart")
    program = watch(language, server, token, "streaming")
    program.wait_for(on=False)
    server.process.send_signal(signal.SIGHUP)
    switch(server, "cart", "on")
    program.wait_for(on=True)
    assert server.end() == 0
    server = start(PORT=str(server.port), PROCESSES="2")
    switch(server, "cart", "off")
    program.wait_for(on=False)
    switch(server, "cart", "on")
    program.wait_for(on=True)
    assert open_streams(server) == 1
