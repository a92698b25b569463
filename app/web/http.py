"""Shared parts of all responses: headers, JSON, the request's id, and the line in the log."""

import re
import time
from collections.abc import Callable, Iterable
from typing import Any
from uuid import uuid4
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from flask import Flask, Response, current_app, g, request
from flask.json.provider import DefaultJSONProvider

from app.core.config import Settings
from app.core.logs import log_request
from app.core.networks import is_in
from app.web.converters import CONVERTERS, LateRule
from app.web.metrics import Metrics

SAFE_METHODS = frozenset({"GET", "HEAD"})
"""Methods that change nothing."""

AGAIN = "flagstaff.again"
"""The key in a request's WSGI environment under which the server offers ``AgainWhile``.

An application that answered without a body can call it with a function that returns whether the
answer is still valid. The server calls this function in the thread that serves all connections, so
it must not block.
"""

PEER = "flagstaff.peer"
"""The key in a request's WSGI environment of the address that it came from directly."""

_ID = re.compile(r"[A-Za-z0-9-]{8,64}")
_TRACE = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")
"""The header traceparent of W3C's Trace Context; the group is the id of the trace."""

_SDK_TOKEN = re.compile(r"(?<=/)([^/:]+:[^/.]+\.)[^/]+")
"""The secret of an SDK token in an address, after its project and its environment."""

View = Callable[..., Any]
AgainWhile = Callable[[Callable[[], bool]], None]

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
"""For this host only: the rest of its domain is not ours to decide."""

STARTED = "flagstaff.started"


class _Json(DefaultJSONProvider):
    """Keys in the order of the schema, UTF-8, and no NaN."""

    sort_keys = False
    ensure_ascii = False
    compact = True

    def dumps(self, obj: Any, **kwargs: Any) -> str:
        return super().dumps(obj, allow_nan=False, **kwargs)


def init_app(app: Flask) -> None:
    app.json = _Json(app)
    app.extensions["flagstaff.metrics"] = Metrics(app.config["API_VERSION"])
    app.url_rule_class = LateRule
    app.url_map.converters |= CONVERTERS
    app.url_map.merge_slashes = False  # an address has one spelling
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.after_request(_finish)
    fixed = headers(app.config["SETTINGS"])
    app.wsgi_app = _with_headers(app.wsgi_app, fixed)  # type: ignore[method-assign, assignment] # Flask's way


def headers(settings: Settings) -> dict[str, str]:
    """The headers of every response."""
    return HEADERS | OVER_HTTPS if settings.is_https else HEADERS


def request_id() -> str:
    """The id of this request: in its response and in all its lines in the log.

    A trusted proxy can choose it with the header X-Request-Id.
    """
    if "request_id" not in g:
        given = request.headers.get("X-Request-Id", "") if came_from_proxy() else ""
        g.request_id = given if _ID.fullmatch(given) else str(uuid4())
    found: str = g.request_id
    return found


def came_from_proxy() -> bool:
    """Whether the request came directly from a trusted proxy."""
    settings: Settings = current_app.config["SETTINGS"]
    return is_in(request.environ.get(PEER, ""), settings.trusted_proxy)


def wants_json() -> bool:
    """Whether refusals are JSON: under /api, even where no route matches, and for health checks."""
    blueprint = current_app.blueprints.get(request.blueprint or "")
    is_api = request.path.startswith(("/api/", "/auth/", "/edge/", "/invite/"))
    return is_api or getattr(blueprint, "answers_json", False)


def loggable_path() -> str:
    """The path without the secret of a one-time link or of an SDK token.

    Whether a route matches does not matter: a wrong method, a trailing slash or an unknown prefix
    before it leaves the secret valid.
    """
    path = request.path
    if "-tokens/" in path:
        path = _SDK_TOKEN.sub(r"\1…", path)
    return _link_pattern(current_app).sub(r"\1…", path)


def _link_pattern(app: Flask) -> re.Pattern[str]:
    """Finds the secrets of all routes that have one, such as ``/set-up/<secret>``."""
    found: re.Pattern[str] | None = app.extensions.get("flagstaff.link_pattern")
    if found is None:
        rules = [rule.rule for rule in app.url_map.iter_rules() if "secret" in rule.arguments]
        names = "|".join(re.escape(rule.partition("<")[0].strip("/")) for rule in rules)
        found = re.compile(rf"(/(?:{names})/).+", re.IGNORECASE | re.DOTALL)
        app.extensions["flagstaff.link_pattern"] = found
    return found


def _with_headers(wsgi_app: WSGIApplication, headers: dict[str, str]) -> WSGIApplication:
    """Add the fixed headers below Flask, which would check them for each response."""
    fixed = list(headers.items())

    def serve(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        environ[STARTED] = time.perf_counter()

        def start(status: str, own: list[tuple[str, str]], *rest: Any) -> Any:
            return start_response(status, own + fixed, *rest)

        return wsgi_app(environ, start)

    return serve


def _finish(response: Response) -> Response:
    response.headers["X-Request-Id"] = request_id()
    response.headers.setdefault("Cache-Control", "no-store")
    if g.get("is_dry_run"):
        response.headers["X-Dry-Run"] = "true"
    _note(response)
    return response


def _note(response: Response) -> None:
    """Log the request: who asked for what, with what result, and how long it took."""
    seconds = time.perf_counter() - request.environ[STARTED]
    is_file = request.endpoint == "static"
    face = "static" if is_file else "api" if wants_json() else "page"
    current_metrics().note(face, response.status_code, seconds)
    actor = g.get("actor")
    trace = _TRACE.fullmatch(request.headers.get("traceparent", ""))
    entry = {
        "id": request_id(),
        "method": request.method,
        "path": loggable_path(),
        "status": response.status_code,
        "ms": round(1_000 * seconds, 1),
        "ip": request.remote_addr,
        "account": actor and actor.id,
        "token": actor and actor.token_id,
        "traceId": trace[1] if trace else None,
        "refusal": g.get("refusal"),
    }
    log_request(_line(entry), entry, g.get("cause"))


def _line(entry: dict[str, Any]) -> str:
    """``ID GET /path 200 in 3.1 ms from 127.0.0.1 account 7 token 9: NotFoundError: …``."""
    line = "{id} {method} {path} {status} in {ms} ms from {ip}".format_map(entry)
    more = ("account", "token", "traceId")
    line += "".join(f" {name} {entry[name]}" for name in more if entry[name])
    return f"{line}: {entry['refusal']}" if entry["refusal"] else line


def current_metrics() -> Metrics:
    """The counters of the running application."""
    metrics: Metrics = current_app.extensions["flagstaff.metrics"]
    return metrics
