"""Clients that take a large answer slowly, or not at all, keep no one else waiting."""

import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from functools import partial
from types import SimpleNamespace

import pytest
from waitress.adjustments import Adjustments

from app.core import migrations
from app.core.actor import COMMAND_LINE
from app.core.config import from_environment
from app.core.db import db, unit_of_work
from app.core.events import service as events
from app.core.events.event_types import EventType
from app.factory import create_app
from app.operations.server import connections
from app.operations.server.connections import LEAST_BYTES, Channel, OpenResponse
from tests.support.machines import Machine
from tests.support.servers import Server, serving_with
from tests.support.windows import Window, set_password, sign_in

pytestmark = pytest.mark.one_in(2)

STALL_SECONDS = 2
IMPATIENT = serving_with("app.operations.server.connections", STALL_SECONDS=STALL_SECONDS)
EVENTS, EVENT_BYTES = 20_000, 1_200
"""Together more than the 16 MiB of an answer for which waitress by itself makes a thread wait."""
READERS, THREADS = 4, 8
PATIENCE_SECONDS = 30
TCP_CLOSE = b"\x07"
"""The state of a connection after a reset (Linux)."""


@pytest.fixture(params=["sqlite", "postgresql"])
def full(machine: Machine, request: pytest.FixtureRequest) -> Machine:
    """An instance with a log of more than 20 MB."""
    if request.param == "postgresql":
        machine.settings["DATABASE_URL"] = request.getfixturevalue("empty_postgresql")
    machine.home.mkdir()
    app = create_app(from_environment(machine.environ()))
    with app.app_context():
        migrations.upgrade(db.engine)
        with unit_of_work(writes=True):
            payload = events.EventPayload(data={"description": "x" * EVENT_BYTES})
            events.record_all(COMMAND_LINE, EventType.PROJECT_UPDATED, [payload] * EVENTS)
        db.engine.dispose()
    return machine


def ask_for_log(server: Server, window: Window) -> socket.socket:
    """A connection on which the whole log is asked for, and its beginning is read."""
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in window.cookies)
    client = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    client.sendall(
        f"GET /events?format=json HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookies}\r\n\r\n".encode()
    )
    assert client.recv(12) == b"HTTP/1.1 200"
    return client


def take(client: socket.socket, number: int) -> None:
    """Read so many bytes of what is there."""
    with suppress(ConnectionError):
        client.recv(number)


def is_cut_off(client: socket.socket) -> bool:
    """Whether the server has reset the connection."""
    return client.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1) == TCP_CLOSE


@pytest.mark.parametrize("taken", [0, 50], ids=["nothing", "a little"])
def test_readers_that_take_hardly_anything_keep_no_one_waiting_and_are_cut_off(
    full: Machine, start: Callable[..., Server], taken: int
) -> None:
    server = start(command=IMPATIENT, PROCESSES="1", THREADS=str(THREADS))
    set_password(full, server)
    window = Window()
    sign_in(window, server)
    with ExitStack() as stack:
        readers = [
            stack.enter_context(closing(ask_for_log(server, window))) for _ in range(READERS)
        ]
        answered = 0
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until and not all(map(is_cut_off, readers)):
            assert server.call("GET", "/health", token=None).status == 200
            answered += 1
            for reader in readers:
                take(reader, taken)
            time.sleep(0.02)
        assert answered > THREADS
        assert [is_cut_off(reader) for reader in readers] == [True] * READERS
    assert server.end() == 0


@pytest.fixture
def channel(monkeypatch):
    """A connection on which a response waits, and the clock that it looks at."""
    made = Channel.__new__(Channel)
    made.receiving_since, made._pace, made._sent = None, None, 0
    made.total_outbufs_len = LEAST_BYTES * 10
    clock = SimpleNamespace(monotonic=lambda: clock.now, now=0.0)
    monkeypatch.setattr(connections, "time", clock)
    return made, clock


def test_a_reader_that_stops_is_cut_off_a_minute_after_it_last_took_its_share(channel):
    made, clock = channel
    assert not made.falls_behind()
    clock.now = connections.STALL_SECONDS - 1
    made._sent += LEAST_BYTES
    assert not made.falls_behind()
    made._sent += LEAST_BYTES - 1  # less than its share
    clock.now += connections.STALL_SECONDS
    assert not made.falls_behind()
    clock.now += 0.1
    assert made.falls_behind()


def test_a_stream_arrives_whole_and_in_order_while_the_loop_sends_too():
    here, there = socket.socketpair()
    server = SimpleNamespace(pull_trigger=lambda: None, active_channels={})
    channel = Channel(server, here, ("127.0.0.1", 1), Adjustments(), map={})
    channel.stream = OpenResponse(channel, is_chunked=False)
    events = [b"%06d" % number * 2_000 for number in range(1_000)]

    def send():
        for event in events:
            channel.stream.send(event)
        channel.stream.end()

    def loop():
        while channel.connected:
            channel.handle_write()

    with closing(there), ThreadPoolExecutor(2) as threads:
        threads.submit(send)
        threads.submit(loop)
        assert b"".join(iter(partial(there.recv, 65_536), b"")) == b"".join(events)
