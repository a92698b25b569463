"""The OpenAPI document, made from the declarations of routes, schemas and errors."""

from collections.abc import Callable
from copy import deepcopy
from http import HTTPStatus
from threading import Lock
from typing import Any

import flask_smorest
from flask import Flask
from marshmallow import fields

from app.core import errors
from app.core.permissions import Access, Need, Permission
from app.core.words import KEY_PATTERN
from app.web.http import IdConverter, KeyConverter
from app.web.schemas import Schema


class ErrorDetail(Schema):
    path = fields.String(metadata={"description": "JSON pointer into the request."})
    message = fields.String(metadata={"description": "What is wrong and how to correct it."})


class Error(Schema):
    id = fields.UUID(metadata={"description": "Also in X-Request-Id and in the server's log."})
    name = fields.String(metadata={"description": "The kind of error."})
    message = fields.String(metadata={"description": "What went wrong."})
    details = fields.List(
        fields.Nested(ErrorDetail), metadata={"description": "Every problem of a 400."}
    )


def openapi_document(app: Flask) -> dict[str, Any]:
    """The API as OpenAPI 3.1."""
    api: Api = app.extensions["flask-smorest"]["apis"][""]["ext_obj"]
    document = api.describe()
    responses = document["components"]["responses"]
    document["components"]["responses"] = {
        name: response | {"description": _meaning(HTTPStatus[name])}
        for name, response in responses.items()
    }
    first = ("openapi", "info", "servers", "security", "tags")
    return {key: document[key] for key in first if key in document} | document


def document(view: Callable[..., Any], rule: str, needs: Need, refuses: tuple[int, ...]) -> None:
    """Add the errors of a route to the OpenAPI document."""
    notes = deepcopy(getattr(view, "_apidoc", {}))
    notes.setdefault("manual_doc", {})["x-needs"] = str(needs.value)
    statuses = {500, 503, *refuses}
    if needs is not Access.PUBLIC:
        statuses |= {401}
    else:
        notes["manual_doc"]["security"] = []
    if isinstance(needs, Permission):
        statuses |= {403}
    if "<" in rule:
        statuses |= {404}
    parameters = notes.get("arguments", {}).get("parameters", [])
    if any(parameter["in"] == "json" for parameter in parameters):
        statuses |= {400, 413, 415}
    responses = notes.setdefault("response", {}).setdefault("responses", {})
    for status in sorted(statuses):
        responses.setdefault(status, [HTTPStatus(status).name])
    view._apidoc = notes  # type: ignore[attr-defined] # noqa: SLF001 - where flask-smorest looks


def _meaning(status: HTTPStatus) -> str:
    """``NotFoundError: It does not exist, …``: when each error with this status happens."""
    kinds = [
        kind for kind in errors.all_errors() if kind.status == status and not kind.only_on_pages
    ]
    return " ".join(f"{kind.name}: {kind.when}" for kind in kinds) or status.phrase


class Api(flask_smorest.Api):  # type: ignore[misc] # untyped
    """Collects the OpenAPI document; ``app/web/refusals.py`` renders refusals."""

    ERROR_SCHEMA = Error
    DEFAULT_ERROR_RESPONSE_NAME = None

    def __init__(self, app: Flask) -> None:
        super().__init__(app)
        self._undescribed: list[flask_smorest.Blueprint] = []
        self._describing = Lock()
        self.register_converter(KeyConverter, lambda _: {"type": "string", "pattern": KEY_PATTERN})
        self.register_converter(IdConverter, lambda _: {"type": "integer", "minimum": 1})

    def register_blueprint(self, bp: flask_smorest.Blueprint) -> None:
        """Serve the blueprint, and describe it when the document is first asked for.

        Describing everything at once took as long as the rest of a start.
        """
        self._app.extensions["flask-smorest"]["blp_name_to_api"][bp.name] = self
        self._app.register_blueprint(bp)
        self._undescribed.append(bp)

    def describe(self) -> dict[str, Any]:
        """The document of all blueprints that were registered."""
        with self._describing:
            while self._undescribed:
                bp = self._undescribed.pop(0)
                bp.register_views_in_doc(self, self._app, self.spec, name=bp.name, parameters=None)
                self.spec.tag({"name": bp.name, "description": bp.description})
        document: dict[str, Any] = self.spec.to_dict()
        return document

    def _register_error_handlers(self) -> None:
        """Register none: they would handle the pages too."""
