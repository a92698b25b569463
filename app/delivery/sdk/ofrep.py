"""OFREP, OpenFeature's own protocol: features are evaluated here for any of its SDKs.

A request does not say which type of value it wants. So the value is the payload of the variant or,
without one, whether the feature is on.
"""

import json
from collections.abc import Mapping
from http import HTTPStatus
from math import isfinite
from typing import Any
from uuid import uuid4
from wsgiref.types import WSGIEnvironment

from app.catalogue.sdk_tokens.models import SdkTokenType
from app.core.errors import DomainError, Invalid, MethodNotAllowed, NotFound
from app.delivery.sdk import cors
from app.delivery.sdk.callers import Callers
from app.delivery.sdk.frontend import NO_CACHE, remote_address
from app.delivery.sdk.http import (
    HTTP_OK,
    Answer,
    Header,
    body_of,
    delivered,
    json_answer,
    refused,
    refused_with,
)
from app.delivery.sdk.source import Reader, Source
from app.evaluation.written import EvaluatedFeature

OFREP = "/ofrep/v1"
FLAGS = f"{OFREP}/evaluate/flags"
TARGETING_KEY = "targetingKey"


class FlagNotFound(NotFound):
    """Not found, with an error code of its own in OFREP."""


class InvalidContext(Invalid):
    """The context is not an object, or can't be evaluated."""


class Flags:
    """Format of all features. ``has_off``: include those that are off, which only servers see."""

    head, tail = b'{"flags":[', b"]}"

    def __init__(self, *, has_off: bool) -> None:
        self.has_off = has_off
        self.name = f"ofrep {has_off}"

    def piece(self, feature: EvaluatedFeature, variant: bytes | None) -> bytes | None:
        if variant is None and not self.has_off:
            return None
        answer = evaluation(feature, None if variant is None else json.loads(variant))
        return json.dumps(answer, separators=(",", ":")).encode()


def evaluation(feature: EvaluatedFeature, variant: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a feature as OFREP's answer. ``variant``: None if it is off for this context."""
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
    metadata = {"enabled": is_on, "variant": name or "disabled", "project": feature.project}
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

    def __init__(self, source: Source, callers: Callers, *, max_bytes: int) -> None:
        self._source, self._callers, self._max_bytes = source, callers, max_bytes
        self._views = {has_off: Flags(has_off=has_off) for has_off in (True, False)}

    def answer(self, path: str, environ: WSGIEnvironment) -> Answer:
        method = environ["REQUEST_METHOD"]
        if method == "OPTIONS":
            return cors.preflight(environ)
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
        view = self._views[reader.type is SdkTokenType.CLIENT]
        evaluator = self._source.evaluator(reader.environment)
        try:
            written = evaluator.all(view, reader.projects, given)
        except Invalid as error:
            raise InvalidContext(error.message) from None
        return delivered(environ, written, NO_CACHE)

    def _one(self, key: str, reader: Reader, given: dict[str, Any]) -> Answer:
        evaluator = self._source.evaluator(reader.environment)
        try:
            found = evaluator.one(key, reader.projects, given)
        except Invalid as error:
            raise InvalidContext(error.message) from None
        # Browsers must not learn which features exist that are off for them.
        is_secret = found is not None and not (found[1] or reader.type is SdkTokenType.CLIENT)
        if found is None or is_secret:
            raise FlagNotFound(f"There is no feature {key!r} that this token can read.")
        return json_answer(HTTP_OK, evaluation(*found), NO_CACHE)

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
