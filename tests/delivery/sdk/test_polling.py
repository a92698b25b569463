"""An application that asks the same on the same connection again and again."""

import re
import socket
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import timedelta

import pytest

from app.core.clock import utcnow
from tests.support.servers import Server

pytestmark = pytest.mark.one_in(2)

FEATURES = "/api/admin/projects/default/features"
TOKENS = "/api/admin/api-tokens"
SECONDS = 20


@pytest.fixture(params=["1", "4"])
def server(start, request) -> Server:
    server = start(PROCESSES=request.param)
    server.call("POST", FEATURES, {"name": "cart"})
    return server


class Poller:
    """An application with one connection, which sends the same bytes each time."""

    def __init__(self, server, **options):
        body = {"tokenName": "web", "type": "client", "environment": "production"} | options
        self.token = server.call("POST", TOKENS, body).json
        self.socket = socket.create_connection(("127.0.0.1", server.port), SECONDS)
        self.file = self.socket.makefile("rb")
        self.etag = re.search(r"(?i)etag: (\S+)", self.ask()[1])[1]

    def close(self):
        self.file.close()
        self.socket.close()

    def request(self, path="/api/client/features", version="1.1", more=""):
        match = f"If-None-Match: {self.etag}\r\n" if hasattr(self, "etag") else ""
        return (
            f"GET {path} HTTP/{version}\r\nHost: localhost\r\nunleash-appname: web\r\n"
            f"Authorization: {self.token['secret']}\r\n{match}{more}\r\n"
        ).encode()

    def ask(self, *pieces):
        for piece in pieces or (self.request(),):
            self.socket.sendall(piece)
            time.sleep(0.01)
        return self.answer()

    def answer(self):
        """The status and the head of the next answer; its body is read and dropped."""
        head = ""
        while not head.endswith("\r\n\r\n"):
            line = self.file.readline().decode()
            assert line, "the connection was closed"
            head += line
        if length := re.search(r"Content-Length: (\d+)", head):
            self.file.read(int(length[1]))
        return int(head.split()[1]), head


@pytest.fixture
def connect(server):
    """Gives applications with tokens of their own."""
    with ExitStack() as connected:
        yield lambda **options: connected.enter_context(closing(Poller(server, **options)))


@pytest.fixture
def web(connect) -> Poller:
    return connect()


def test_it_gets_304_for_as_long_as_nothing_changes_and_then_what_is_new(server, web):
    assert {web.ask()[0] for _ in range(5)} == {304}
    server.call("POST", f"{FEATURES}/cart/environments/production/on")
    status, head = web.ask()
    assert status == 200
    web.etag = re.search(r"(?i)etag: (\S+)", head)[1]
    assert {web.ask()[0] for _ in range(5)} == {304}


def test_each_304_has_the_same_headers_and_the_time_of_its_own(web):
    first, second = web.ask()[1], web.ask()[1]
    time.sleep(1.1)
    third = web.ask()[1]
    date = re.compile(r"Date: (.*)\r\n")
    assert date.sub("", first) == date.sub("", second) == date.sub("", third)
    assert date.search(third)[1] > date.search(first)[1]


def test_it_gets_401_from_the_moment_its_token_is_revoked(server, web):
    assert {web.ask()[0] for _ in range(3)} == {304}
    server.call("DELETE", f"{TOKENS}/{web.token['id']}")
    assert web.ask()[0] == 401


def test_it_gets_401_from_the_moment_its_token_expires(connect):
    web = connect(expiresAt=(utcnow() + timedelta(seconds=2)).isoformat())
    assert web.ask()[0] == 304
    time.sleep(2.1)
    assert web.ask()[0] == 401


def test_another_token_on_the_same_connection_is_not_taken_for_the_first(web):
    assert {web.ask()[0] for _ in range(3)} == {304}
    assert web.ask(web.request().replace(web.token["secret"].encode(), b"other"))[0] == 401
    assert web.ask()[0] == 304


def test_requests_in_pieces_and_several_at_once_are_answered_in_their_order(web):
    assert {web.ask()[0] for _ in range(3)} == {304}
    poll, other = web.request(), web.request("/api/client/features/unknown")
    assert web.ask(poll[:20], poll[20:])[0] == 304
    web.socket.sendall(poll + other + poll)
    assert [web.answer()[0] for _ in range(3)] == [304, 404, 304]
    assert web.ask()[0] == 304


def test_a_connection_that_is_to_be_closed_is_closed_after_each_kind_of_answer(web):
    assert {web.ask()[0] for _ in range(3)} == {304}
    assert web.ask(web.request(more="Connection: close\r\n"))[0] == 304
    assert web.file.read() == b""


def test_every_poll_is_counted(server, web):
    assert {web.ask()[0] for _ in range(10)} == {304}
    figures = server.call("GET", "/metrics").data.decode()
    [count] = re.findall(r'flagstaff_requests_total\{face="sdk",status="3xx"\} (\d+)', figures)
    assert int(count) == 10


def test_it_is_answered_while_the_only_thread_waits_for_the_database(machine, start):
    server = start(PROCESSES="1", THREADS="1")
    with (
        closing(Poller(server)) as web,
        closing(sqlite3.connect(machine.home / "flagstaff.db")) as file,
        ThreadPoolExecutor() as others,
    ):
        assert web.ask()[0] == 304
        file.execute("BEGIN IMMEDIATE")
        change = others.submit(server.call, "POST", FEATURES, {"name": "basket"})
        time.sleep(0.5)
        assert {web.ask()[0] for _ in range(20)} == {304}
        assert not change.done()
        file.rollback()
        assert change.result().status == 201
        assert web.ask()[0] == 200
