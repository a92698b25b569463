"""The log of the server, which must not be able to take the server down."""

import json
import urllib.request

import pytest

from tests.support.machines import EXECUTABLE

ID = "0a1b2c3d-proxy"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def test_a_log_that_can_not_be_written_costs_no_answer(start):
    command = ["sh", "-c", f"exec '{EXECUTABLE}' serve 2>/dev/full"]
    server = start(command=command, PROCESSES="1")
    answers = [server.call("GET", "/no/such/page", token=None).status for _ in range(50)]
    assert answers == [404] * 50
    assert server.call("GET", "/api/admin/user").status == 200
    assert server.end() == 0


def ask(server, **headers):
    """The id with which a request was answered."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(f"{server.address}/health", headers=sent)
    with urllib.request.urlopen(request) as answer:
        return answer.headers["X-Request-Id"]


def logged(server, id):
    assert server.end() == 0
    lines = [line for line in server.log.read_text().splitlines() if line.startswith("{")]
    return [line for line in map(json.loads, lines) if line.get("id") == id]


def test_a_trusted_proxy_names_the_request_and_anyone_its_trace(start):
    server = start(TRUSTED_PROXY="127.0.0.0/8", LOG_FORMAT="json")
    assert ask(server, X_Request_Id=ID, traceparent=f"00-{TRACE}-00f067aa0ba902b7-01") == ID
    assert ask(server, X_Request_Id="a b") != "a b"
    [line] = logged(server, ID)
    assert line["traceId"] == TRACE


def test_others_do_not_name_the_request(start):
    server = start(TRUSTED_PROXY="10.0.0.0/8")
    assert ask(server, X_Request_Id=ID) != ID


@pytest.mark.parametrize("given", [{"LOG_LEVEL": "warning"}, {"LOG_REQUESTS": "off"}])
def test_requests_are_not_logged_if_the_operator_does_not_want_it(start, given):
    server = start(LOG_FORMAT="json", **given)
    assert logged(server, ask(server)) == []
