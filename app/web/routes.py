"""Routes with permissions and transactions, and the two kinds of blueprint: pages and JSON."""

import re
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any, NoReturn, TypedDict, Unpack

import flask_smorest
from flask import (
    Blueprint,
    Flask,
    Request,
    Response,
    current_app,
    request,
)
from flask_smorest.utils import get_appcontext
from marshmallow import ValidationError
from webargs.flaskparser import FlaskParser

from app.core.actor import Actor
from app.core.db import check_changes, db, transact
from app.core.errors import Invalid, UnsupportedContentType, problems
from app.core.maintenance import service as maintenance
from app.core.permissions import Access, Need, Permission
from app.core.quotas import NOTHING, Quota
from app.web import browsers, extended, idempotency, origins, requests, strict_json
from app.web.current import admit
from app.web.http import SAFE_METHODS, View
from app.web.openapi import document
from app.web.schemas import Schema

Decorator = Callable[[View], View]


class Declared(TypedDict, total=False):
    """What a route that is sent something can say of itself; see ``Routes``."""

    keeps: tuple[Quota, ...]
    refuses: tuple[int, ...]
    even_in_maintenance: bool


class Routes:
    """A route says who may call it and whether it writes, and is one unit of work.

    Neither ``needs`` nor ``writes`` has a default: a route without them is a TypeError at import.
    If the path has a ``project_id``, ``needs`` is checked in that project. ``writes``: for methods
    other than GET and HEAD. ``keeps``: the quotas of what it makes the server keep, which a route
    that sends something and needs no permission has to declare. ``snapshot``: see
    ``unit_of_work``. ``in_steps``: the view itself calls ``transact``, because it does something
    slow between two units of work. ``even_in_maintenance``: of a route that writes, but only what
    goes on in maintenance mode, such as sessions.
    """

    url_prefix: str | None
    name: str

    def screen(self) -> None:
        """Refuse a request that can be refused without a query."""

    def identify(self) -> Actor:
        """The caller. Refuses one who is unknown."""
        raise NotImplementedError

    def route(
        self,
        rule: str,
        *,
        needs: Need,
        writes: bool,
        keeps: tuple[Quota, ...] | None = None,
        snapshot: bool = True,
        refuses: tuple[int, ...] = (),
        in_steps: bool = False,
        even_in_maintenance: bool = False,
        **options: Any,
    ) -> Decorator:
        register: Decorator = super().route(rule, **options)  # type: ignore[misc] # a mixin

        def declare(view: View) -> View:
            @wraps(view)
            def run(*args: Any, **kwargs: Any) -> Any:
                is_change = writes and request.method not in SAFE_METHODS
                self.screen()

                def once() -> Any:
                    if needs is not Access.PUBLIC:
                        admit(self.identify(), needs, kwargs.get("project_id"))
                    if is_change and not even_in_maintenance and not self.is_dry_run():
                        maintenance.refuse_changes()
                    return self.answer(lambda: view(*args, **kwargs), is_change=is_change)

                if in_steps:
                    return once()
                return transact(once, writes=is_change, snapshot=snapshot)

            run.needs, run.writes, run.keeps = needs, writes, keeps  # type: ignore[attr-defined] # read below
            run.is_conditional = HTTPStatus.PRECONDITION_FAILED in refuses  # type: ignore[attr-defined] # as above
            path, id = f"{self.url_prefix or ''}{rule}", f"{self.name} {view.__name__}"
            document(run, path, id, needs, refuses, writes=writes)
            return register(run)

        return declare

    def get(
        self, rule: str, *, needs: Need, refuses: tuple[int, ...] = (), snapshot: bool = True
    ) -> Decorator:
        """A route that reads."""
        return self.route(
            rule, needs=needs, writes=False, snapshot=snapshot, refuses=refuses, methods=["GET"]
        )

    def form(self, rule: str, *, needs: Need, **declared: Unpack[Declared]) -> Decorator:
        """A page that shows a form, and accepts it."""
        return self.route(rule, needs=needs, writes=True, methods=["GET", "POST"], **declared)

    def post(
        self, rule: str, *, needs: Need, writes: bool = True, **declared: Unpack[Declared]
    ) -> Decorator:
        return self.route(rule, needs=needs, writes=writes, methods=["POST"], **declared)

    def put(self, rule: str, *, needs: Need, **declared: Unpack[Declared]) -> Decorator:
        return self.route(rule, needs=needs, writes=True, methods=["PUT"], **declared)

    def patch(self, rule: str, *, needs: Need, **declared: Unpack[Declared]) -> Decorator:
        return self.route(rule, needs=needs, writes=True, methods=["PATCH"], **declared)

    def delete(self, rule: str, *, needs: Need, refuses: tuple[int, ...] = ()) -> Decorator:
        return self.route(
            rule, needs=needs, writes=True, keeps=NOTHING, refuses=refuses, methods=["DELETE"]
        )

    def is_dry_run(self) -> bool:
        """Whether the request asks to see what it would change."""
        return False

    def answer(self, view: Callable[[], Any], *, is_change: bool) -> Any:  # noqa: ARG002 - for subclasses
        """Run the view for a caller who is known and admitted."""
        return view()


class _Parser(FlaskParser):
    DEFAULT_VALIDATION_STATUS = 400
    DEFAULT_UNKNOWN_BY_LOCATION: dict[str, str | None] = {}  # noqa: RUF012 - so the schemas decide

    def load_querystring(self, req: Request, schema: Any) -> Any:
        values = req.args.copy()
        values.pop(extended.PARAMETER, None)
        return self._makeproxy(values, schema)

    def load_json(self, req: Request, schema: Any) -> Any:
        if req.mimetype != "application/json":
            raise UnsupportedContentType
        try:
            many = None if getattr(schema, "one_or_many", False) else schema.many
            return strict_json.loads(req.get_data(), many=many)
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
    answers_json = True

    def identify(self) -> Actor:
        """The caller, by the token in the request, or by the page that sent it."""
        if browsers.is_sent_by_page(request):
            return browsers.identify_page()
        actor: Actor = current_app.extensions["flagstaff.identify"]()
        return actor

    def arguments(
        self,
        schema: type[Schema] | Schema,
        *,
        location: str = "json",
        example: dict[str, Any] | list[dict[str, Any]] | None = None,
    ) -> Decorator:
        """Load the body, or with ``location="query"`` the address, as the first argument.

        ``schema``: an instance for a list that is not in an object.
        """
        # One instance for all requests: making one takes longer than loading a small body.
        made = schema() if isinstance(schema, type) else schema
        loading: Decorator = super().arguments(made, location=location, example=example)
        if location != "query":
            return loading

        def decorate(view: View) -> View:
            load = loading(view)
            load.parameters = {  # type: ignore[attr-defined] # read below
                field.data_key or name for name, field in made.fields.items()
            }
            return load

        return decorate

    def response(
        self,
        status: int,
        schema: type[Schema] | Schema | None = None,
        *,
        etag: bool = False,
        whole: bool = False,
    ) -> Decorator:
        """Dump what the view returns; without a schema, the view returns a response.

        ``schema``: an instance for a list that is not in an object. ``etag``: add one, which
        clients send back as If-Match. ``whole``: Unleash has no such address, so the fields that
        only Flagstaff has are always there.
        """
        made = schema() if isinstance(schema, type) else schema
        dumping: Decorator = super().response(status, made)

        def decorate(view: View) -> View:
            dump = dumping(view)
            if made is not None and not whole and (own := extended.in_schema(made)):
                dump.own_fields = own  # type: ignore[attr-defined] # read below and in openapi.py
            if not isinstance(schema, type) or not etag:
                return dump

            @wraps(dump)
            def tag(*args: Any, **kwargs: Any) -> Response:
                response: Response = dump(*args, **kwargs)
                response.set_etag(requests.etag(schema, get_appcontext()["result_dump"]))
                return response

            return tag

        return decorate

    @staticmethod
    def _prepare_response_content(data: Any) -> Any:
        view = current_app.view_functions[request.endpoint or ""]
        own: extended.Fields | None = getattr(view, "own_fields", None)
        return data if own is None or extended.are_wanted() else extended.left_out(data, own)

    def post(
        self,
        rule: str,
        *,
        needs: Need,
        writes: bool = True,
        snapshot: bool = True,
        answers_with_secret: bool = False,
        **declared: Unpack[Declared],
    ) -> Decorator:
        """``answers_with_secret``: don't store the response for retries of the request.

        ``writes``: False for a query that is too long for an address.
        """
        if writes:
            declared["refuses"] = (409, *declared.get("refuses", ()))
        register = self.route(
            rule, needs=needs, writes=writes, snapshot=snapshot, methods=["POST"], **declared
        )

        def declare(view: View) -> View:
            view.answers_with_secret = answers_with_secret  # type: ignore[attr-defined] # read below
            return register(view)

        return declare

    def is_dry_run(self) -> bool:
        handler = current_app.view_functions[request.endpoint or ""]
        return requests.is_dry_run(getattr(handler, "parameters", ()))

    def answer(self, view: Callable[[], Any], *, is_change: bool) -> Any:
        """Run the view with what a JSON request may ask for: a reason, a dry run, a retry."""
        requests.check_content_type()
        if request.method in SAFE_METHODS:
            return view()
        is_dry_run = self.is_dry_run()
        requests.take_reason()
        if not is_change:
            return view()
        if not is_dry_run:
            browsers.refuse_unproved_change()
        handler = current_app.view_functions[request.endpoint or ""]
        if not getattr(handler, "is_conditional", False):
            requests.refuse_if_match()
        first = requests.claim()
        if first is not None and first.status is not None:
            return idempotency.repeat(first)
        answer = view()
        if is_dry_run:
            check_changes()
            db.session.rollback()
        elif first is not None:
            has_secret = getattr(handler, "answers_with_secret", False)
            idempotency.keep(first, answer, has_secret=has_secret)
        return answer


class PageBlueprint(Routes, Blueprint):  # type: ignore[misc] # route() asks for more
    """HTML pages. A form from another site or an earlier session is not accepted."""

    def screen(self) -> None:
        origins.refuse_foreign_host()
        if request.method not in SAFE_METHODS:
            origins.refuse_foreign_form()
        browsers.refuse_nul()

    def identify(self) -> Actor:
        return browsers.current_browsers().identify()

    def answer(self, view: Callable[[], Any], *, is_change: bool) -> Any:
        if request.method in SAFE_METHODS:
            browsers.load_kept_form()
            return view()
        expired = browsers.refuse_expired_form(is_change=is_change)
        return browsers.confirmed(view) if expired is None else expired


def no_body(status: int = 200) -> Response:
    """An empty response, without a Content-Type."""
    response = Response(status=status)
    del response.headers["Content-Type"]
    return response


def check_every_route_is_guarded(app: Flask) -> None:
    """Refuse to start with a route that does not say who may call it and whether it writes.

    Without a permission, one that is sent something has to say what that makes the server keep.
    """
    views = {name: view for name, view in app.view_functions.items() if name != "static"}
    bare = [name for name, view in views.items() if not hasattr(view, "needs")]
    if bare:
        raise RuntimeError(f"No `needs` and `writes` declared for: {', '.join(sorted(bare))}")
    boundless = {
        rule.endpoint
        for rule in app.url_map.iter_rules()
        if not SAFE_METHODS.issuperset(rule.methods or ())
        and (view := views.get(rule.endpoint))
        and not isinstance(getattr(view, "needs", None), Permission)
        and getattr(view, "keeps", None) is None
    }
    if boundless:
        raise RuntimeError(f"No `keeps` declared for: {', '.join(sorted(boundless))}")


def reading_posts(app: Flask) -> Callable[[str], bool]:
    """Return a function: whether a POST to a path, below the prefix, only reads."""
    rules = [
        re.sub(r"<[^>]*>", "[^/]+", rule.rule)
        for rule in app.url_map.iter_rules()
        if "POST" in (rule.methods or ())
        and not getattr(app.view_functions[rule.endpoint], "writes", True)
    ]
    matches = re.compile("|".join(rules) or "(?!)").fullmatch
    return lambda path: matches(path) is not None
