"""Whether what arrives through a reverse proxy is what the client meant."""

import json
from collections.abc import Iterator
from email.message import Message
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from app.cli.doctor.findings import Finding, fine, warning, wrong
from app.config import Settings
from app.core import arrival

ABOUT = "proxy"
SECONDS = 30
PRETENDED = "203.0.113.7"
"""An address that nobody has (RFC 5737): whoever is believed to have it was believed blindly."""


def proxy(url: str, settings: Settings, key: str) -> Iterator[Finding]:
    """Send requests through it, and see what arrives."""
    url = url.rstrip("/")
    expected = settings.address("")
    if url != expected:
        yield warning(
            ABOUT,
            f"Links lead to {expected}, not to {url}.",
            "Set FLAGSTAFF_BASE_URL and FLAGSTAFF_URL_PREFIX to what people type.",
        )
    headers = {
        "Authorization": arrival.proof(key),
        "Content-Type": "application/json",
        "X-Forwarded-For": PRETENDED,
    }
    try:
        with _sent(url, b"{}", headers) as answer:
            seen, received = json.load(answer), answer.headers
    except HTTPError as error:
        yield wrong(ABOUT, f"{url} answered {error.code} {error.reason}.", _remedy(error))
        return
    except (OSError, ValueError) as error:
        yield wrong(
            ABOUT,
            f"{url} does not lead to Flagstaff: {getattr(error, 'reason', error)}.",
            "Are proxy and server running, and is the certificate one that this machine trusts? "
            "(SSL_CERT_FILE names others)",
        )
        return
    found = [
        *_compare(seen, url, settings),
        *_headers(received, url),
        *_size(url, headers, settings.max_request_bytes),
    ]
    yield from found or [fine(ABOUT, f"All arrives as it should through {url}.")]


def _sent(url: str, body: bytes, headers: dict[str, str]) -> Any:
    return urlopen(Request(f"{url}/arrival", body, headers), timeout=SECONDS)  # noqa: S310 - the operator's own address


def _remedy(error: HTTPError) -> str:
    match error.code:
        case 404 if "X-Request-Id" in error.headers:
            return (
                "Let the header Authorization pass, and run this with the settings of the server."
            )
        case 404:
            return "Forward this path to Flagstaff; on a sub-path set FLAGSTAFF_URL_PREFIX to it."
        case 502 | 503 | 504:
            return "Is flagstaff serve running, at the address to which the proxy forwards?"
        case _:
            return "See the log of the proxy, and that of the server, for this request."


def _size(url: str, headers: dict[str, str], limit: int) -> Iterator[Finding]:
    """Send a request as large as any may be."""
    try:
        _sent(url, json.dumps("x" * (limit - 2)).encode(), headers).close()
    except OSError:  # refused in words, or hung up on before all of it was sent
        yield wrong(
            ABOUT,
            f"Requests of {limit:,} bytes do not arrive.",
            f"Let the proxy take so much: client_max_body_size {limit}; (nginx), "
            f"LimitRequestBody {limit} (Apache).",
        )


def _compare(seen: dict[str, str], url: str, settings: Settings) -> Iterator[Finding]:
    meant = urlsplit(url)
    if seen["scheme"] != meant.scheme:
        yield wrong(
            ABOUT,
            f"A request over {meant.scheme} arrives as one over {seen['scheme']}.",
            "Let the proxy send X-Forwarded-Proto, and set FLAGSTAFF_TRUSTED_PROXY to its address.",
        )
    if seen["host"] != meant.netloc:
        yield wrong(
            ABOUT,
            f"What is for {meant.netloc} arrives as for {seen['host']}, and forms are refused.",
            "Let the proxy send X-Forwarded-Host, and set FLAGSTAFF_TRUSTED_PROXY to its address.",
        )
    if seen["prefix"] != meant.path:
        yield wrong(
            ABOUT,
            f"The path {meant.path or '/'} arrives with the prefix {seen['prefix'] or '/'}.",
            f"Set FLAGSTAFF_URL_PREFIX to {meant.path or 'nothing'}.",
        )
    if seen["client"] == PRETENDED:
        yield wrong(
            ABOUT,
            "The proxy hands on X-Forwarded-For as clients send it, so anybody can pretend to be "
            "anywhere.",
            "Let the proxy set or add to that header: $proxy_add_x_forwarded_for (nginx).",
        )
    elif settings.trusted_proxy is not None and seen["forwardedFor"] is None:
        yield wrong(
            ABOUT,
            "The proxy does not say where requests come from.",
            "Let it send X-Forwarded-For, and set FLAGSTAFF_TRUSTED_PROXY to its address.",
        )


def _headers(received: Message, url: str) -> Iterator[Finding]:
    if url.startswith("https:") and "Strict-Transport-Security" not in received:
        yield wrong(
            ABOUT,
            "Browsers are not told to stay with https.",
            "Set FLAGSTAFF_BASE_URL to the https address, and let the proxy keep the header.",
        )
    if "Content-Security-Policy" not in received:
        yield wrong(
            ABOUT,
            "The proxy takes away headers that protect the pages.",
            "Let Content-Security-Policy and its kin pass.",
        )
