"""Whether the reverse proxy passes requests on unchanged."""

import json
from collections.abc import Iterator
from email.message import Message
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from app.core import secrets
from app.core.config import Settings
from app.operations.upkeep.doctor.findings import Finding, fine, warning, wrong

ABOUT = "proxy"
SECONDS = 30
STREAM_SECONDS = 5
"""Within this time, a proxy that holds nothing back has passed on the beginning of a stream."""
FORGED_USER = "flagstaff-doctor"
"""A user that no proxy signs in. If it arrives, the proxy passes on what clients send."""
FORGED = "203.0.113.7"
"""An address no client has (RFC 5737). If it arrives, the proxy passes on what clients send."""


def check_proxy(url: str, settings: Settings, key: str) -> Iterator[Finding]:
    """Send requests through the proxy and check how they arrive."""
    url = url.rstrip("/")
    expected = settings.address("")
    if url != expected:
        yield warning(
            ABOUT,
            f"Links lead to {expected}, not to {url}.",
            "Set FLAGSTAFF_BASE_URL and FLAGSTAFF_URL_PREFIX to the address people use.",
        )
    headers = {
        "Authorization": secrets.create_proof(key),
        "Content-Type": "application/json",
        "X-Forwarded-For": FORGED,
    }
    if settings.sign_on_header is not None:
        headers[settings.sign_on_header] = FORGED_USER
    try:
        with _sent(f"{url}/arrival", b"{}", headers) as answer:
            seen, received = json.load(answer), answer.headers
    except HTTPError as error:
        yield wrong(ABOUT, f"{url} answered {error.code} {error.reason}.", _remedy(error))
        return
    except (OSError, ValueError) as error:
        yield wrong(
            ABOUT,
            f"{url} does not lead to Flagstaff: {getattr(error, 'reason', error)}.",
            "Check that proxy and server are running and that this machine trusts the certificate "
            "(SSL_CERT_FILE adds others).",
        )
        return
    found = [
        *_compare(seen, url, settings),
        *_user(seen, settings),
        *_headers(received, url),
        *_size(url, headers, settings.max_request_bytes),
        *_stream(url, headers),
    ]
    yield from found or [fine(ABOUT, f"Requests through {url} arrive unchanged.")]


def _sent(url: str, body: bytes, headers: dict[str, str], seconds: float = SECONDS) -> Any:
    return urlopen(Request(url, body, headers), timeout=seconds)  # noqa: S310 - the operator's own address


def _remedy(error: HTTPError) -> str:
    match error.code:
        case 404 if "X-Request-Id" in error.headers:
            return "Let the proxy pass on Authorization, and run this with the server's settings."
        case 404:
            return "Forward this path to Flagstaff. For a sub-path, set FLAGSTAFF_URL_PREFIX to it."
        case 502 | 503 | 504:
            return "Check that flagstaff serve is running at the address the proxy forwards to."
        case _:
            return "Look for this request in the logs of the proxy and the server."


def _size(url: str, headers: dict[str, str], limit: int) -> Iterator[Finding]:
    """Send the largest request that Flagstaff accepts."""
    try:
        _sent(f"{url}/arrival", json.dumps("x" * (limit - 2)).encode(), headers).close()
    except OSError:  # refused, or the connection was closed before all of it was sent
        yield wrong(
            ABOUT,
            f"Requests of {limit:,} bytes don't arrive.",
            f"Raise the proxy's limit: client_max_body_size {limit}; (nginx), "
            f"LimitRequestBody {limit} (Apache).",
        )


def _stream(url: str, headers: dict[str, str]) -> Iterator[Finding]:
    """Check that what is sent arrives at once, though the response goes on."""
    try:
        with _sent(f"{url}/arrival/stream", b"{}", headers, STREAM_SECONDS) as answer:
            answer.readline()
    except OSError:
        yield wrong(
            ABOUT,
            "Event streams don't arrive while they are open, so applications that use them learn "
            "of changes late or never.",
            "Let the proxy pass on responses unbuffered: proxy_buffering off; (nginx), "
            "flushpackets=on (Apache).",
        )


def _compare(seen: dict[str, str], url: str, settings: Settings) -> Iterator[Finding]:
    meant = urlsplit(url)
    if seen["scheme"] != meant.scheme:
        yield wrong(
            ABOUT,
            f"Requests over {meant.scheme} arrive as {seen['scheme']}.",
            "Let it send X-Forwarded-Proto, and set FLAGSTAFF_TRUSTED_PROXY to its IP address.",
        )
    if seen["host"] != meant.netloc:
        yield wrong(
            ABOUT,
            f"Requests for {meant.netloc} arrive as for {seen['host']}, so forms are refused.",
            "Let it send X-Forwarded-Host, and set FLAGSTAFF_TRUSTED_PROXY to its IP address.",
        )
    if seen["prefix"] != meant.path:
        yield wrong(
            ABOUT,
            f"The path {meant.path or '/'} arrives with the prefix {seen['prefix'] or '/'}.",
            f"Set FLAGSTAFF_URL_PREFIX to {meant.path or 'nothing'}.",
        )
    if seen["client"] == FORGED:
        yield wrong(
            ABOUT,
            "The proxy passes on X-Forwarded-For as clients send it, so anyone can forge their "
            "address.",
            "Let the proxy set or extend that header: $proxy_add_x_forwarded_for (nginx).",
        )
    elif settings.trusted_proxy and seen["forwardedFor"] is None:
        yield wrong(
            ABOUT,
            "The proxy doesn't pass on the client's address.",
            "Let it send X-Forwarded-For, and set FLAGSTAFF_TRUSTED_PROXY to its IP address.",
        )


def _user(seen: dict[str, str], settings: Settings) -> Iterator[Finding]:
    if FORGED_USER in (seen["user"] or ""):
        yield wrong(
            ABOUT,
            f"The proxy passes on {settings.sign_on_header} as clients send it, so anyone can sign "
            "in as anyone.",
            "Let the proxy set that header itself on every request, empty for people it doesn’t "
            "know.",
        )


def _headers(received: Message, url: str) -> Iterator[Finding]:
    if url.startswith("https:") and "Strict-Transport-Security" not in received:
        yield wrong(
            ABOUT,
            "Browsers aren't told to use https only.",
            "Set FLAGSTAFF_BASE_URL to the https address, and let the proxy pass on "
            "Strict-Transport-Security.",
        )
    if "Content-Security-Policy" not in received:
        yield wrong(
            ABOUT,
            "The proxy removes headers that protect the pages.",
            "Let the proxy pass on Content-Security-Policy and all other response headers.",
        )
