"""What SDKs ask for, answered before Flask: from memory, with bodies that are ready-made.

The strict rules of the admin API do not hold here. SDKs send what they send, and take a passing
401 or 403 for a reason to stop for good: whatever may pass is 503.
"""

import json
import re
import time
from collections.abc import Callable, Iterable
from functools import partial
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import parse_qs
from uuid import uuid4
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError

from app.core.errors import (
    DomainError,
    Failure,
    Invalid,
    MethodNotAllowed,
    NoAccess,
    NotAuthenticated,
    NotFound,
    PayloadTooLarge,
    Unavailable,
)
from app.core.logs import ACCESS, LOGGER
from app.core.secrets import digest
from app.delivery.payloads import Payload, Question
from app.delivery.reports import Caller, Reports
from app.delivery.source import Reader, Source
from app.sdk_tokens.models import SdkTokenType
from app.tokens import secrets
from app.web.http import AGAIN, AgainWhile
from app.web.metrics import Metrics

CLIENT = "/api/client/"
VALIDATE = "/edge/validate"
FEATURES = f"{CLIENT}features"
INLINED_BEFORE = (4, 2, 0)
"""The version of the client specification that brought segments."""
SPOKEN = "8.2.0"
"""The version of Unleash whose client API this is."""
MOST_VALIDATED = 1_000
HTTP_OK, NOT_MODIFIED, ACCEPTED = "200 OK", "304 Not Modified", "202 Accepted"

_semver = re.compile(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:[-+].*)?").fullmatch
_tag = re.compile(r'(?:W/)?"([^"]*?)(?:-gzip|;gzip)?"')
_no_gzip = re.compile(r"gzip\s*;\s*q=0(?:\.0*)?(?:,|$)").search

VARY = ("Vary", "Accept-Encoding, Authorization, Unleash-Client-Spec")
JSON = ("Content-Type", "application/json")
NOTHING = ("Content-Length", "0")
FRESH = ("Cache-Control", "private, no-cache")


def init_app(app: Flask) -> None:
    """Answer SDKs before the application, which gets everything else."""
    reports = Reports()
    app.extensions["flagstaff.reports"] = reports
    app.wsgi_app = SdkApi(  # type: ignore[method-assign] # Flask's way
        app.wsgi_app,
        Source(app.app_context),
        reports,
        app.extensions["flagstaff.metrics"],
        max_bytes=app.config["MAX_CONTENT_LENGTH"],
    )


def is_for_sdks(path: str) -> bool:
    """Whether a request is answered here. None of them writes before it is answered."""
    return path.startswith(CLIENT) or path == VALIDATE


class Answer(NamedTuple):
    status: str
    headers: list[tuple[str, str]]
    body: bytes = b""


class SdkApi:
    """The WSGI application that answers SDKs, and hands everything else on to ``others``."""

    def __init__(
        self,
        others: WSGIApplication,
        source: Source,
        reports: Reports,
        metrics: Metrics,
        *,
        max_bytes: int,
    ) -> None:
        self._others, self._source, self._reports = others, source, reports
        self._metrics, self._max_bytes = metrics, max_bytes
        self._posts: dict[str, Callable[[WSGIEnvironment], Answer]] = {
            f"{CLIENT}register": self._register,
            f"{CLIENT}metrics": self._count,
            f"{CLIENT}metrics/bulk": self._count_many,
            VALIDATE: self._validate,
        }

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if not is_for_sdks(path):
            return self._others(environ, start_response)
        started = time.perf_counter()
        refusal = None
        try:
            answer = self._answer(path, environ)
        except DomainError as error:
            answer = refusal = _refused(error)
        except SQLAlchemyError as error:
            LOGGER.warning("database: %s", error)
            answer = refusal = _refused(Unavailable())
        except Exception:  # noqa: BLE001 - an SDK gets an answer in any case
            LOGGER.exception("an SDK could not be answered")
            answer = refusal = _refused(Failure())
        seconds = time.perf_counter() - started
        self._metrics.note("sdk", int(answer.status[:3]), seconds)
        if refusal is not None:
            _log(environ, refusal, seconds)
        age = self._source.age
        headers = answer.headers if age is None else [*answer.headers, ("Age", str(age))]
        start_response(answer.status, [*headers, ("X-Content-Type-Options", "nosniff")])
        return [answer.body] if environ["REQUEST_METHOD"] != "HEAD" else []

    def _answer(self, path: str, environ: WSGIEnvironment) -> Answer:
        method = environ["REQUEST_METHOD"]
        if path == FEATURES or path.startswith(f"{FEATURES}/"):
            if method not in {"GET", "HEAD"}:
                raise MethodNotAllowed("GET, HEAD")
            return self._features(environ, path.removeprefix(FEATURES)[1:])
        post = self._posts.get(path)
        if post is None:
            raise NotFound("There is nothing at this address.")
        if method != "POST":
            raise MethodNotAllowed("POST")
        return post(environ)

    def _features(self, environ: WSGIEnvironment, name: str) -> Answer:
        reader = self._reader(environ)
        caller = Caller.of(
            environ.get("HTTP_UNLEASH_APPNAME"),
            environ.get("HTTP_UNLEASH_INSTANCEID"),
            environ.get("HTTP_UNLEASH_CONNECTION_ID"),
            environ.get("HTTP_UNLEASH_SDK"),
        )
        self._reports.note_caller(reader.environment, caller)
        question = _question(environ, reader)
        answers = self._source.answers(reader.environment)
        payload = answers.one(name, question) if name else answers.all(question)
        if payload is None:
            raise NotFound(f"There is no feature {name!r} that this token can read.")
        answer = _delivered(environ, payload)
        again: AgainWhile | None = environ.get(AGAIN)
        if again is not None and answer.status == NOT_MODIFIED and not name:
            again(partial(self._still_holds, reader, caller, question, payload.etag))
        return answer

    def _still_holds(
        self, reader: Reader, caller: Caller | None, question: Question, etag: str
    ) -> bool:
        """Whether a poll that found nothing new would find nothing new again; then counts it."""
        started = time.perf_counter()
        answers = self._source.answers_at_hand(reader)
        if answers is None or answers.etag(question) != etag:
            return False
        self._reports.note_caller(reader.environment, caller)
        self._reports.note_use(reader.token_id)
        self._metrics.note("sdk", HTTPStatus.NOT_MODIFIED, time.perf_counter() - started)
        return True

    def _register(self, environ: WSGIEnvironment) -> Answer:
        reader = self._reader(environ)
        self._reports.register(reader.environment, self._body(environ))
        return Answer(ACCEPTED, [("X-Unleash-Version", SPOKEN), NOTHING])

    def _count(self, environ: WSGIEnvironment) -> Answer:
        reader = self._reader(environ)
        sdk = environ.get("HTTP_UNLEASH_SDK")
        self._reports.count(reader.environment, self._body(environ), sdk)
        return Answer(ACCEPTED, [NOTHING])

    def _count_many(self, environ: WSGIEnvironment) -> Answer:
        reader = self._reader(environ)
        self._reports.count_many(reader.environment, self._body(environ))
        return Answer(ACCEPTED, [NOTHING])

    def _validate(self, environ: WSGIEnvironment) -> Answer:
        """Which of some tokens are valid, for a proxy between here and the SDKs."""
        tokens = self._body(environ).get("tokens")
        if not isinstance(tokens, list) or len(tokens) > MOST_VALIDATED:
            raise Invalid.at("/tokens", f"Must be a list of at most {MOST_VALIDATED} tokens.")
        valid = []
        for token in tokens:
            reader = self._known(token) if isinstance(token, str) else None
            if reader is not None:
                projects = ["*"] if reader.projects is None else list(reader.projects)
                facts = {"token": token, "type": reader.type, "projects": projects}
                valid.append(facts | {"environment": reader.environment})
        body = json.dumps({"tokens": valid}).encode()
        return Answer(HTTP_OK, [JSON, FRESH, ("Content-Length", str(len(body)))], body)

    def _reader(self, environ: WSGIEnvironment) -> Reader:
        """Who asks.

        Raises:
            NotAuthenticated: if the token is not known here or has expired.
            NoAccess: if it is for something else.

        """
        secret = secrets.sent_in(environ.get("HTTP_AUTHORIZATION", ""))
        if secret.startswith(secrets.PREFIX):
            raise NoAccess(
                "This token is for the admin API. Applications read features with an SDK token: "
                "Connections, SDK tokens."
            )
        reader = self._known(secret)
        if reader is None:
            raise NotAuthenticated
        if reader.type is not SdkTokenType.CLIENT:
            raise NoAccess(
                "This token is for browsers and phones. A server needs one of the type client."
            )
        self._reports.note_use(reader.token_id)
        return reader

    def _known(self, secret: str) -> Reader | None:
        if not 0 < len(secret) <= secrets.LONGEST:
            return None
        reader = self._source.reader(digest(secret))
        return None if reader is None or reader.has_expired else reader

    def _body(self, environ: WSGIEnvironment) -> dict[str, Any]:
        """The JSON object that was sent, whatever it is declared to be."""
        try:
            length = int(environ.get("CONTENT_LENGTH") or 0)
        except ValueError:
            length = 0
        if length > self._max_bytes:
            raise PayloadTooLarge(self._max_bytes)
        try:
            body = json.loads(environ["wsgi.input"].read(length))
        except (ValueError, RecursionError):
            raise Invalid("The body must be JSON.") from None
        if not isinstance(body, dict):
            raise Invalid("The body must be a JSON object.")
        return body


def _question(environ: WSGIEnvironment, reader: Reader) -> Question:
    is_inlined = _is_inlined(environ.get("HTTP_UNLEASH_CLIENT_SPEC"))
    query = environ.get("QUERY_STRING")
    if not query:
        return Question(reader.projects, is_inlined)
    asked = parse_qs(query)
    projects = reader.projects
    if projects is None and "*" not in asked.get("project", ["*"]):
        projects = tuple(sorted(set(asked["project"])))
    prefix, tags = asked.get("namePrefix", [""])[0], tuple(sorted(set(asked.get("tag", ()))))
    return Question(projects, is_inlined, prefix, tags)


def _is_inlined(spec: str | None) -> bool:
    """Whether an SDK of this version of the client specification knows no segments."""
    if not spec:
        return True
    parts = _semver(spec)
    if parts is None:
        raise Invalid(f"The header Unleash-Client-Spec must be a version like 5.2.0, not {spec!r}.")
    return tuple(map(int, parts.groups())) < INLINED_BEFORE


def _delivered(environ: WSGIEnvironment, payload: Payload) -> Answer:
    """The payload, compressed for those who can read that; nothing for those who have it."""
    headers = [("ETag", f'"{payload.etag}"'), FRESH, VARY]
    match = environ.get("HTTP_IF_NONE_MATCH")
    if match is not None and (match.strip() == "*" or payload.etag in _tag.findall(match)):
        return Answer(NOT_MODIFIED, headers)
    body = payload.body
    accepted = environ.get("HTTP_ACCEPT_ENCODING", "")
    if "gzip" in accepted and not _no_gzip(accepted):
        body = payload.compressed
        headers.append(("Content-Encoding", "gzip"))
    return Answer(HTTP_OK, [*headers, JSON, ("Content-Length", str(len(body)))], body)


def _refused(error: DomainError) -> Answer:
    id = str(uuid4())
    headers = [JSON, ("Cache-Control", "no-store"), ("X-Request-Id", id), *error.headers.items()]
    data = json.dumps(error.body(id)).encode()
    status = f"{error.status} {HTTPStatus(error.status).phrase}"
    return Answer(status, [*headers, ("Content-Length", str(len(data)))], data)


def _log(environ: WSGIEnvironment, refusal: Answer, seconds: float) -> None:
    """A line for each refusal. Answers that say what is usual are only counted."""
    facts = {
        "id": dict(refusal.headers)["X-Request-Id"],
        "method": environ["REQUEST_METHOD"],
        "path": environ["PATH_INFO"],
        "status": int(refusal.status[:3]),
        "ms": round(1_000 * seconds, 1),
        "ip": environ.get("REMOTE_ADDR"),
        "refusal": json.loads(refusal.body)["message"],
    }
    ACCESS.info(
        "{id} {method} {path} {status} in {ms} ms from {ip}: {refusal}".format_map(facts),
        extra={"facts": facts},
    )
