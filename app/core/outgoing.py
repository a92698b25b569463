"""Requests to servers that the operator named: only to addresses that were checked, within a time.

A name is resolved once, and the connection goes to one of the checked addresses. So another answer
of the DNS can't lead it elsewhere (DNS rebinding). Requests are sent with ``http.client``, which
follows no redirects and ignores proxy variables.
"""

import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from http.client import HTTPConnection, HTTPException
from ipaddress import ip_address
from typing import NamedTuple

from app.core.config.allowed_hosts import AllowedHost, find
from app.core.targets import Target, parse
from app.core.words import spoken


class Unanswered(Exception):
    """There is no answer; the message says why."""


class NotAllowed(Unanswered):
    """Nothing may be sent there; the message says why."""


class Answer(NamedTuple):
    status: int
    content: bytes


def entries_for(
    target: Target, hosts: Sequence[AllowedHost], setting: str
) -> tuple[AllowedHost, ...]:
    """Return the entries of the setting that name the target.

    Raises:
        NotAllowed: if no entry does.

    """
    found = find(hosts, target.scheme, target.host, target.port)
    if not found:
        raise NotAllowed(
            f"Flagstaff may not connect to {target.origin} yet. Ask the people who run the server "
            f"to add it to {setting}."
        )
    return found


def resolve(target: Target, hosts: Sequence[AllowedHost], setting: str) -> list[str]:
    """Resolve the host to IP addresses, and check all of them.

    Raises:
        NotAllowed: if the setting doesn't allow the target or one of its addresses.
        OSError: if the host name can't be resolved.

    """
    entries = entries_for(target, hosts, setting)
    found = socket.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    # IPv6 addresses can end with a zone: fe80::1%eth0.
    addresses = list(dict.fromkeys(str(place[0]).partition("%")[0] for *_, place in found))
    refused = [
        address
        for address in addresses
        if not any(entry.accepts(ip_address(address)) for entry in entries)
    ]
    if refused:
        raise NotAllowed(
            f"{target.host} has the address {spoken(refused)}, which is not public or not in the "
            f"network that {setting} names."
        )
    return addresses


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    hosts: Sequence[AllowedHost],
    setting: str,
    *,
    seconds: float,
    most: int,
) -> Answer:
    """Send one request. The answer has at most the first ``most`` bytes of its content.

    ``seconds``: for all of it, from resolving the host name to the end of the answer.

    Raises:
        Unanswered: if nothing may be sent there, or no complete answer came in time.

    """
    end = time.monotonic() + seconds
    try:
        target = parse(url)
        addresses = resolve(target, hosts, setting)
        with closing(_connect(target, addresses, end)) as raw, _cut_off(raw, end):
            answer = _exchange(raw, target, body, headers, most)
        if time.monotonic() >= end:  # headers that were cut off look like complete ones
            raise TimeoutError
    except socket.gaierror as error:
        raise Unanswered(f"The host name was not found: {error.strerror}.") from None
    except ssl.SSLCertVerificationError as error:
        raise Unanswered(f"The certificate is not valid: {error.verify_message}.") from None
    except (OSError, HTTPException, ValueError) as error:
        if time.monotonic() >= end:
            raise Unanswered(f"No complete answer within {seconds:.0f} seconds.") from None
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise Unanswered(f"The connection failed: {why}.") from None
    return answer


def _exchange(
    raw: socket.socket, target: Target, body: bytes, headers: Mapping[str, str], most: int
) -> Answer:
    if target.scheme == "https":
        raw = _context().wrap_socket(raw, server_hostname=target.host)
    with closing(HTTPConnection(target.host, target.port)) as connection:
        connection.sock = raw
        connection.request("POST", target.path, body, {"Host": target.authority, **headers})
        with connection.getresponse() as answer:
            return Answer(answer.status, answer.read(most))


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
