"""The frontend API, for SDKs in browsers and on phones: features are evaluated here for them."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl
from wsgiref.types import WSGIEnvironment

from app.catalogue.sdk_tokens.models import SdkTokenType
from app.core.errors import DomainError, Invalid, MethodNotAllowed, NotFound
from app.delivery.sdk import cors
from app.delivery.sdk.callers import Callers
from app.delivery.sdk.http import (
    HTTP_OK,
    NOTHING,
    Answer,
    Header,
    body_of,
    delivered,
    refused,
    remote_address,
)
from app.delivery.sdk.reports import Caller, Reports
from app.delivery.sdk.source import Reader, Source
from app.evaluation.context import PROPERTIES
from app.evaluation.written import EvaluatedFeature

FRONTEND = "/api/frontend"
BROWSER = "browser"
"""Instance id of all browsers. With one for each, there would be as many as people."""
NO_CACHE = ("Cache-Control", "no-cache")

_property = re.compile(r"properties\[(.*)\]", re.DOTALL).fullmatch


class Toggles:
    """All features that are on, as SDKs in browsers read them."""

    name = "frontend"
    head, tail = b'{"toggles":[', b"]}"
    has_off = False

    def piece(self, feature: EvaluatedFeature, variant: bytes | None) -> bytes | None:
        if variant is None:
            return None
        impressions = b"true" if feature.has_impressions else b"false"
        return b'{"name":"%b","enabled":true,"variant":%b,"feature_enabled":true},' % (
            feature.key,
            variant[:-1],
        ) + (b'"impressionData":%b}' % impressions)


class FrontendApi:
    name = "frontend"

    def __init__(
        self, source: Source, callers: Callers, reports: Reports, *, max_bytes: int
    ) -> None:
        self._source, self._callers, self._reports = source, callers, reports
        self._max_bytes, self._view = max_bytes, Toggles()

    def answer(self, path: str, environ: WSGIEnvironment) -> Answer:
        method, place = environ["REQUEST_METHOD"], path.removeprefix(FRONTEND)
        if method == "OPTIONS":
            return cors.preflight(environ)
        if place == "":
            if method not in {"GET", "HEAD", "POST"}:
                raise MethodNotAllowed("GET, HEAD, POST")
            return self._features(environ)
        if place == "/client/features":
            raise MethodNotAllowed("")
        if place not in {"/client/metrics", "/client/register"}:
            raise NotFound("There is nothing at this address.")
        if method != "POST":
            raise MethodNotAllowed("POST")
        reader = self._reader(environ)
        body = body_of(environ, self._max_bytes)
        if place == "/client/metrics":
            one = body | {"instanceId": BROWSER, "connectionId": None}
            self._reports.count(reader, one, environ.get("HTTP_UNLEASH_SDK"))
        return Answer(HTTP_OK, [NOTHING])

    def refusal(self, error: DomainError, _path: str) -> Answer:
        return refused(error)

    def headers(self, environ: WSGIEnvironment) -> list[Header]:
        return cors.headers(self._source, environ)

    def _features(self, environ: WSGIEnvironment) -> Answer:
        reader = self._reader(environ)
        caller = Caller.of(
            environ.get("HTTP_UNLEASH_APPNAME"), BROWSER, None, environ.get("HTTP_UNLEASH_SDK")
        )
        self._reports.note_caller(reader, caller)
        if environ["REQUEST_METHOD"] == "POST":
            given = _context_in(body_of(environ, self._max_bytes))
        else:
            given = _context_of(environ.get("QUERY_STRING", ""))
        given = {**given, "remoteAddress": given.get("remoteAddress") or remote_address(environ)}
        evaluator = self._source.evaluator(reader.environment)
        return delivered(environ, evaluator.all(self._view, reader.projects, given), NO_CACHE)

    def _reader(self, environ: WSGIEnvironment) -> Reader:
        sent = environ.get("HTTP_AUTHORIZATION", "")
        return self._callers.reader(sent, SdkTokenType.FRONTEND)


def _context_in(body: Mapping[str, Any]) -> dict[str, Any]:
    context = body.get("context")
    if context is None:
        return {}
    if not isinstance(context, dict):
        raise Invalid.at("/context", "Must be an object.")
    inner = context.get(PROPERTIES)
    return context if isinstance(inner, dict) else context | {PROPERTIES: {}}


def _context_of(query: str) -> dict[str, Any]:
    """Parse the context in a query string: ``properties[country]=NO``, or ``country=NO``."""
    given: dict[str, Any] = {}
    properties: dict[str, str] = {}
    text = query.encode("latin-1", "replace").decode("utf-8", "replace")  # WSGI decodes as Latin-1
    for name, value in parse_qsl(text):
        if inner := _property(name):
            properties[inner[1]] = value
        else:
            given[name] = value
    return given | {PROPERTIES: properties}
