"""A mail server on the loopback interface."""

from collections.abc import Iterator
from email import message_from_bytes, policy
from typing import Any, NamedTuple

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from tests.support.processes import free_port

without_tls = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")


class Mail(NamedTuple):
    to: list[str]
    subject: str
    text: str


class Mailbox:
    """Takes mail by SMTP from those who have the password."""

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
        found = message_from_bytes(envelope.content, policy=policy.default)
        body = found.get_body(("plain",))
        assert body is not None
        self.mails.append(Mail(envelope.rcpt_tos, found["Subject"], body.get_content()))
        return "250 OK"


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    box = Mailbox()
    options: dict[str, Any] = {
        "authenticator": box,
        "auth_require_tls": False,
        "auth_required": True,
    }
    controller = Controller(box, hostname="127.0.0.1", port=box.port, **options)
    controller.start()
    yield box
    controller.stop()
