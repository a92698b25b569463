"""Recording which projects and features people open, after their pages are rendered."""

from http import HTTPStatus

from flask import Flask, Response, current_app, g, request
from sqlalchemy.exc import SQLAlchemyError

from app.catalogue.visits.pending import PendingVisits
from app.catalogue.visits.service import VisitedPlace
from app.core.actor import Actor
from app.core.db import must_wait_to_write
from app.core.errors import DomainError
from app.core.logs import LOGGER, reason

ENDPOINTS = {"feature_pages.index", "feature_pages.show"}
"""The first page of a project, and that of a feature."""


def init_app(app: Flask) -> None:
    app.extensions["flagstaff.visits"] = PendingVisits()
    app.after_request(_note)
    app.teardown_request(_write)


def write_pending() -> None:
    """Write the waiting visits of this process."""
    _waiting().write()


def _note(response: Response) -> Response:
    is_page = response.status_code == HTTPStatus.OK and response.mimetype == "text/html"
    if is_page and request.method == "GET" and request.endpoint in ENDPOINTS:
        actor: Actor = g.actor
        place = request.view_args or {}
        _waiting().add(VisitedPlace(actor.account_id, place["project_id"], place.get("name")))
    return response


def _write(_error: BaseException | None) -> None:
    """Write the waiting visits, unless that would have to wait for others or for disk space."""
    if not _waiting().is_due() or must_wait_to_write():
        return
    try:
        write_pending()
    except (DomainError, SQLAlchemyError) as error:
        LOGGER.warning("visits were not recorded: %s", reason(error))


def _waiting() -> PendingVisits:
    found: PendingVisits = current_app.extensions["flagstaff.visits"]
    return found
