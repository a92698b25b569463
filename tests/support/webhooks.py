"""A receiver of webhooks on the loopback interface, and sending without waiting for a server."""

import base64
import hmac
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from flask import Flask

from app.core.config.allowed_hosts import ALLOWED_HOSTS
from app.core.db import transact
from app.delivery.webhooks import outbox
from tests.support.clients import ApiClient
from tests.support.machines import SECONDS

WEBHOOKS = "/webhooks"


@dataclass(frozen=True)
class Message:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def type(self) -> str:
        return str(self.json["type"])

    @property
    def subject(self) -> str:
        """The feature that it is about."""
        return str(self.json["data"]["featureName"])

    def is_signed_with(self, secret: str) -> bool:
        """Verify it by the words of Standard Webhooks, apart from the code that signs."""
        signed = f"{self.id}.{self.headers['webhook-timestamp']}.".encode() + self.body
        key = base64.b64decode(secret.removeprefix("whsec_"))
        expected = base64.b64encode(hmac.digest(key, signed, "sha256")).decode()
        return f"v1,{expected}" in self.headers["webhook-signature"].split(" ")


@dataclass
class Receiver:
    """Answers with ``status``, or what ``answer`` says of a message, after ``seconds``."""

    port: int = 0
    status: int = 204
    answer: Callable[[Message], int] | None = None
    text: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    messages: list[Message] = field(default_factory=list)
    accepted: list[Message] = field(default_factory=list)
    tunnel: ssl.SSLContext | None = None
    """If it is a proxy: the TLS settings of the hosts that it answers for."""
    _server: "_Server | None" = None

    @property
    def host(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.host}/hook"

    def take(self, message: Message) -> int:
        time.sleep(self.seconds)
        status = self.answer(message) if self.answer else self.status
        self.messages.append(message)
        if status < 300:
            self.accepted.append(message)
        return status

    def wait_for(self, number: int) -> list[Message]:
        """The messages that were accepted, once they are so many."""
        deadline = time.monotonic() + SECONDS
        while len(self.accepted) < number and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(self.accepted) >= number, [message.type for message in self.messages]
        return self.accepted

    def listen(self, tls: ssl.SSLContext | None = None) -> None:
        """Begin to answer, at the same port as before."""
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_CONNECT(self) -> None:
                """Be a proxy, and also the host that it leads to."""
                self.send_response(200)
                self.end_headers()
                assert receiver.tunnel is not None
                self.connection = receiver.tunnel.wrap_socket(self.connection, server_side=True)
                self.rfile = self.connection.makefile("rb", self.rbufsize)
                self.wfile = self.connection.makefile("wb", self.wbufsize)
                self.close_connection = False

            def finish(self) -> None:
                super().finish()
                self.connection.close()

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status = receiver.take(Message(self.path, dict(self.headers), body))
                with suppress(ConnectionError):
                    self.send_response(status)
                    for name, value in receiver.headers.items():
                        self.send_header(name, value)
                    if status != 204:
                        self.send_header("Content-Length", str(len(receiver.text)))
                    self.end_headers()
                    if status != 204:
                        self.wfile.write(receiver.text)

            do_GET = do_POST  # noqa: N815 - the name is the library’s

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        server = _Server(("127.0.0.1", self.port), Handler)
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        self.port = server.server_port
        threading.Thread(target=partial(server.serve_forever, 0.02), daemon=True).start()

        self._server = server

    def end(self) -> None:
        """Stop to listen."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
        self._server = None


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: Any) -> None:
        """Say nothing of clients that leave early."""


@pytest.fixture
def receivers() -> Iterator[Callable[[], Receiver]]:
    """Starts receivers."""
    started = []

    def start() -> Receiver:
        started.append(Receiver())
        started[-1].listen()
        return started[-1]

    yield start
    for receiver in started:
        receiver.end()


@pytest.fixture
def receiver(receivers: Callable[[], Receiver]) -> Receiver:
    return receivers()


def allow(app: Flask, monkeypatch: pytest.MonkeyPatch, hosts: str) -> None:
    """Set FLAGSTAFF_WEBHOOK_HOSTS for the application."""
    settings = replace(app.config["SETTINGS"], webhook_hosts=ALLOWED_HOSTS.read(hosts))
    monkeypatch.setitem(app.config, "SETTINGS", settings)


@pytest.fixture
def allowed(app: Flask, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Receiver:
    """The receiver, once its host is allowed."""
    allow(app, monkeypatch, receiver.host)
    return receiver


def create(admin: ApiClient, receiver: Receiver, **settings: Any) -> dict[str, Any]:
    body = {"name": "Chat", "url": receiver.url, **settings}
    created: dict[str, Any] = admin.ok("POST", WEBHOOKS, body)
    return created


def deliver(app: Flask) -> int:
    """Send what is due now, as a server does in a few seconds; how many were tried."""
    tried = 0
    with app.app_context():
        for webhook_id in transact(outbox.due, writes=False):
            task = transact(partial(outbox.take, webhook_id), writes=True)
            while task is not None:
                key, settings = app.config["SECRET_KEY"], app.config["SETTINGS"]
                outcome = outbox.send(task, key, settings, "Flagstaff/test")
                tried += 1
                task = transact(partial(outbox.settle, task, outcome), writes=True)
    return tried


def deliveries(admin: ApiClient, id: int, **query: str) -> list[dict[str, Any]]:
    """The deliveries of a webhook, oldest first."""
    asked = "&".join(f"{name}={value}" for name, value in {"limit": "1000", **query}.items())
    found = admin.ok("GET", f"{WEBHOOKS}/{id}/deliveries?{asked}")["deliveries"]
    return list(reversed(found))
