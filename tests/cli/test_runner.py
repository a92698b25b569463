"""The server's manners: it ends without losing anything, and no client can hold it up."""

import resource
import signal
import socket
import sqlite3
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection

import pytest

from tests.cli.conftest import TOKEN, Answer, Server

FEATURES = "/api/admin/projects/default/features"
HASTY = """
import app.cli.runner as runner
runner.RECEIVE_SECONDS = runner.STALL_SECONDS = 1.0
from app.cli import main
main()
"""
"""The same server with less patience than it has."""
SOCKETS = 1_500
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
}


def create(server: Server, name: str, description: str = "") -> Answer:
    return server.call("POST", FEATURES, {"name": name, "description": description})


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


def test_what_is_under_way_and_queued_is_answered_before_the_end(machine, start):
    server = start(THREADS="2")
    with closing(sqlite3.connect(machine.home / "flagstaff.db", timeout=30)) as file:
        file.execute("BEGIN IMMEDIATE")  # so that nobody else can write for a while
        with ThreadPoolExecutor(6) as clients:
            answers = [clients.submit(create, server, f"f{number}") for number in range(6)]
            time.sleep(0.5)
            server.process.send_signal(signal.SIGTERM)
            time.sleep(1)
            with pytest.raises(ConnectionRefusedError):
                connect(server)
            assert server.process.poll() is None
            file.rollback()
            assert [answer.result().status for answer in answers] == [201] * 6
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
    time.sleep(1)
    length = int(answer.headers["Content-Length"])
    assert length > 800_000
    assert len(first) + len(answer.read()) == length
    connection.close()
    assert server.process.wait(30) == 0


def test_who_has_just_connected_can_still_send_a_request(start):
    server = start()
    with closing(connect(server)) as client:
        time.sleep(0.1)
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        client.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.recv(1_000).startswith(b"HTTP/1.1 200")
    assert server.process.wait(30) == 0


def test_with_nothing_under_way_it_ends_at_once(start):
    server = start()
    with closing(connect(server)) as idle:
        idle.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = b""
        while b"ok" not in answer:
            answer += idle.recv(1_000)
        began = time.monotonic()
        assert server.end() == 0
        assert time.monotonic() - began < 3
        assert idle.recv(1_000) == b""


@pytest.mark.parametrize("part", ["headers", "body", "nothing"])
def test_who_never_finishes_a_request_is_cut_off(start, part):
    server = start(command=[sys.executable, "-c", HASTY, "serve"])
    head = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"
    with closing(connect(server)) as slow:
        slow.sendall({"headers": head, "body": f"{head}\r\n", "nothing": ""}[part].encode())
        slow.settimeout(0.2)
        began = time.monotonic()
        while not is_cut_off(slow) and time.monotonic() - began < 10:
            assert server.call("GET", "/health", token=None).status == 200
            if part != "nothing":
                with suppress(ConnectionError):
                    slow.sendall(b"x")
        assert 0.9 < time.monotonic() - began < 5


@pytest.mark.parametrize("request_text", FRAMING.values(), ids=FRAMING)
def test_a_request_that_could_be_read_in_two_ways_is_refused(start, request_text):
    server = start()
    with closing(connect(server)) as client:
        client.sendall(request_text.encode())
        client.settimeout(10)
        answer = b""
        while received := client.recv(65_536):
            answer += received
    assert answer.startswith((b"HTTP/1.1 400", b"HTTP/1.0 400"))
    assert answer.count(b"Content-Length:") == 1


def test_many_open_connections_keep_nobody_out(start):
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
