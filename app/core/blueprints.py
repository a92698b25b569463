"""The two kinds of blueprint, pages and JSON, alike in what a route must promise."""

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import wraps
from http import HTTPStatus
from typing import Any, NoReturn

import flask_smorest
from flask import Blueprint, Flask, Request, Response, request
from marshmallow import ValidationError, fields
from webargs.flaskparser import FlaskParser

from app.core import strict_json
from app.core.actor import admit
from app.core.db import transact
from app.core.errors import Invalid, UnsupportedContentType
from app.core.permissions import Access, Need, Permission
from app.core.schemas import Schema

View = Callable[..., Any]
Decorator = Callable[[View], View]

READING = frozenset({"GET", "HEAD"})
MAX_DETAILS = 1_000


class ErrorDetail(Schema):
    path = fields.String(metadata={"description": "JSON pointer into the request."})
    message = fields.String(metadata={"description": "What is wrong and how to mend it."})


class Error(Schema):
    id = fields.UUID(metadata={"description": "Also in X-Request-Id and in the server's log."})
    name = fields.String(metadata={"description": "The kind of error."})
    message = fields.String(metadata={"description": "What went wrong."})
    details = fields.List(
        fields.Nested(ErrorDetail), metadata={"description": "Every problem of a 400."}
    )


class Api(flask_smorest.Api):  # type: ignore[misc] # untyped
    """Collects the OpenAPI document; refusals are rendered by ``core/http.py`` alone."""

    ERROR_SCHEMA = Error
    DEFAULT_ERROR_RESPONSE_NAME = None

    def _register_error_handlers(self) -> None:
        """Leave Flask's handlers alone: this one would answer for the pages too."""


class _Routes:
    """A route says who may call it, and is one unit of work.

    ``needs`` has no default: a route without it is a TypeError at import. A ``project_id`` in the
    path makes it the permission in that project.
    """

    def route(
        self, rule: str, *, needs: Need, refuses: tuple[int, ...] = (), **options: Any
    ) -> Decorator:
        register: Decorator = super().route(rule, **options)  # type: ignore[misc] # a mixin

        def declare(view: View) -> View:
            @wraps(view)
            def run(*args: Any, **kwargs: Any) -> Any:
                def once() -> Any:
                    admit(needs, kwargs.get("project_id"))
                    self.check_request()
                    return view(*args, **kwargs)

                return transact(once, writes=request.method not in READING)

            run.needs = needs  # type: ignore[attr-defined] # read by check_every_route_is_guarded
            _document(run, rule, needs, refuses)
            return register(run)

        return declare

    def get(self, rule: str, *, needs: Need, refuses: tuple[int, ...] = ()) -> Decorator:
        return self.route(rule, needs=needs, refuses=refuses, methods=["GET"])

    def post(self, rule: str, *, needs: Need, refuses: tuple[int, ...] = ()) -> Decorator:
        return self.route(rule, needs=needs, refuses=refuses, methods=["POST"])

    def put(self, rule: str, *, needs: Need, refuses: tuple[int, ...] = ()) -> Decorator:
        return self.route(rule, needs=needs, refuses=refuses, methods=["PUT"])

    def delete(self, rule: str, *, needs: Need, refuses: tuple[int, ...] = ()) -> Decorator:
        return self.route(rule, needs=needs, refuses=refuses, methods=["DELETE"])

    def check_request(self) -> None:
        """Refuse what no view of this kind takes; called when the caller is known."""


class _Parser(FlaskParser):
    DEFAULT_VALIDATION_STATUS = 400
    DEFAULT_UNKNOWN_BY_LOCATION: dict[str, str | None] = {}  # noqa: RUF012 - so the schemas decide

    def load_json(self, req: Request, schema: Any) -> dict[str, Any]:  # noqa: ARG002
        if req.mimetype != "application/json":
            raise UnsupportedContentType
        try:
            return strict_json.loads(req.get_data())
        except strict_json.NotStrictJson as error:
            raise Invalid.because([{"path": "", "message": str(error)}]) from None

    def handle_error(self, error: ValidationError, *_: Any, **__: Any) -> NoReturn:
        details = []
        for location, messages in error.messages_dict.items():
            start = "" if location == "json" else "?"
            details += [
                {"path": f"{start}{path if not start else path[1:]}", "message": message}
                for path, message in _flatten(messages)
            ]
        raise Invalid.because(details[:MAX_DETAILS])


class PageBlueprint(_Routes, Blueprint):  # type: ignore[misc] # route() asks for more
    """HTML pages."""


class ApiBlueprint(_Routes, flask_smorest.Blueprint):  # type: ignore[misc] # as above, and untyped
    """JSON under /api; arguments and responses go through marshmallow."""

    ARGUMENTS_PARSER = _Parser()
    speaks_json = True

    def arguments(self, schema: type[Schema], *, location: str = "json") -> Decorator:
        """Load the body, or with ``location="query"`` the address, as the first argument."""
        decorator: Decorator = super().arguments(schema, location=location)
        return decorator

    def response(self, status: int, schema: type[Schema] | None = None) -> Decorator:
        """Dump what the view returns; without a schema it returns a response of its own."""
        decorator: Decorator = super().response(status, schema)
        return decorator

    def check_request(self) -> None:
        has_body = bool(request.content_length) or "Transfer-Encoding" in request.headers
        charset = request.mimetype_params.get("charset", "utf-8").lower()
        if has_body and (request.mimetype != "application/json" or charset != "utf-8"):
            raise UnsupportedContentType


def no_body(status: int = 200) -> Response:
    """An answer of zero bytes, which has no type either."""
    response = Response(status=status)
    del response.headers["Content-Type"]
    return response


def check_every_route_is_guarded(app: Flask) -> None:
    """Refuse to start with a route that does not say who may call it."""
    bare = [
        name
        for name, view in app.view_functions.items()
        if name != "static" and not hasattr(view, "needs")
    ]
    if bare:
        raise RuntimeError(f"No `needs` declared for: {', '.join(sorted(bare))}")


def openapi_document(app: Flask) -> dict[str, Any]:
    """What the routes promise, as OpenAPI 3.1."""
    document: dict[str, Any] = app.extensions["flask-smorest"]["apis"][""]["ext_obj"].spec.to_dict()
    first = ("openapi", "info", "servers", "security", "tags")
    return {key: document[key] for key in first if key in document} | document


def _document(view: View, rule: str, needs: Need, refuses: tuple[int, ...]) -> None:
    """Note in the OpenAPI document what the route can answer beside its success."""
    notes = deepcopy(getattr(view, "_apidoc", {}))
    statuses = {500, 503, *refuses}
    if needs is not Access.PUBLIC:
        statuses |= {401}
    else:
        notes.setdefault("manual_doc", {})["security"] = []
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


def _flatten(messages: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """{"tags": {0: ["No."]}} -> ("/tags/0", "No."), as JSON pointers, at any depth."""
    if not isinstance(messages, dict):
        yield from ((path, str(message)) for message in messages)
        return
    for key, found in messages.items():
        step = str(key).replace("~", "~0").replace("/", "~1")
        yield from _flatten(found, path if key == "_schema" else f"{path}/{step}")
