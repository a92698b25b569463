"""Programs with the official SDKs see changes, report, and live through whatever happens here."""

import re
import signal
import time

import pytest

pytestmark = pytest.mark.one_in(2)

LANGUAGES = ("node", "python")
POLL_SECONDS = 1
FEATURES = "/api/admin/projects/default/features"
REFUSED = re.compile(r"\b40[13]\b")  # a port such as 40347 is no refusal


@pytest.fixture
def server(start):
    return start(PROCESSES="2")


@pytest.fixture
def token(server):
    server.call("POST", FEATURES, {"name": "cart"})
    body = {"tokenName": "web", "type": "client", "environment": "production"}
    return server.call("POST", "/api/admin/api-tokens", body).json["secret"]


def switch(server, way):
    path = f"{FEATURES}/cart/environments/production/{way}"
    assert server.call("POST", path).status == 200


def reported(server):
    """The applications that reported counts in the last hour."""
    return server.call("GET", "/api/admin/client-metrics/features/cart").json


def test_a_change_is_seen_within_a_poll_and_counts_arrive(server, token, watch):
    programs = [watch(language, server, token) for language in LANGUAGES]
    for program in programs:
        program.wait_for(on=False)
    for way in ("on", "off", "on"):
        switch(server, way)
        for program in programs:
            assert program.wait_for(on=way == "on") < POLL_SECONDS + 1
    deadline = time.monotonic() + 15
    while set(reported(server)["seenApplications"]) != {"node-app", "python-app"}:
        assert time.monotonic() < deadline, reported(server)
        time.sleep(0.2)
    [usage] = [
        one for one in reported(server)["lastHourUsage"] if one["environment"] == "production"
    ]
    assert usage["yes"] > 0
    assert [program.errors for program in programs] == [[], []]


def test_programs_live_through_restarts_without_one_401_or_403(server, token, watch, start):
    programs = [watch(language, server, token) for language in LANGUAGES]
    for program in programs:
        program.wait_for(on=False)
    server.process.send_signal(signal.SIGHUP)
    switch(server, "on")
    for program in programs:
        program.wait_for(on=True)
    for way, number in (("off", signal.SIGTERM), ("on", signal.SIGKILL)):
        server.process.send_signal(number)
        server.process.wait(30)
        time.sleep(POLL_SECONDS)  # so that each asks in vain
        server = start(PORT=str(server.port))
        switch(server, way)
        for program in programs:
            program.wait_for(on=way == "on", seconds=40)
    errors = [error for program in programs for error in program.errors]
    assert errors
    assert not [error for error in errors if REFUSED.search(error)]
