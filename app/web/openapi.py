"""The OpenAPI document, made from the declarations of routes, schemas and errors."""

import re
from collections.abc import Callable, Iterable
from copy import deepcopy
from http import HTTPStatus
from threading import Lock
from typing import Any, NamedTuple

import flask_smorest
from flask import Flask
from marshmallow import fields
from werkzeug.routing import Map, Rule

from app.core import errors
from app.core.permissions import Access, Need, Permission
from app.core.words import KEY_PATTERN, camel_case
from app.web.converters import IdConverter, KeyConverter, RefConverter
from app.web.extended import PARAMETER
from app.web.schemas import Schema

DRY_RUN = "DryRun"
"""The name of the header in the OpenAPI document."""

EXTENDED = "Extended"
"""The name of the parameter in the OpenAPI document."""

IN_PATHS = {
    "change": "The id of the change in the change request.",
    "environment": "The name of the environment.",
    "id": "Its id, as the list shows it.",
    "name": "Its name, as the list shows it.",
    "page": "The name of the page.",
    "parent": "The name of the feature that it depends on.",
    "ref": "The id of the token, or the SHA-256 of its secret.",
    "release": "The id of the release.",
    "step": "The id of the step.",
    "strategy": "The id of the strategy.",
    "template": "The id of the template.",
    "value": "The legal value.",
}
"""What parameters of paths mean; others end in ``_id``."""


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
    for path in document["paths"].values():
        for parameter in path.get("parameters", ()):
            name = parameter["name"]
            parameter["description"] = IN_PATHS.get(name) or f"The id of the {name[:-3]}."
    responses = document["components"]["responses"]
    document["components"]["responses"] = {
        name: response | {"description": _meaning(HTTPStatus[name])}
        for name, response in responses.items()
    }
    first = ("openapi", "info", "servers", "security", "tags")
    return {key: document[key] for key in first if key in document} | document


def document(
    view: Callable[..., Any],
    rule: str,
    id: str,
    needs: Need,
    refuses: tuple[int, ...],
    *,
    writes: bool,
) -> None:
    """Add what all routes have to the OpenAPI document: an id, errors and, for writes, a dry run.

    ``id``: words, from which generated clients name a function.
    """
    notes = deepcopy(getattr(view, "_apidoc", {}))
    manual = notes.setdefault("manual_doc", {})
    manual |= {"x-needs": str(needs.value), "operationId": camel_case(re.sub(r"\W+", "_", id))}
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
    if writes:
        statuses |= {400}
        parameters = [*parameters, DRY_RUN]
    if getattr(view, "own_fields", None):
        statuses |= {400}
        parameters = [*parameters, EXTENDED]
    notes.setdefault("arguments", {})["parameters"] = parameters
    responses = notes.setdefault("response", {}).setdefault("responses", {})
    for status in sorted(statuses):
        responses.setdefault(status, [HTTPStatus(status).name])
    view._apidoc = notes  # type: ignore[attr-defined] # noqa: SLF001 - where flask-smorest looks


def _extended(_: Any, field: fields.Field[Any], ret: dict[str, Any], **__: Any) -> dict[str, Any]:
    """Say of Flagstaff's own fields that they have to be asked for."""
    schema = field.parent
    if not isinstance(schema, Schema) or field.data_key not in schema.extended:
        return {}
    about = ret.get("description", "")
    return {"description": f"{about} Only with `extended=true`, where it can be left out.".strip()}


def _meaning(status: HTTPStatus) -> str:
    """``NotFoundError: It does not exist, …``: when each error with this status happens."""
    kinds = [
        kind for kind in errors.all_errors() if kind.status == status and not kind.only_on_pages
    ]
    return " ".join(f"{kind.name}: {kind.when}" for kind in kinds) or status.phrase


class Outside(NamedTuple):
    """Addresses that no blueprint serves. ``paths``: their rules, with the operations of each."""

    tag: str
    description: str
    paths: Callable[[], Iterable[tuple[str, dict[str, Any]]]]


class Api(flask_smorest.Api):  # type: ignore[misc] # untyped
    """Collects the OpenAPI document; ``app/web/refusals.py`` renders refusals."""

    ERROR_SCHEMA = Error
    DEFAULT_ERROR_RESPONSE_NAME = None

    def __init__(self, app: Flask) -> None:
        super().__init__(app)
        self._undescribed: list[flask_smorest.Blueprint] = []
        self._outside: list[Outside] = []
        self._describing = Lock()
        self.spec.components.parameter(
            DRY_RUN,
            "header",
            {
                "name": "X-Dry-Run",
                "schema": {"type": "boolean", "default": False},
                "description": (
                    "true: make every check and answer as if it had been done, but change nothing. "
                    "Ids and secrets in the answer are not valid. The response has this header too."
                ),
            },
        )
        self.spec.components.parameter(
            EXTENDED,
            "query",
            {
                "name": PARAMETER,
                "schema": {"type": "boolean", "default": False},
                "description": (
                    "true: with the fields that only Flagstaff has. Without it, the answer has "
                    "exactly the fields that Unleash’s clients know."
                ),
            },
        )
        self.ma_plugin.converter.add_attribute_function(_extended)
        self.register_converter(KeyConverter, lambda _: {"type": "string", "pattern": KEY_PATTERN})
        self.register_converter(
            RefConverter, lambda _: {"type": "string", "pattern": f"^{RefConverter.regex}$"}
        )
        self.register_converter(IdConverter, lambda _: {"type": "integer", "minimum": 1})

    def register_blueprint(self, bp: flask_smorest.Blueprint) -> None:
        """Serve the blueprint, and describe it when the document is first asked for.

        Describing everything at once took as long as the rest of a start.
        """
        self._app.extensions["flask-smorest"]["blp_name_to_api"][bp.name] = self
        self._app.register_blueprint(bp)
        self._undescribed.append(bp)

    def add(self, outside: Outside) -> None:
        """Describe these addresses too, after those of blueprints."""
        self._outside.append(outside)

    def describe(self) -> dict[str, Any]:
        """The document of all that was registered and added."""
        with self._describing:
            while self._undescribed:
                bp = self._undescribed.pop(0)
                bp.register_views_in_doc(self, self._app, self.spec, name=bp.name, parameters=None)
                self.spec.tag({"name": bp.name, "description": bp.description})
            while self._outside:
                tag, description, paths = self._outside.pop(0)
                self.spec.tag({"name": tag, "description": description})
                for path, operations in paths():
                    rule = Rule(path, defaults={})
                    Map([rule], converters=self._app.url_map.converters)
                    self.spec.path(rule=rule, operations=operations)
        document: dict[str, Any] = self.spec.to_dict()
        return document

    def _register_error_handlers(self) -> None:
        """Register none: they would handle the pages too."""
