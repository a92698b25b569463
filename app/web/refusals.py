"""Every refusal and failure, as JSON for the API and as a page for browsers."""

import re
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus

from flask import Flask, Response, current_app, g, jsonify, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from werkzeug.exceptions import HTTPException

from app.core.db import unit_of_work
from app.core.errors import (
    DomainError,
    Failure,
    InMaintenance,
    Invalid,
    MethodNotAllowed,
    NoAccess,
    NotFound,
    PayloadTooLarge,
    Unavailable,
)
from app.core.faults import is_unavailable
from app.web.http import request_id, wants_json
from app.web.redirects import new_address, redirect_to_path

INSTEAD = {
    r"/api/admin/addons(/.*)?": "There are no add-ons here. Use webhooks: /api/admin/webhooks.",
    r"/api/admin/invite-link/.*|/invite/.*": (
        "There are no sign-up links here. Create each user with POST /api/admin/user-admin: the "
        "answer has a link for them."
    ),
    r"/api/admin/telemetry/.*": "Flagstaff sends nothing about itself, so there is no setting.",
    r"/api/admin/record-ui-error": "Flagstaff’s pages report no errors. The log has those.",
    r"/api/admin/personal-dashboard(/.*)?": (
        "There is no personal dashboard here. Use /api/admin/user/profile, "
        "/api/admin/search/features?favorite=IS:true and /api/admin/projects."
    ),
    r"/api/admin/projects/[^/]+/context(/.*)?": (
        "Context fields belong to all projects here. Use /api/admin/context."
    ),
    r"/auth/.*": (
        "Scripts don’t sign in here. Send a token in the header Authorization; people sign in at "
        "/sign-in."
    ),
    r"/edge/issue-token": (
        "Edge can’t ask for tokens here. Create them with POST /api/admin/api-tokens."
    ),
}
"""What Unleash has and Flagstaff has not, by a pattern of its addresses: what to use instead."""

UNREADABLE = "The request can not be read."
NOTHING_HERE = "There is nothing at this address."
ELSEWHERE = "The address may have a typo, or what was here has been deleted."
"""The remedy on the page of what is not found, and in no project."""


def init_app(app: Flask) -> None:
    app.register_error_handler(DomainError, _refuse)
    app.register_error_handler(HTTPException, _refuse_http)
    app.register_error_handler(DBAPIError, _fail_database)
    app.register_error_handler(PoolTimeout, _fail_database)
    app.register_error_handler(Exception, _fail)


def render(app: Flask, prefix: str, renders: Callable[[DomainError], Response]) -> None:
    """Render all refusals below this path with ``renders``."""
    _renderers(app)[prefix] = renders


def _renderers(app: Flask) -> dict[str, Callable[[DomainError], Response]]:
    found: dict[str, Callable[[DomainError], Response]] = app.extensions.setdefault(
        "flagstaff.refusals", {}
    )
    return found


def _refuse(error: DomainError) -> ResponseReturnValue:
    """The response to a refused request. The log has its id too, so that one leads to the other."""
    g.refusal = f"{error.name}: {error.message}"
    g.cause = error.__cause__
    g.is_denied = isinstance(error, NoAccess)
    for prefix, renders in _renderers(current_app).items():
        if request.path.startswith(prefix):
            answer = renders(error)
            answer.headers.extend(error.headers)
            return answer
    if wants_json():
        return jsonify(error.body(request_id())), error.status, error.headers
    if isinstance(error, NotFound) and (other := new_address(request.path)):
        return redirect_to_path(other)
    return _page(error), error.status, error.headers


def _refuse_http(error: HTTPException) -> ResponseReturnValue:
    """Refusals of Werkzeug and Flask, by the names that this API uses."""
    if error.code is None or error.response is not None:
        return error.get_response()
    if error.code == HTTPStatus.INTERNAL_SERVER_ERROR:
        return _fail(error)
    return _refuse(_translated(error))


def _translated(error: HTTPException) -> DomainError:
    match error.code:
        case 400:
            return Invalid(UNREADABLE)
        case 404:
            return NotFound(_instead(request.path) or NOTHING_HERE)
        case 405:
            return MethodNotAllowed(error.get_response().headers["Allow"])
        case 413:
            return PayloadTooLarge(request.max_content_length)
    other = Invalid(error.description or error.name)
    other.status, other.name = error.code or other.status, name_of(error.code, error.name)
    return other


def _instead(path: str) -> str | None:
    """What to use instead of something that Unleash has at this address."""
    return next((text for has, text in INSTEAD.items() if re.fullmatch(has, path)), None)


def name_of(status: int | None, reason: str) -> str:
    """The name of a refusal that comes from below the application."""
    kinds = {kind.status: kind for kind in (Invalid, NotFound, MethodNotAllowed, PayloadTooLarge)}
    return kinds[status].name if status in kinds else f"{reason.title().replace(' ', '')}Error"


def _fail_database(error: DBAPIError | PoolTimeout) -> ResponseReturnValue:
    if isinstance(error, DBAPIError) and not is_unavailable(error):
        return _fail(error)
    return _refuse(Unavailable().caused_by(error))


def _fail(error: Exception) -> ResponseReturnValue:
    return _refuse(Failure().caused_by(error))


def _page(error: DomainError) -> str:
    """The page of a refusal; with the navigation, if it is known that someone is signed in."""
    is_refusal = error.status < HTTPStatus.INTERNAL_SERVER_ERROR or isinstance(error, InMaintenance)
    if is_refusal and "actor" not in g:
        with suppress(Exception), unit_of_work(writes=False):
            g.actor = current_app.extensions["flagstaff.browsers"].identify()
    is_elsewhere = isinstance(error, NotFound) and "project_id" not in (request.view_args or {})
    return render_template(
        "errors/error.html",
        error=error,
        remedy=ELSEWHERE if is_elsewhere else error.remedy,
        id=request_id(),
        is_known="actor" in g,
        # A failed page asks the database for nothing: it may be what has failed.
        layout="layouts/base.html" if is_refusal and "actor" in g else "layouts/gate.html",
    )
