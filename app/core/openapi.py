"""The OpenAPI document, which the routes' own promises make."""

from collections.abc import Callable
from copy import deepcopy
from http import HTTPStatus
from typing import Any

from flask import Flask
from marshmallow import fields

from app.core.permissions import Access, Need, Permission
from app.core.schemas import Schema


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


def openapi_document(app: Flask) -> dict[str, Any]:
    """What the routes promise, as OpenAPI 3.1."""
    document: dict[str, Any] = app.extensions["flask-smorest"]["apis"][""]["ext_obj"].spec.to_dict()
    first = ("openapi", "info", "servers", "security", "tags")
    return {key: document[key] for key in first if key in document} | document


def document(view: Callable[..., Any], rule: str, needs: Need, refuses: tuple[int, ...]) -> None:
    """Note in the OpenAPI document what the route can answer beside its success."""
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
