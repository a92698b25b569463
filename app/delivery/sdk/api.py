"""WSGI application for SDKs in front of Flask. It answers from memory, with prepared bodies.

The strict rules of the admin API don't apply: what SDKs send can't be changed. A 401 or 403 makes
SDKs stop for good, so any error that can pass is 503.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from http import HTTPStatus
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError

from app.core.errors import DomainError, Failure, Unavailable
from app.core.logs import log_request
from app.core.streaming import STREAM
from app.delivery.sdk.callers import Callers
from app.delivery.sdk.client import CLIENT, VALIDATE, ClientApi
from app.delivery.sdk.frontend import FRONTEND, FrontendApi
from app.delivery.sdk.http import Answer, Face
from app.delivery.sdk.ofrep import OFREP, OfrepApi
from app.delivery.sdk.reports import Reports
from app.delivery.sdk.source import Source
from app.delivery.sdk.streams import Streams
from app.web.http import AGAIN, AgainWhile
from app.web.metrics import Metrics

NOSNIFF = ("X-Content-Type-Options", "nosniff")

_doubled = re.compile(r"\A/+api/+(?:admin|client|frontend)(?:/+|\Z)")
_ended = re.compile(r"\A(/api/.+|/edge/.+|/health|/ready)/\Z", re.DOTALL)

_place = re.compile(rf"({CLIENT}|{OFREP})/|({FRONTEND})(?:/|\Z)|({VALIDATE})\Z").match


def init_app(app: Flask) -> None:
    """Put the SDK API in front of the application, which gets all other requests."""
    metrics: Metrics = app.extensions["flagstaff.metrics"]
    reports = Reports()
    source = Source(app.app_context, metrics.note_not_evaluated)
    callers, max_bytes = Callers(source, reports), app.config["MAX_CONTENT_LENGTH"]
    streams = Streams(source, metrics.note_streams)
    client = ClientApi(source, callers, reports, streams, max_bytes=max_bytes)
    faces: dict[str, Face] = {
        CLIENT: client,
        VALIDATE: client,
        FRONTEND: FrontendApi(source, callers, reports, max_bytes=max_bytes),
        OFREP: OfrepApi(source, callers, streams, app.config["SECRET_KEY"], max_bytes=max_bytes),
    }
    app.extensions["flagstaff.reports"] = reports
    app.extensions["flagstaff.source"] = source
    app.extensions["flagstaff.streams"] = streams
    app.wsgi_app = SdkApi(app.wsgi_app, faces, source, metrics)  # type: ignore[method-assign] # Flask's way


def is_for_sdks(path: str) -> bool:
    """Whether this module answers a request. It never writes before the response."""
    return _place(path) is not None


def _tidied(path: str) -> str:
    """The address as routes have it: clients join it from parts, each with slashes of its own."""
    path = _doubled.sub(lambda beginning: re.sub(r"/+", "/", beginning[0]), path)
    return _ended.sub(r"\1", path)


class SdkApi:
    """The WSGI application that answers SDKs, and passes all other requests to ``others``."""

    def __init__(
        self,
        others: WSGIApplication,
        faces: Mapping[str, Face],
        source: Source,
        metrics: Metrics,
    ) -> None:
        self._others, self._faces, self._source = others, faces, source
        self._metrics = metrics

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path[-1:] == "/" or "//" in path:
            path = environ["PATH_INFO"] = _tidied(path)
        place = _place(path)
        if place is None:
            return self._others(environ, start_response)
        face = self._faces[place[place.lastindex or 0]]
        started = time.perf_counter()
        refusal: DomainError | None = None
        try:
            answer = face.answer(path.rstrip("/"), environ)
        except DomainError as error:
            refusal = error
        except SQLAlchemyError as error:
            refusal = Unavailable().caused_by(error)
        except Exception as error:  # noqa: BLE001 - an SDK gets an answer in any case
            refusal = Failure().caused_by(error)
        if refusal is not None:
            answer = face.refusal(refusal, path)
        seconds = time.perf_counter() - started
        self._metrics.note(face.name, int(answer.status[:3]), seconds)
        if refusal is not None:
            _log(environ, answer, refusal, seconds)
        headers = answer.headers
        headers += face.headers(environ)
        headers.append(NOSNIFF)
        if (age := self._source.age) is not None:
            headers.append(("Age", str(age)))
        start_response(answer.status, headers)
        return self._body(environ, face, answer)

    def _body(self, environ: WSGIEnvironment, face: Face, answer: Answer) -> Iterable[bytes]:
        if answer.on_open is not None:
            environ[STREAM](answer.on_open)
            return ()
        # The server can repeat a 304 on this connection without parsing the request.
        again: AgainWhile | None = environ.get(AGAIN)
        if again is not None and answer.still_holds is not None:
            again(partial(self._holds_again, face.name, answer.still_holds))
        return [answer.body] if environ["REQUEST_METHOD"] != "HEAD" else []

    def _holds_again(self, face: str, still_holds: Callable[[], bool]) -> bool:
        """Whether a 304 can be repeated. If so, count it in the metrics."""
        started = time.perf_counter()
        if not still_holds():
            return False
        self._metrics.note(face, HTTPStatus.NOT_MODIFIED, time.perf_counter() - started)
        return True


def _log(environ: WSGIEnvironment, answer: Answer, refusal: DomainError, seconds: float) -> None:
    """Log one line for an error. Other responses are only counted."""
    fields = {
        "id": dict(answer.headers)["X-Request-Id"],
        "method": environ["REQUEST_METHOD"],
        "path": environ["PATH_INFO"],
        "status": refusal.status,
        "ms": round(1_000 * seconds, 1),
        "ip": environ.get("REMOTE_ADDR"),
        "refusal": refusal.message,
    }
    line = "{id} {method} {path} {status} in {ms} ms from {ip}: {refusal}".format_map(fields)
    log_request(line, fields, refusal.__cause__)
