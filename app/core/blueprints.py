"""What every route promises, and the blueprints of the JSON API; those of pages: core/pages.py."""

from collections.abc import Callable
from functools import wraps
from typing import Any, NoReturn

import flask_smorest
from flask import Flask, Request, Response, current_app, request
from flask_smorest.utils import get_appcontext
from marshmallow import ValidationError
from webargs.flaskparser import FlaskParser

from app.core import idempotency, requests, strict_json
from app.core.actor import Actor, admit
from app.core.db import db, transact
from app.core.errors import Invalid, UnsupportedContentType, problems
from app.core.http import IdConverter, KeyConverter
from app.core.openapi import Error, document
from app.core.permissions import Access, Need
from app.core.schemas import KEY_PATTERN, Schema

View = Callable[..., Any]
Decorator = Callable[[View], View]

READING = frozenset({"GET", "HEAD"})


class Api(flask_smorest.Api):  # type: ignore[misc] # untyped
    """Collects the OpenAPI document; refusals are rendered by ``core/http.py`` alone."""

    ERROR_SCHEMA = Error
    DEFAULT_ERROR_RESPONSE_NAME = None

    def __init__(self, app: Flask) -> None:
        super().__init__(app)
        self.register_converter(KeyConverter, lambda _: {"type": "string", "pattern": KEY_PATTERN})
        self.register_converter(IdConverter, lambda _: {"type": "integer", "minimum": 1})

    def _register_error_handlers(self) -> None:
        """Leave Flask's handlers alone: this one would answer for the pages too."""


class Routes:
    """A route says who may call it, and is one unit of work.

    ``needs`` has no default: a route without it is a TypeError at import. A ``project_id`` in the
    path makes it the permission in that project. ``in_steps``: the view itself calls ``transact``,
    since it does what takes long between two of its units of work.
    """

    url_prefix: str | None

    def identify(self) -> Actor:
        """Who calls; a refusal if nobody who is known."""
        raise NotImplementedError

    def route(
        self,
        rule: str,
        *,
        needs: Need,
        refuses: tuple[int, ...] = (),
        in_steps: bool = False,
        **options: Any,
    ) -> Decorator:
        register: Decorator = super().route(rule, **options)  # type: ignore[misc] # a mixin

        def declare(view: View) -> View:
            @wraps(view)
            def run(*args: Any, **kwargs: Any) -> Any:
                def once() -> Any:
                    if needs is not Access.PUBLIC:
                        admit(self.identify(), needs, kwargs.get("project_id"))
                    return self.answer(lambda: view(*args, **kwargs))

                if in_steps:
                    return once()
                return transact(once, writes=request.method not in READING)

            run.needs = needs  # type: ignore[attr-defined] # read by check_every_route_is_guarded
            document(run, f"{self.url_prefix or ''}{rule}", needs, refuses)
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

    def answer(self, view: Callable[[], Any]) -> Any:
        """Run the view for a caller who is known and admitted."""
        return view()


class _Parser(FlaskParser):
    DEFAULT_VALIDATION_STATUS = 400
    DEFAULT_UNKNOWN_BY_LOCATION: dict[str, str | None] = {}  # noqa: RUF012 - so the schemas decide

    def load_json(self, req: Request, schema: Any) -> dict[str, Any]:  # noqa: ARG002 - webargs asks for it
        if req.mimetype != "application/json":
            raise UnsupportedContentType
        try:
            return strict_json.loads(req.get_data())
        except strict_json.NotStrictJson as error:
            raise Invalid.at("", str(error)) from None

    def handle_error(self, error: ValidationError, *_: Any, **__: Any) -> NoReturn:
        details = []
        for location, messages in error.messages_dict.items():
            for path, message in problems(messages):
                place = path if location == "json" else f"?{path[1:]}"
                details.append({"path": place, "message": message})
        raise Invalid.because(details)


class ApiBlueprint(Routes, flask_smorest.Blueprint):  # type: ignore[misc] # route() asks for more
    """JSON under /api; arguments and responses go through marshmallow."""

    ARGUMENTS_PARSER = _Parser()
    speaks_json = True

    def identify(self) -> Actor:
        """Who calls, by the token that came along; ``app/auth`` knows it."""
        actor: Actor = current_app.extensions["flagstaff.identify"]()
        return actor

    def arguments(
        self,
        schema: type[Schema],
        *,
        location: str = "json",
        example: dict[str, Any] | None = None,
    ) -> Decorator:
        """Load the body, or with ``location="query"`` the address, as the first argument."""
        # One instance for all requests: to make one takes longer than to load a small body.
        decorator: Decorator = super().arguments(schema(), location=location, example=example)
        return decorator

    def response(
        self, status: int, schema: type[Schema] | None = None, *, etag: bool = False
    ) -> Decorator:
        """Dump what the view returns; without a schema it returns a response of its own.

        ``etag``: the answer carries one, to be sent back as If-Match.
        """
        dumping: Decorator = super().response(status, schema)

        def decorate(view: View) -> View:
            dump = dumping(view)
            if schema is None or not etag:
                return dump

            @wraps(dump)
            def tag(*args: Any, **kwargs: Any) -> Response:
                response: Response = dump(*args, **kwargs)
                response.set_etag(requests.etag(schema, get_appcontext()["result_dump"]))
                return response

            return tag

        return decorate

    def post(
        self,
        rule: str,
        *,
        needs: Need,
        refuses: tuple[int, ...] = (),
        answers_with_secret: bool = False,
    ) -> Decorator:
        """``answers_with_secret``: the answer is not kept for a repetition of the request."""
        register = self.route(rule, needs=needs, refuses=(409, *refuses), methods=["POST"])

        def declare(view: View) -> View:
            view.answers_with_secret = answers_with_secret  # type: ignore[attr-defined] # read below
            return register(view)

        return declare

    def answer(self, view: Callable[[], Any]) -> Any:
        """Add what every JSON request may ask for: a reason, a rehearsal, a repetition."""
        requests.check_content_type()
        if request.method in READING:
            return view()
        rehearsal = requests.is_rehearsal()
        requests.take_reason()
        first = requests.claim()
        if first is not None and first.status is not None:
            return idempotency.repeat(first)
        answer = view()
        if rehearsal:
            db.session.rollback()
        elif first is not None:
            handler = current_app.view_functions[request.endpoint or ""]
            has_secret = getattr(handler, "answers_with_secret", False)
            idempotency.keep(first, answer, has_secret=has_secret)
        return answer


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
