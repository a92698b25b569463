from typing import Any

from flask import current_app, json, render_template

from app.core.openapi import openapi_document
from app.core.pages import PageBlueprint, recognise
from app.core.permissions import Access

bp = PageBlueprint("docs", __name__)


@bp.get("/api/", needs=Access.PUBLIC)
def api() -> str:
    """The description of the API for people: all on one page, made here, without a script."""
    recognise()
    document = openapi_document(current_app)
    areas = [
        (tag, [o for o in _operations(document) if tag["name"] in o["tags"]])
        for tag in document["tags"]
    ]
    return render_template("docs/api.html", document=document, areas=areas)


def _operations(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        operation
        | {
            "method": method.upper(),
            "path": path,
            "fields": _fields(document, operation),
            "example": _example(operation),
        }
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if method != "parameters"
    ]


def _fields(document: dict[str, Any], operation: dict[str, Any]) -> list[dict[str, Any]]:
    """The fields of the body that the operation takes."""
    schema = _body(operation).get("schema", {})
    name = schema.get("$ref", "").rpartition("/")[2]
    if not name:
        return []
    described = document["components"]["schemas"][name]
    required = described.get("required", [])
    return [
        {"name": field, "required": field in required, **rules}
        for field, rules in described.get("properties", {}).items()
        if not rules.get("description", "").startswith("Accepted and ignored")
    ]


def _example(operation: dict[str, Any]) -> str | None:
    example = _body(operation).get("example")
    return json.dumps(example, indent=2) if example is not None else None


def _body(operation: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = operation.get("requestBody", {}).get("content", {})
    body: dict[str, Any] = content.get("application/json", {})
    return body
