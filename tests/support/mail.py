"""A mail server on the loopback interface."""

import asyncio
from collections.abc import Iterator
from email import message_from_bytes, policy
from typing import Any, NamedTuple

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult

from tests.support.machines import SECONDS
from tests.support.processes import free_port

without_tls = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")


class Mail(NamedTuple):
    to: list[str]
    subject: str
    text: str
    headers: dict[str, str]


class Mailbox:
    """Takes mail by SMTP from those who have the password, each after ``seconds``."""

    seconds = 0.0

    def __init__(self) -> None:
        self.mails: list[Mail] = []
        self.port = free_port()

    def url(self, password: str = "correct-horse") -> str:
        """Its address as Apprise takes it."""
        place = f"127.0.0.1:{self.port}"
        return f"mailto://flags:{password}@{place}?from=flags@example.org&mode=insecure"

    def __call__(self, _server: Any, _session: Any, _envelope: Any, _how: Any, data: Any) -> Any:
        return AuthResult(success=data.password == b"correct-horse", handled=False)

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802 - the library’s name
        await asyncio.sleep(self.seconds)
        found = message_from_bytes(envelope.content, policy=policy.default)
        body = found.get_body(("plain",))
        assert body is not None
        self.mails.append(
            Mail(envelope.rcpt_tos, found["Subject"], body.get_content(), dict(found))
        )
        return "250 OK"


class _Controller(Controller):
    """Remembers who is connected."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.served: list[SMTP] = []

    def factory(self) -> SMTP:
        self.served.append(super().factory())  # type: ignore[no-untyped-call]
        return self.served[-1]

    async def hang_up(self) -> None:
        """Close what is open, and take no more: servers may still run, or have been killed.

        The listening socket stays open until then: a closed server never connects the SMTP object
        that it made for a client that was accepted just before.
        """
        assert isinstance(self.server, asyncio.Server)
        for listening in self.server.sockets:
            self.loop.remove_reader(listening)
        await asyncio.sleep(0)  # who was accepted just now is in ``served`` then
        while any(each.session is None or each.transport is not None for each in self.served):
            for each in self.served:
                if each.transport is not None:
                    each.transport.close()
            await asyncio.sleep(0)


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    box = Mailbox()
    options: dict[str, Any] = {"authenticator": box, "auth_required": True}
    options["auth_require_tls"] = False
    controller = _Controller(box, hostname="127.0.0.1", port=box.port, **options)
    controller.start()
    yield box
    asyncio.run_coroutine_threadsafe(controller.hang_up(), controller.loop).result(SECONDS)
    controller.stop()
