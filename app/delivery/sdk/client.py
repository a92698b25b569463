"""The client API, for SDKs on servers, which evaluate features themselves, and for Unleash Edge."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import parse_qs
from wsgiref.types import WSGIEnvironment

from app.catalogue.sdk_tokens.models import SdkTokenType
from app.core.errors import DomainError, Invalid, MethodNotAllowed, NotFound
from app.delivery.sdk.callers import Callers
from app.delivery.sdk.http import (
    ACCEPTED,
    FRESH,
    HTTP_OK,
    NOT_MODIFIED,
    NOTHING,
    Answer,
    Header,
    body_of,
    delivered,
    held_by,
    json_answer,
    refused,
    remote_address,
)
from app.delivery.sdk.payloads import Answers, FeatureQuery
from app.delivery.sdk.polls import Offer, Process
from app.delivery.sdk.reports import Caller, Reports
from app.delivery.sdk.source import Reader, Source
from app.delivery.sdk.streams import Streams, Subscription, event

CLIENT = "/api/client"
VALIDATE = "/edge/validate"
FEATURES = f"{CLIENT}/features"
DELTA = f"{CLIENT}/delta"
STREAMING = f"{CLIENT}/streaming"
INLINED_BEFORE = (4, 2, 0)
"""The version of the client specification that introduced segments."""
SPOKEN = "8.2.0"
"""The version of Unleash whose client API this implements."""
MOST_VALIDATED = 1_000
VARY = ("Vary", "Accept-Encoding, Authorization, Unleash-Client-Spec")

_milliseconds = re.compile(r"\d{1,9}").fullmatch
_semver = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:[-+].*)?").fullmatch


class ClientApi:
    name = "sdk"

    def __init__(
        self,
        source: Source,
        callers: Callers,
        reports: Reports,
        streams: Streams,
        *,
        max_bytes: int,
    ) -> None:
        self._source, self._callers, self._reports = source, callers, reports
        self._streams = streams
        self._max_bytes = max_bytes
        self._routes: dict[str, tuple[str, Callable[[WSGIEnvironment], Answer]]] = {
            DELTA: ("GET", self._delta),
            STREAMING: ("GET", self._stream),
            f"{CLIENT}/register": ("POST", self._register),
            f"{CLIENT}/metrics": ("POST", self._count),
            f"{CLIENT}/metrics/bulk": ("POST", self._count_many),
            VALIDATE: ("POST", self._validate),
        }

    def answer(self, path: str, environ: WSGIEnvironment) -> Answer:
        method = environ["REQUEST_METHOD"]
        if path == FEATURES or path.startswith(f"{FEATURES}/"):
            if method not in {"GET", "HEAD"}:
                raise MethodNotAllowed("GET, HEAD")
            return self._features(environ, path.removeprefix(FEATURES)[1:])
        if path not in self._routes:
            raise NotFound("There is nothing at this address.")
        allowed, answer = self._routes[path]
        if method != allowed:
            raise MethodNotAllowed(allowed)
        return answer(environ)

    def refusal(self, error: DomainError, _path: str) -> Answer:
        return refused(error)

    def headers(self, _environ: WSGIEnvironment) -> tuple[Header, ...]:
        return ()

    def _features(self, environ: WSGIEnvironment, name: str) -> Answer:
        if name:
            return self._feature(environ, name)
        poll = self._poll(environ)
        answers = self._source.answers(poll.reader.environment)
        payload = answers.all(poll.query)
        answer = delivered(environ, payload, FRESH, VARY)
        return self._noted(environ, answer, poll, Offer(payload.etag, answers.state.version))

    def _feature(self, environ: WSGIEnvironment, name: str) -> Answer:
        reader = self._reader(environ)
        self._reports.note_caller(reader, _caller(environ))
        payload = self._source.answers(reader.environment).one(name, _query(environ, reader))
        if payload is None:
            raise NotFound(f"There is no feature {name!r} that this token can read.")
        return delivered(environ, payload, FRESH, VARY)

    def _delta(self, environ: WSGIEnvironment) -> Answer:
        """Return what has changed since the payload that the SDK has."""
        poll = self._poll(environ, by_reference=True)
        answers, held = self._source.answers(poll.reader.environment), held_by(environ)
        payload = answers.delta(poll.query, held[0] if held else "")
        answer = delivered(environ, payload, FRESH, VARY)
        return self._noted(environ, answer, poll, Offer(payload.etag, answers.state.version))

    def _stream(self, environ: WSGIEnvironment) -> Answer:
        """Return what has changed since the SDK's last event, and keep the response open."""
        reader, process, query = self._poll(environ, by_reference=True)
        held = environ.get("HTTP_LAST_EVENT_ID", "")
        answers = self._source.answers(reader.environment)
        payload = answers.delta(query, held)
        address = remote_address(environ)
        asked = Subscription(reader, process, address, query, _updated, payload.etag)
        first = event(b"unleash-connected", payload.etag, payload.body)
        answer = self._streams.open(environ, asked, first)
        if process is not None:
            offer = Offer(payload.etag, answers.state.version)
            if held == payload.etag:
                process.has(offer)
            else:
                process.streams(offer, held or None)
        return answer

    def _poll(self, environ: WSGIEnvironment, *, by_reference: bool = False) -> "_Poll":
        """Return who asks, and for what. ``by_reference``: with segments, which deltas need."""
        reader, caller = self._reader(environ), _caller(environ)
        process = None
        if caller is not None:
            interval = environ.get("HTTP_UNLEASH_INTERVAL", "")
            seconds = int(interval) // 1_000 if _milliseconds(interval) else None
            process = self._reports.process(reader, caller, seconds)
        query = _query(environ, reader)
        return _Poll(reader, process, replace(query, is_inlined=False) if by_reference else query)

    def _noted(
        self, environ: WSGIEnvironment, answer: Answer, poll: "_Poll", offer: Offer
    ) -> Answer:
        """Note what the poll proves. Let the server repeat a 304 while nothing changes."""
        held = held_by(environ)
        is_held = answer.status == NOT_MODIFIED and offer.etag in held
        if poll.process is not None and environ["REQUEST_METHOD"] == "GET":
            if is_held:
                poll.process.has(offer)
            else:
                poll.process.gets(offer, held[0] if len(held) == 1 and held[0] != "*" else None)
        holds = partial(self._still_holds, poll, offer.etag) if is_held else None
        return answer._replace(still_holds=holds)

    def _still_holds(self, poll: "_Poll", etag: str) -> bool:
        """Whether a poll that got 304 would get it again. If so, note it like any request."""
        answers = self._source.answers_at_hand(poll.reader)
        if answers is None or answers.etag(poll.query) != etag:
            return False
        if poll.process is not None:
            poll.process.has(Offer(etag, answers.state.version))
        self._reports.note_use(poll.reader.token_id)
        return True

    def _register(self, environ: WSGIEnvironment) -> Answer:
        reader = self._reader(environ)
        self._reports.register(reader, self._body(environ))
        return Answer(ACCEPTED, [("X-Unleash-Version", SPOKEN), NOTHING])

    def _count(self, environ: WSGIEnvironment) -> Answer:
        reader = self._reader(environ)
        sdk = environ.get("HTTP_UNLEASH_SDK")
        self._reports.count(reader, self._body(environ), sdk)
        return Answer(ACCEPTED, [NOTHING])

    def _count_many(self, environ: WSGIEnvironment) -> Answer:
        reader = self._reader(environ)
        self._reports.count_many(reader, self._body(environ))
        return Answer(ACCEPTED, [NOTHING])

    def _validate(self, environ: WSGIEnvironment) -> Answer:
        """Return the valid ones of the sent tokens, for a proxy such as Unleash Edge."""
        tokens = self._body(environ).get("tokens")
        if not isinstance(tokens, list) or len(tokens) > MOST_VALIDATED:
            raise Invalid.at("/tokens", f"Must be a list of at most {MOST_VALIDATED} tokens.")
        valid = []
        for token in tokens:
            reader = self._callers.known(token) if isinstance(token, str) else None
            if reader is not None:
                projects = ["*"] if reader.projects is None else list(reader.projects)
                entry = {"token": token, "type": reader.type, "projects": projects}
                valid.append(entry | {"environment": reader.environment})
        return json_answer(HTTP_OK, {"tokens": valid}, FRESH)

    def _reader(self, environ: WSGIEnvironment) -> Reader:
        sent = environ.get("HTTP_AUTHORIZATION", "")
        return self._callers.reader(sent, SdkTokenType.CLIENT)

    def _body(self, environ: WSGIEnvironment) -> dict[str, Any]:
        return body_of(environ, self._max_bytes)


class _Poll(NamedTuple):
    """``process``: None if the request doesn't say which application asks."""

    reader: Reader
    process: Process | None
    query: FeatureQuery


def _caller(environ: WSGIEnvironment) -> Caller | None:
    return Caller.of(
        environ.get("HTTP_UNLEASH_APPNAME"),
        environ.get("HTTP_UNLEASH_INSTANCEID"),
        environ.get("HTTP_UNLEASH_CONNECTION_ID"),
        environ.get("HTTP_UNLEASH_SDK"),
    )


def _updated(answers: Answers, query: FeatureQuery, etag: str) -> bytes:
    payload = answers.delta(query, etag)
    return event(b"unleash-updated", payload.etag, payload.body)


def _query(environ: WSGIEnvironment, reader: Reader) -> FeatureQuery:
    is_inlined = _is_inlined(environ.get("HTTP_UNLEASH_CLIENT_SPEC"))
    sent = environ.get("QUERY_STRING")
    if not sent:
        return FeatureQuery(reader.projects, is_inlined)
    asked = parse_qs(sent)
    projects = reader.projects
    if projects is None and "*" not in asked.get("project", ["*"]):
        projects = tuple(sorted(set(asked["project"])))  # sorted: the request is a cache key
    prefix, tags = asked.get("namePrefix", [""])[0], tuple(sorted(set(asked.get("tag", ()))))
    return FeatureQuery(projects, is_inlined, prefix, tags)


def _is_inlined(spec: str | None) -> bool:
    """Whether an SDK with this version of the client specification doesn't support segments."""
    if not spec:
        return True
    parts = _semver(spec)
    if parts is None:
        raise Invalid(f"The header Unleash-Client-Spec must be a version like 5.2.0, not {spec!r}.")
    return tuple(map(int, parts.groups())) < INLINED_BEFORE
