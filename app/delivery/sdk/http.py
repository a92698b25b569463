"""Requests and answers of SDKs, without Flask: bodies, refusals, and what did not change."""

import json
import re
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any, NamedTuple, Protocol
from uuid import uuid4
from wsgiref.types import WSGIEnvironment

from app.core.errors import DomainError, Invalid, PayloadTooLarge

Header = tuple[str, str]

HTTP_OK, NOT_MODIFIED, ACCEPTED = "200 OK", "304 Not Modified", "202 Accepted"

JSON = ("Content-Type", "application/json")
NOTHING = ("Content-Length", "0")
FRESH = ("Cache-Control", "private, no-cache")

_tag = re.compile(r'(?:W/)?"([^"]*?)(?:-gzip|;gzip)?"')
_no_gzip = re.compile(r"gzip\s*;\s*q=0(?:\.0*)?(?:,|$)").search


class Answer(NamedTuple):
    """``still_holds``: whether the same request would get this again; waits for nothing."""

    status: str
    headers: list[Header]
    body: bytes = b""
    still_holds: Callable[[], bool] | None = None


class Content(Protocol):
    """What is delivered only to those who don't have it yet."""

    @property
    def etag(self) -> str: ...

    @property
    def body(self) -> bytes: ...

    @property
    def compressed(self) -> bytes: ...


class Face(Protocol):
    """A group of addresses that SDKs of one kind use. ``name``: what the metrics call it."""

    name: str

    def answer(self, path: str, environ: WSGIEnvironment) -> Answer:
        """The answer to a request; ``path`` is one of this face.

        Raises:
            DomainError: if it is refused.

        """
        ...

    def refusal(self, error: DomainError, path: str) -> Answer:
        """How the SDKs of this face read a refusal."""
        ...

    def headers(self, environ: WSGIEnvironment) -> Iterable[Header]:
        """What every answer has, also a refusal."""
        ...


def body_of(environ: WSGIEnvironment, max_bytes: int) -> dict[str, Any]:
    """The JSON object that was sent, whatever it is declared to be.

    Raises:
        PayloadTooLarge: if it is longer than that.
        Invalid: if it is something else.

    """
    try:
        length = int(environ.get("CONTENT_LENGTH") or 0)
    except ValueError:
        length = 0
    if length > max_bytes:
        raise PayloadTooLarge(max_bytes)
    try:
        body = json.loads(environ["wsgi.input"].read(length))
    except (ValueError, RecursionError):
        raise Invalid("The body must be JSON.") from None
    if not isinstance(body, dict):
        raise Invalid("The body must be a JSON object.")
    return body


def json_answer(status: str, data: Any, *headers: Header) -> Answer:
    body = json.dumps(data).encode()
    return Answer(status, [JSON, *headers, ("Content-Length", str(len(body)))], body)


def delivered(environ: WSGIEnvironment, content: Content, *headers: Header) -> Answer:
    """The content, compressed for those who can read that; nothing for those who have it."""
    found = [("ETag", f'"{content.etag}"'), *headers]
    match = environ.get("HTTP_IF_NONE_MATCH")
    if match is not None and (match.strip() == "*" or content.etag in _tag.findall(match)):
        return Answer(NOT_MODIFIED, found)
    accepted = environ.get("HTTP_ACCEPT_ENCODING", "")
    if "gzip" in accepted and not _no_gzip(accepted):
        body = content.compressed
        found.append(("Content-Encoding", "gzip"))
    else:
        body = content.body
    return Answer(HTTP_OK, [*found, JSON, ("Content-Length", str(len(body)))], body)


def refused(error: DomainError) -> Answer:
    """A refusal in the form of the admin API."""
    id = str(uuid4())
    return refused_with(error, error.body(id), id)


def refused_with(error: DomainError, data: Any, id: str) -> Answer:
    """A refusal with another body."""
    headers = [("Cache-Control", "no-store"), ("X-Request-Id", id), *error.headers.items()]
    return json_answer(f"{error.status} {HTTPStatus(error.status).phrase}", data, *headers)
