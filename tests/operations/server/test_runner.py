"""The server's manners: it ends without losing anything, and no client can hold it up."""

import json
import os
import re
import resource
import signal
import socket
import sqlite3
import time
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection

import pytest

from app.operations.server.connections import RECEIVE_SECONDS
from app.operations.server.loop import DRAIN_SECONDS
from tests.support.machines import SECONDS
from tests.support.servers import TOKEN, Answer, Server, serving_with

pytestmark = pytest.mark.one_in(2)

FEATURES = "/api/admin/projects/default/features"
CONNECTIONS = "app.operations.server.connections"
SOCKETS = 1_500
POST = "POST / HTTP/1.1\r\nHost: x\r\n"
CHUNKED = f"{POST}Transfer-Encoding: chunked\r\n\r\n"
FRAMING = {
    "two lengths": (
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello"
    ),
    "length and chunks": (
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
        "0\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    ),
    "chunks twice": (
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    "chunks in HTTP/1.0": (
        "POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    "two hosts": "GET /health HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
    "no host": "GET /health HTTP/1.1\r\n\r\n",
    "folded": "GET /health HTTP/1.1\r\nHost: x\r\nX-Reason: a\r\n b\r\n\r\n",
    "space before the colon": "GET /health HTTP/1.1\r\nHost : x\r\n\r\n",
    "another protocol": "GET /health HTTP/3.0\r\nHost: x\r\n\r\n",
    "a length with a sign": "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\nhello",
    "a length below zero": f"{POST}Content-Length: -5\r\n\r\nhello",
    "a length in hexadecimal": f"{POST}Content-Length: 0x5\r\n\r\nhello",
    "a length with an underscore": f"{POST}Content-Length: 1_0\r\n\r\nhellohello",
    "a length with a fraction": f"{POST}Content-Length: 5.0\r\n\r\nhello",
    "two lengths in one": f"{POST}Content-Length: 5, 5\r\n\r\nhello",
    "two equal lengths": f"{POST}Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
    "an empty length": f"{POST}Content-Length: \r\n\r\n",
    "a length of words": f"{POST}Content-Length: five\r\n\r\nhello",
    "a length of other digits": f"{POST}Content-Length: \u0665\r\n\r\nhello",
    "chunks, then a length": (
        f"{POST}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"
    ),
    "a length in other letters": f"{POST}content-length: 5\r\nCONTENT-LENGTH: 6\r\n\r\nhello",
    "chunks of another kind": f"{POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunks and identity": f"{POST}Transfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n",
    "chunks twice in one": f"{POST}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "chunks that are zipped": f"{POST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "a control before chunked": f"{POST}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "a control within the name": f"{POST}Transfer-Enc\x0boding: chunked\r\n\r\n0\r\n\r\n",
    "an empty encoding": f"{POST}Transfer-Encoding:\r\n\r\n0\r\n\r\n",
    "a chunk with a sign": f"{CHUNKED}+5\r\nhello\r\n0\r\n\r\n",
    "a chunk in hexadecimal words": f"{CHUNKED}0x5\r\nhello\r\n0\r\n\r\n",
    "a chunk below zero": f"{CHUNKED}-1\r\n\r\n",
    "a chunk with an underscore": f"{CHUNKED}0_5\r\nhello\r\n0\r\n\r\n",
    "a chunk with a space": f"{CHUNKED} 5\r\nhello\r\n0\r\n\r\n",
    "a chunk longer than it says": f"{CHUNKED}2\r\nhello\r\n0\r\n\r\n",
    "a chunk without an end of line": f"{CHUNKED}5\r\nhelloGET / HTTP/1.1\r\n\r\n",
    "a chunk without a length": f"{CHUNKED}\r\nhello\r\n0\r\n\r\n",
    "a bare line feed": f"{POST}X-Reason: a\nContent-Length: 5\r\n\r\nhello",
    "a bare carriage return": f"{POST}X-Reason: a\rContent-Length: 5\r\n\r\nhello",
    "a NUL": f"{POST}X-Reason: a\0b\r\n\r\n",
    "a header without a name": f"{POST}: a\r\n\r\n",
    "a header without a colon": f"{POST}Content-Length 5\r\n\r\nhello",
    "a tab before the colon": f"{POST}Content-Length\t: 5\r\n\r\nhello",
    "no version": "POST /\r\nHost: x\r\n\r\n",
    "half a version": "GET / HTTP/1\r\nHost: x\r\n\r\n",
    "a space too many": "GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
    "a space in the address": "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
    "a line feed in the first line": "GET / HTTP/1.1\nHost: x\r\n\r\n",
    "a method in small letters": "get / HTTP/1.1\r\nHost: x\r\n\r\n",
}


def create(server: Server, name: str, description: str = "") -> Answer:
    return server.call("POST", FEATURES, {"name": name, "description": description})


def ask(server: Server, name: str) -> HTTPConnection:
    """A connection on which the feature is asked for, and nothing is read yet."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)
    headers = {"Authorization": TOKEN, "Content-Type": "application/json"}
    connection.request("POST", FEATURES, json.dumps({"name": name}), headers)
    return connection


def connect(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=30)


def is_cut_off(client: socket.socket) -> bool:
    """Whether the server has hung up; waits a little for it."""
    try:
        return client.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


@pytest.mark.parametrize("signalled", ["the parent", "all processes"])
def test_what_is_under_way_and_queued_is_answered_before_the_end(machine, start, signalled):
    server = start(THREADS="2", PROCESSES="2")
    with (
        closing(sqlite3.connect(machine.home / "flagstaff.db", timeout=30)) as file,
        ExitStack() as clients,
    ):
        file.execute("BEGIN IMMEDIATE")  # so that no one else can write for a while
        asked = [clients.enter_context(closing(ask(server, f"f{number}"))) for number in range(6)]
        server.wait_until_all_is_read()
        workers = server.workers() if signalled == "all processes" else ()
        for pid in (server.process.pid, *workers):  # as systemd does
            os.kill(pid, signal.SIGTERM)
        server.wait_until_it_stops_listening()
        assert server.process.poll() is None
        file.rollback()
        assert [connection.getresponse().status for connection in asked] == [201] * 6
    assert server.process.wait(30) == 0


def test_a_long_answer_is_sent_to_its_end(start):
    server = start()
    for number in range(400):
        create(server, f"f{number}", "long " * 400)
    connection = HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("GET", f"{FEATURES}?limit=1000", headers={"Authorization": TOKEN})
    answer = connection.getresponse()
    first = answer.read(1_000)
    server.process.send_signal(signal.SIGTERM)
    server.wait_until_it_stops_listening()
    length = int(answer.headers["Content-Length"])
    assert length > 800_000
    assert len(first) + len(answer.read()) == length
    connection.close()
    assert server.process.wait(30) == 0


@pytest.mark.parametrize(("path", "status"), [("/health", 200), ("/ready", 503)])
def test_a_client_that_has_just_connected_hears_that_the_server_lives_but_ends(start, path, status):
    # More time for a new connection than a busy machine needs to send a request.
    server = start(command=serving_with(CONNECTIONS, GREETING_SECONDS=30.0))
    with closing(connect(server)) as client:
        server.process.send_signal(signal.SIGTERM)
        server.wait_until_it_stops_listening()
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert client.recv(1_000).startswith(f"HTTP/1.1 {status}".encode())
    assert server.process.wait(30) == 0


def test_changes_that_wait_for_each_other_keep_no_reader_waiting(machine, start):
    server = start(THREADS="2")
    with (
        closing(sqlite3.connect(machine.home / "flagstaff.db")) as other,
        ExitStack() as clients,
    ):
        other.execute("BEGIN IMMEDIATE")
        changes = [clients.enter_context(closing(ask(server, f"f{number}"))) for number in range(4)]
        server.wait_until_all_is_read()
        assert server.call("GET", "/api/admin/user").status == 200  # nor is its use waited for
        other.rollback()
        assert {change.getresponse().status for change in changes} == {201}


@pytest.mark.parametrize("question", ["validate", "plan"])
def test_a_question_sent_with_post_waits_for_no_change(machine, start, question):
    server = start()
    with closing(sqlite3.connect(machine.home / "flagstaff.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        path = f"/api/admin/projects/default/archive/{question}"
        assert server.call("POST", path, {"features": ["unknown"]}).status == 200


def test_with_nothing_under_way_it_ends_at_once(start):
    server = start()
    with closing(connect(server)) as idle:
        idle.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = b""
        while b"GOOD" not in answer:
            answer += idle.recv(1_000)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(DRAIN_SECONDS / 2) == 0  # it waited for nothing
        assert idle.recv(1_000) == b""


@pytest.mark.parametrize("part", ["headers", "body", "nothing"])
def test_who_never_finishes_a_request_is_cut_off(start, part):
    server = start(command=serving_with(CONNECTIONS, RECEIVE_SECONDS=1.0, STALL_SECONDS=1.0))
    head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"
    began = time.monotonic()
    with closing(connect(server)) as slow:
        slow.sendall({"headers": head, "body": f"{head}\r\n", "nothing": ""}[part].encode())
        slow.settimeout(0.2)
        while not is_cut_off(slow):
            assert time.monotonic() - began < RECEIVE_SECONDS / 2
            assert server.call("GET", "/health", token=None).status == 200
            if part != "nothing":
                with suppress(ConnectionError):
                    slow.sendall(b"x")
        assert time.monotonic() - began > 0.9


def test_a_request_that_could_be_read_in_two_ways_is_refused(start):
    server = start()
    wrong = []
    for name, request_text in FRAMING.items():
        with closing(connect(server)) as client:
            client.sendall(request_text.encode())
            client.settimeout(10)
            answer = b""
            try:
                while received := client.recv(65_536):
                    answer += received
            except TimeoutError:
                answer += b" (left open)"
        is_refused = answer.startswith((b"HTTP/1.1 400", b"HTTP/1.0 400"))
        answers = len(re.findall(rb"^HTTP/1\.\d \d", answer, re.MULTILINE))
        if not is_refused or answers != 1 or b"left open" in answer:
            wrong.append((name, answers, answer[:60]))
    assert wrong == []


def test_many_open_connections_keep_no_one_out(start):
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if resource.RLIM_INFINITY != most < SOCKETS + 200:
        pytest.skip("this machine does not let a process open so many")
    resource.setrlimit(resource.RLIMIT_NOFILE, (SOCKETS + 200, most))
    try:
        server = start()
        with ExitStack() as stack:
            for _ in range(SOCKETS):
                stack.enter_context(closing(connect(server)))
            assert server.call("GET", "/api/admin/user").status == 200
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, most))
