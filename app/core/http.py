"""What every answer has in common: its headers, its JSON, its refusals and its id."""

import time
from collections.abc import Iterable
from contextlib import suppress
from http import HTTPStatus
from typing import Any
from uuid import uuid4
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from flask import Flask, Response, current_app, g, jsonify, render_template, request
from flask.json.provider import DefaultJSONProvider
from flask.typing import ResponseReturnValue
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from werkzeug.exceptions import HTTPException
from werkzeug.routing import BaseConverter

from app.config import Settings
from app.core.db import unit_of_work
from app.core.errors import DomainError, Unavailable
from app.core.faults import is_unavailable
from app.core.logs import ACCESS, LOGGER
from app.core.metrics import Metrics

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'; object-src 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "geolocation=(), camera=(), microphone=(), payment=(), usb=()",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
OVER_HTTPS = {"Strict-Transport-Security": "max-age=31536000"}
"""For this host alone: what else there is in its domain is not ours to decide."""

# What Werkzeug and Flask refuse by themselves, in this API's names and words.
REFUSALS = {
    400: ("ValidationError", "The request can't be read."),
    404: ("NotFoundError", "There is nothing at this address."),
    405: ("MethodNotAllowedError", "This address does not take that method; see the header Allow."),
    413: ("PayloadTooLargeError", "The request is larger than this server takes ({limit} bytes)."),
}
PAGE_TITLES = {
    400: "This was not accepted",
    403: "You may not do this",
    404: "There is nothing here",
    405: "This address is not for that",
    409: "Not as things stand",
    412: "Somebody else was quicker",
    413: "This is too much at once",
    429: "Too many attempts",
    500: "Something went wrong",
    503: "The database is not available",
}
BEGAN = "flagstaff.began"
INTERNAL = "Something went wrong here. Nothing was changed. The server's log has this id."


class KeyConverter(BaseConverter):
    """A project id or feature name in a path; whatever else stands there is no address of ours."""

    regex = r"(?!\.\.?(?:/|$))[A-Za-z0-9_~.-]{1,100}"


class IdConverter(BaseConverter):
    """A database id in a path; nine digits are within every database's integers."""

    regex = r"[1-9][0-9]{0,8}"

    def to_python(self, value: str) -> int:
        return int(value)


class _Json(DefaultJSONProvider):
    """Keys in the order of the schema, UTF-8, and nothing that is not JSON."""

    sort_keys = False
    ensure_ascii = False
    compact = True

    def dumps(self, obj: Any, **kwargs: Any) -> str:
        return super().dumps(obj, allow_nan=False, **kwargs)


def init_app(app: Flask) -> None:
    app.json = _Json(app)
    app.extensions["flagstaff.metrics"] = Metrics(app.config["API_VERSION"])
    app.url_map.converters |= {"key": KeyConverter, "id": IdConverter}
    app.url_map.merge_slashes = (
        False  # an address has one spelling; a redirect would hide the other
    )
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.after_request(_finish)
    fixed = headers(app.config["SETTINGS"])
    app.wsgi_app = _with_headers(app.wsgi_app, fixed)  # type: ignore[method-assign, assignment] # Flask's way
    app.register_error_handler(DomainError, _refuse)
    app.register_error_handler(HTTPException, _refuse_http)
    app.register_error_handler(DBAPIError, _fail_database)
    app.register_error_handler(PoolTimeout, _fail_database)
    app.register_error_handler(Exception, _fail)


def headers(settings: Settings) -> dict[str, str]:
    """The headers of every answer."""
    return HEADERS | OVER_HTTPS if settings.is_https else HEADERS


def request_id() -> str:
    """The id of this request: in its answer, and in every line that the log has about it."""
    if "request_id" not in g:
        g.request_id = str(uuid4())
    found: str = g.request_id
    return found


def wants_json() -> bool:
    """Whether a refusal is for a program: under /api, known or not, and at the health checks."""
    face = current_app.blueprints.get(request.blueprint or "")
    return request.path.startswith("/api/") or getattr(face, "speaks_json", False)


def _with_headers(wsgi_app: WSGIApplication, headers: dict[str, str]) -> WSGIApplication:
    """Add the headers of every answer below Flask, where they are not checked each time anew."""
    fixed = list(headers.items())

    def serve(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        environ[BEGAN] = time.perf_counter()

        def start(status: str, own: list[tuple[str, str]], *rest: Any) -> Any:
            return start_response(status, own + fixed, *rest)

        return wsgi_app(environ, start)

    return serve


def _finish(response: Response) -> Response:
    response.headers["X-Request-Id"] = request_id()
    response.headers.setdefault("Cache-Control", "no-store")
    _note(response)
    return response


def _note(response: Response) -> None:
    """Tell the log of the request: who asked for what, what came of it, how long it took."""
    actor = g.get("actor")
    seconds = time.perf_counter() - request.environ[BEGAN]
    current_metrics().note(_face(), response.status_code, seconds)
    milliseconds = round(1_000 * seconds, 1)
    refusal = g.get("refusal", "")
    ACCESS.info(
        "%s %s %s %s in %s ms%s",
        request_id(),
        request.method,
        _path(),
        response.status_code,
        milliseconds,
        f": {refusal}" if refusal else "",
        extra={
            "facts": {
                "id": request_id(),
                "method": request.method,
                "path": _path(),
                "status": response.status_code,
                "ms": milliseconds,
                "ip": request.remote_addr,
                "account": actor and actor.id,
                "token": actor and actor.token_id,
                "refusal": refusal or None,
            }
        },
    )


def current_metrics() -> Metrics:
    """What the application that is running counts."""
    metrics: Metrics = current_app.extensions["flagstaff.metrics"]
    return metrics


def _face() -> str:
    """For whom the answer was: a program, a person, or what a page is drawn with."""
    if request.endpoint == "static":
        return "static"
    return "api" if wants_json() else "page"


def _path() -> str:
    """What was asked for, but no secret of a link by which somebody sets a password."""
    has_secret = "secret" in (request.view_args or {})
    return request.url_rule.rule if has_secret and request.url_rule else request.path


def _refuse(error: DomainError) -> ResponseReturnValue:
    return _answer(error.status, error.name, error.message, error.details, error.headers)


def _refuse_http(error: HTTPException) -> ResponseReturnValue:
    if error.code is None or error.response is not None:
        return error.get_response()
    if error.code == HTTPStatus.INTERNAL_SERVER_ERROR:
        return _fail(error)
    fallback = (f"{error.name.title().replace(' ', '')}Error", error.description or error.name)
    name, message = REFUSALS.get(error.code, fallback)
    allow = error.get_response().headers.get("Allow")
    return _answer(
        error.code,
        name,
        message.format(limit=request.max_content_length),
        headers={"Allow": allow} if allow else None,
    )


def _fail_database(error: DBAPIError | PoolTimeout) -> ResponseReturnValue:
    if isinstance(error, DBAPIError) and not is_unavailable(error):
        return _fail(error)
    LOGGER.warning("%s database: %s", request_id(), error)
    return _refuse(Unavailable())


def _fail(error: Exception) -> ResponseReturnValue:
    LOGGER.error("%s %s %s failed", request_id(), request.method, _path(), exc_info=error)
    return _answer(500, "InternalError", INTERNAL)


def _answer(
    status: int,
    name: str,
    message: str,
    details: list[dict[str, str]] | None = None,
    headers: dict[str, str] | None = None,
) -> ResponseReturnValue:
    """``id`` is in the log and in the answer, so that one can be found by the other."""
    g.refusal = f"{name}: {message}"
    if wants_json():
        error: dict[str, Any] = {"id": request_id(), "name": name, "message": message}
        if details is not None:
            error["details"] = details
        return jsonify(error), status, headers or {}
    return _page(status, name, message), status, headers or {}


def _page(status: int, name: str, message: str) -> str:
    """A refusal for people: in the shell, if somebody is signed in and it can be found out."""
    is_refusal = status < HTTPStatus.INTERNAL_SERVER_ERROR
    if is_refusal and "actor" not in g:
        with suppress(Exception), unit_of_work(writes=False):
            g.actor = current_app.extensions["flagstaff.browsers"].identify()
    title = PAGE_TITLES.get(status, HTTPStatus(status).phrase)
    return render_template(
        "errors/error.html",
        status=status,
        name=name,
        title=title,
        message=message,
        id=request_id(),
        # Neither the database nor the router is asked for the page: either may be what has failed.
        layout="layouts/base.html" if is_refusal and "actor" in g else "layouts/gate.html",
    )
