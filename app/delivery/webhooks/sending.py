"""Sends one request to a receiver, and only to an address that was checked.

That is why it uses ``http.client``, which follows no redirects and ignores proxy variables.
"""

import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from http.client import HTTPConnection, HTTPException
from typing import NamedTuple

from app.core.config.allowed_hosts import AllowedHost
from app.core.targets import Target, parse
from app.delivery.webhooks.addresses import NotAllowed, resolve

SECONDS = 10.0
"""Timeout of the whole request, from resolving the host name to the end of the response."""
MAX_ANSWER = 1_024
DELIVERED, REDIRECTS = range(200, 300), range(300, 400)


class DeliveryOutcome(NamedTuple):
    """The outcome of one attempt. ``error``: None if the message was delivered.

    ``is_final``: whether it must not be sent again, because it may have arrived.
    """

    status: int | None = None
    error: str | None = None
    answer: str | None = None
    is_final: bool = False


def post(
    url: str, body: bytes, headers: Mapping[str, str], hosts: Sequence[AllowedHost]
) -> DeliveryOutcome:
    """Send a message. Failures are in the outcome, not raised."""
    end = time.monotonic() + SECONDS
    try:
        target = parse(url)
        addresses = resolve(target, hosts)
        with closing(_connect(target, addresses, end)) as raw, _cut_off(raw, end):
            outcome = _exchange(raw, target, body, headers)
        if time.monotonic() >= end:  # headers that were cut off look like complete ones
            raise TimeoutError
    except NotAllowed as error:
        return DeliveryOutcome(error=str(error))
    except socket.gaierror as error:
        return DeliveryOutcome(error=f"The host name was not found: {error.strerror}.")
    except ssl.SSLCertVerificationError as error:
        return DeliveryOutcome(error=f"The certificate is not valid: {error.verify_message}.")
    except (OSError, HTTPException, ValueError) as error:
        if time.monotonic() >= end:
            return DeliveryOutcome(error=f"No complete answer within {SECONDS:.0f} seconds.")
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return DeliveryOutcome(error=f"The connection failed: {why}.")
    return outcome


def _exchange(
    raw: socket.socket, target: Target, body: bytes, headers: Mapping[str, str]
) -> DeliveryOutcome:
    if target.scheme == "https":
        raw = _context().wrap_socket(raw, server_hostname=target.host)
    with closing(HTTPConnection(target.host, target.port)) as connection:
        connection.sock = raw
        connection.request("POST", target.path, body, {"Host": target.authority, **headers})
        answer = connection.getresponse()
        beginning = answer.read(MAX_ANSWER).decode("utf-8", "replace").replace("\0", "�")
        answer.close()
    if answer.status in DELIVERED:
        return DeliveryOutcome(answer.status, None, beginning)
    error = f"Answered with {answer.status}."
    if answer.status in REDIRECTS:
        error += " Redirects are not followed."
    return DeliveryOutcome(answer.status, error, beginning)


def _connect(target: Target, addresses: Sequence[str], end: float) -> socket.socket:
    """Connect to the first address that accepts."""
    error: OSError = TimeoutError()
    for address in addresses:
        left = end - time.monotonic()
        if left <= 0:
            break
        try:
            connected = socket.create_connection((address, target.port), left)
        except OSError as found:
            error = found
        else:
            connected.settimeout(max(end - time.monotonic(), 0.001))
            return connected
    raise error


@contextmanager
def _cut_off(raw: socket.socket, end: float) -> Iterator[None]:
    """Close the connection at ``end``. A timeout of the socket would start again with each byte."""

    def shut() -> None:
        with suppress(OSError):
            handle.shutdown(socket.SHUT_RDWR)

    with closing(raw.dup()) as handle:  # TLS detaches ``raw`` from the connection
        timer = threading.Timer(max(end - time.monotonic(), 0), shut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


@cache
def _context() -> ssl.SSLContext:
    return ssl.create_default_context()
