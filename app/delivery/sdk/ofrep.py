"""OFREP, OpenFeature's own protocol: features are evaluated here for any of its SDKs.

A request does not say which type of value it wants. So the value is the payload of the variant or,
without one, whether the feature is on.
"""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from math import isfinite
from typing import Any
from urllib.parse import parse_qs
from uuid import uuid4
from wsgiref.types import WSGIEnvironment

from app.catalogue.sdk_tokens.models import SdkTokenType
from app.core.errors import DomainError, Invalid, MethodNotAllowed, NotFound, Unavailable
from app.delivery.sdk import cors
from app.delivery.sdk.callers import Callers
from app.delivery.sdk.frontend import NO_CACHE
from app.delivery.sdk.http import (
    HTTP_OK,
    Answer,
    Header,
    body_of,
    delivered,
    json_answer,
    refused,
    refused_with,
    remote_address,
)
from app.delivery.sdk.ofrep_streams import CONFIG_ETAG, STREAM_PATH, OfrepStreams, configuration
from app.delivery.sdk.payloads import Answers
from app.delivery.sdk.source import Reader, Source
from app.delivery.sdk.streams import Streams
from app.evaluation.written import QUICK, EvaluatedFeature, Written

OFREP = "/ofrep/v1"
FLAGS = f"{OFREP}/evaluate/flags"
GAP = b"\0"
"""Holds the place of the version in features that are cached. JSON has no such byte."""
END = b'"}}'
TARGETING_KEY = "targetingKey"


class FlagNotFound(NotFound):
    """Not found, with an error code of its own in OFREP."""


class InvalidContext(Invalid):
    """The context is not an object, or can't be evaluated."""


class Flags:
    """Format of all features. ``has_off``: include those that are off, which only servers see.

    Each feature has a ``GAP`` where the version belongs.
    """

    head, tail = b'{"flags":[', b"]}"

    def __init__(self, environment: str, *, has_off: bool) -> None:
        self._environment = environment
        self.has_off = has_off
        self.name = f"ofrep {has_off}"

    def piece(self, feature: EvaluatedFeature, variant: bytes | None) -> bytes | None:
        if variant is None and not self.has_off:
            return None
        found = None if variant is None else json.loads(variant)
        answer = _json(evaluation(feature, found, self._environment, version=""))
        return answer[: -len(END)] + GAP + END


def _json(data: Any) -> bytes:
    return json.dumps(data, separators=(",", ":")).encode()


@dataclass(frozen=True, slots=True)
class _Bulk:
    """A response about all features. ``streams``: what it says of them.

    A client that gets 304 keeps the streams that it knows, so the ETag covers them. The version
    alone doesn't change what the client has.
    """

    features: Written
    version: int
    streams: Mapping[str, Any]

    @property
    def etag(self) -> str:
        return f"{self.features.etag}-{sha256(_json(self.streams)).hexdigest()[:8]}"

    @property
    def body(self) -> bytes:
        version = str(self.version)
        rest = _json({"metadata": {"version": version}, **self.streams})
        return b"%b,%b" % (self.features.body[:-1].replace(GAP, version.encode()), rest[1:])

    @property
    def compressed(self) -> bytes:
        return gzip.compress(self.body, QUICK, mtime=0)


def evaluation(
    feature: EvaluatedFeature, variant: Mapping[str, Any] | None, environment: str, *, version: str
) -> dict[str, Any]:
    """Return a feature as OFREP's answer. ``variant``: None if it is off for this context.

    OpenTelemetry reads ``flagSetId`` and ``version`` in its metadata. The version is the last key.
    """
    is_on = variant is not None
    name = variant["name"] if variant is not None and variant["enabled"] else None
    answer: dict[str, Any] = {
        "key": feature.name,
        "reason": _reason(feature),
        "variant": name or ("enabled" if is_on else "disabled"),
    }
    payload = variant.get("payload") if variant is not None else None
    if payload is not None:
        answer["value"] = _value(payload)
    elif is_on or not feature.has_payloads:  # else the code uses its default, of the right type
        answer["value"] = is_on
    metadata = {
        "enabled": is_on,
        "variant": name or "disabled",
        "project": feature.project,
        "flagSetId": f"{feature.project}/{environment}",
        "version": version,
    }
    return answer | {"metadata": metadata}


def _reason(feature: EvaluatedFeature) -> str:
    if not feature.is_on:
        return "DISABLED"
    if feature.reading.has_targets:
        return "TARGETING_MATCH"
    return "SPLIT" if feature.reading.has_shares else "STATIC"


def _value(payload: Mapping[str, str]) -> Any:
    """Convert the payload to its declared type; return the text if it isn't valid for that."""
    text = payload["value"]
    if payload["type"] not in {"json", "number"}:
        return text
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return text
    if payload["type"] == "number":
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return value if is_number and isfinite(value) else text
    return value


def _no_constant(name: str) -> Any:
    """Refuse NaN and Infinity, which Python reads, but JSON doesn't have."""
    raise ValueError(name)


class OfrepApi:
    name = "ofrep"

    def __init__(
        self,
        source: Source,
        callers: Callers,
        streams: Streams,
        secret_key: str,
        *,
        max_bytes: int,
    ) -> None:
        self._source, self._callers, self._max_bytes = source, callers, max_bytes
        self._streams = OfrepStreams(source, streams, secret_key)

    def answer(self, path: str, environ: WSGIEnvironment) -> Answer:
        method = environ["REQUEST_METHOD"]
        if method == "OPTIONS":
            return cors.preflight(environ)
        if path == STREAM_PATH:
            if method != "GET":
                raise MethodNotAllowed("GET")
            return self._streams.open(environ)
        key = _key(path)
        if path != FLAGS and not key:
            raise NotFound("There is nothing at this address.")
        if method != "POST":
            raise MethodNotAllowed("POST")
        reader = self._reader(environ)
        given = _context(body_of(environ, self._max_bytes))
        if reader.type is SdkTokenType.FRONTEND and not given.get("remoteAddress"):
            given = {**given, "remoteAddress": remote_address(environ)}
        return self._one(key, reader, given) if key else self._all(environ, reader, given)

    def refusal(self, error: DomainError, path: str) -> Answer:
        """Return an error with OFREP's code. 401 and 403 have no code: any body is allowed."""
        id = str(uuid4())
        data: dict[str, Any]
        match error:
            case _ if error.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
                return refused(error)
            case FlagNotFound():
                data = {"errorCode": "FLAG_NOT_FOUND"}
            case InvalidContext():
                data = {"errorCode": "INVALID_CONTEXT"}
            case Invalid():
                data = {"errorCode": "PARSE_ERROR"}
            case _ if error.status < HTTPStatus.INTERNAL_SERVER_ERROR:
                data = {"errorCode": "GENERAL"}
            case _:
                data = {}
        key = {"key": _key(path)} if data and _key(path) else {}
        return refused_with(error, key | data | {"errorDetails": error.message}, id)

    def headers(self, environ: WSGIEnvironment) -> list[Header]:
        return cors.headers(self._source, environ)

    def _all(self, environ: WSGIEnvironment, reader: Reader, given: dict[str, Any]) -> Answer:
        answers = self._answers(environ, reader)
        view = Flags(reader.environment, has_off=reader.type is SdkTokenType.CLIENT)
        evaluator = self._source.evaluator(reader.environment)
        try:
            written = evaluator.all(view, reader.projects, given)
        except Invalid as error:
            raise InvalidContext(error.message) from None
        streams = self._streams.offered(environ, reader)
        return delivered(environ, _Bulk(written, answers.state.version, streams), NO_CACHE)

    def _answers(self, environ: WSGIEnvironment, reader: Reader) -> Answers:
        """Return what is current, at least as new as the change that a client heard of.

        Raises:
            Unavailable: if the change can't be read. A client that got what was before would keep
                it until the next change.

        """
        answers = self._source.answers(reader.environment)
        heard_of = parse_qs(environ.get("QUERY_STRING", "")).get(CONFIG_ETAG)
        if heard_of and answers.all(configuration(reader)).etag != heard_of[0]:
            self._source.look_again()
            answers = self._source.answers(reader.environment)
            if self._source.age is not None:
                raise Unavailable
        return answers

    def _one(self, key: str, reader: Reader, given: dict[str, Any]) -> Answer:
        version = self._source.answers(reader.environment).state.version
        evaluator = self._source.evaluator(reader.environment)
        try:
            found = evaluator.one(key, reader.projects, given)
        except Invalid as error:
            raise InvalidContext(error.message) from None
        # Browsers must not learn which features exist that are off for them.
        is_secret = found is not None and not (found[1] or reader.type is SdkTokenType.CLIENT)
        if found is None or is_secret:
            raise FlagNotFound(f"There is no feature {key!r} that this token can read.")
        answer = evaluation(*found, reader.environment, version=str(version))
        return json_answer(HTTP_OK, answer, NO_CACHE)

    def _reader(self, environ: WSGIEnvironment) -> Reader:
        sent = environ.get("HTTP_AUTHORIZATION") or environ.get("HTTP_X_API_KEY", "")
        return self._callers.reader(sent)


def _key(path: str) -> str:
    """Return the key of the feature in the path; empty if there is none."""
    key = path.removeprefix(f"{FLAGS}/") if path.startswith(f"{FLAGS}/") else ""
    return key.encode("latin-1", "replace").decode("utf-8", "replace")  # WSGI decodes as Latin-1


def _context(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the context for the engine: without nested objects, with the key as the user."""
    context = body.get("context")
    if context is None:
        return {}
    if not isinstance(context, dict):
        raise InvalidContext("The context must be an object.")
    given = {name: value for name, value in context.items() if not isinstance(value, dict)}
    if not given.get("userId"):
        given["userId"] = given.get(TARGETING_KEY)
    return given
