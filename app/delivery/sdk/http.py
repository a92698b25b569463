"""Requests and responses of SDKs, without Flask: bodies, errors, and 304."""

import json
import re
import zlib
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any, NamedTuple, Protocol
from uuid import uuid4
from wsgiref.types import WSGIEnvironment

from app.core.errors import DomainError, Invalid, PayloadTooLarge
from app.core.streaming import Stream

Header = tuple[str, str]

HTTP_OK, NOT_MODIFIED, ACCEPTED = "200 OK", "304 Not Modified", "202 Accepted"

JSON = ("Content-Type", "application/json")
NOTHING = ("Content-Length", "0")
GZIP = zlib.MAX_WBITS | 16
"""Tells zlib to expect the header of gzip."""
FRESH = ("Cache-Control", "private, no-cache")

_tag = re.compile(r'(?:W/)?"([^"]*?)(?:-gzip|;gzip)?"')
_no_gzip = re.compile(r"gzip\s*;\s*q=0(?:\.0*)?(?:,|$)").search


class Answer(NamedTuple):
    """A response.

    ``still_holds``: whether the same request would get an equal one; never blocks. ``on_open``:
    the response has no end; gets the stream for its body.
    """

    status: str
    headers: list[Header]
    body: bytes = b""
    still_holds: Callable[[], bool] | None = None
    on_open: Callable[[Stream], None] | None = None


class Content(Protocol):
    """A response body with an ETag. Clients that already have it get 304."""

    @property
    def etag(self) -> str: ...

    @property
    def body(self) -> bytes: ...

    @property
    def compressed(self) -> bytes: ...


class Face(Protocol):
    """The endpoints for one kind of SDK. ``name``: its label in the metrics."""

    name: str

    def answer(self, path: str, environ: WSGIEnvironment) -> Answer:
        """Return the response to a request. ``path``: one of this face.

        Raises:
            DomainError: if the request is refused.

        """
        ...

    def refusal(self, error: DomainError, path: str) -> Answer:
        """Return an error in the format that the SDKs of this face read."""
        ...

    def headers(self, environ: WSGIEnvironment) -> Iterable[Header]:
        """Return the headers that every response has, also an error."""
        ...


def body_of(environ: WSGIEnvironment, max_bytes: int) -> dict[str, Any]:
    """Parse the body as a JSON object, whatever its Content-Type says.

    Raises:
        PayloadTooLarge: if the body is longer than ``max_bytes``.
        Invalid: if the body isn't a JSON object.

    """
    try:
        length = int(environ.get("CONTENT_LENGTH") or 0)
    except ValueError:
        length = 0
    if length > max_bytes:
        raise PayloadTooLarge(max_bytes)
    data = environ["wsgi.input"].read(length)
    if environ.get("HTTP_CONTENT_ENCODING", "").lower() == "gzip":
        data = _unpacked(data, max_bytes)
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        raise Invalid("The body must be JSON.") from None
    if not isinstance(body, dict):
        raise Invalid("The body must be a JSON object.")
    return body


def _unpacked(data: bytes, max_bytes: int) -> bytes:
    reader = zlib.decompressobj(GZIP)
    try:
        found = reader.decompress(data, max_bytes + 1)
    except zlib.error:
        raise Invalid("The body is not gzip, as the header Content-Encoding says.") from None
    if len(found) > max_bytes:
        raise PayloadTooLarge(max_bytes)
    return found


def json_answer(status: str, data: Any, *headers: Header) -> Answer:
    body = json.dumps(data).encode()
    return Answer(status, [JSON, *headers, ("Content-Length", str(len(body)))], body)


def remote_address(environ: WSGIEnvironment) -> str:
    """Return the caller's address. Behind a trusted proxy, the server takes it from the header."""
    return environ.get("REMOTE_ADDR") or ""


def held_by(environ: WSGIEnvironment) -> list[str]:
    """Return the ETags of what the client has; ``*`` for any."""
    match = environ.get("HTTP_IF_NONE_MATCH", "").strip()
    return ["*"] if match == "*" else _tag.findall(match)


def delivered(environ: WSGIEnvironment, content: Content, *headers: Header) -> Answer:
    """Return the content, compressed if the client accepts gzip; 304 if the client has it."""
    etag, held = content.etag, held_by(environ)
    found = [("ETag", f'"{etag}"'), *headers]
    if etag in held or "*" in held:
        return Answer(NOT_MODIFIED, found)
    accepted = environ.get("HTTP_ACCEPT_ENCODING", "")
    if "gzip" in accepted and not _no_gzip(accepted):
        body = content.compressed
        found.append(("Content-Encoding", "gzip"))
    else:
        body = content.body
    return Answer(HTTP_OK, [*found, JSON, ("Content-Length", str(len(body)))], body)


def refused(error: DomainError) -> Answer:
    """Return an error in the format of the admin API."""
    id = str(uuid4())
    return refused_with(error, error.body(id), id)


def refused_with(error: DomainError, data: Any, id: str) -> Answer:
    """Return an error with ``data`` as the body."""
    headers = [("Cache-Control", "no-store"), ("X-Request-Id", id), *error.headers.items()]
    return json_answer(f"{error.status} {HTTPStatus(error.status).phrase}", data, *headers)
