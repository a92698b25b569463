from typing import Any

from flask import current_app, json, render_template

from app.core.permissions import Access
from app.web.browsers import identify_if_signed_in
from app.web.openapi import openapi_document
from app.web.routes import PageBlueprint

bp = PageBlueprint("docs_pages", __name__)


@bp.get("/api/", needs=Access.PUBLIC)
def api() -> str:
    """Describe the API for people, on one page."""
    identify_if_signed_in()
    document = openapi_document(current_app)
    areas = [
        (tag, [o for o in _operations(document) if tag["name"] in o["tags"]])
        for tag in document["tags"]
    ]
    return render_template("portal/help/api.html", document=document, areas=areas)


def _operations(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        operation
        | {
            "method": method.upper(),
            "path": path,
            **_access(operation["x-needs"]),
            "fields": _fields(document, operation),
            "example": _example(operation),
        }
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if method != "parameters"
    ]


def _access(needs: str) -> dict[str, str]:
    """Which permission the operation needs, or in words who can call it."""
    if needs == Access.PUBLIC.value:
        return {"access": "Needs no token."}
    if needs == Access.SIGNED_IN.value:
        return {"access": "Needs a valid token."}
    return {"permission": needs}


def _fields(document: dict[str, Any], operation: dict[str, Any]) -> list[dict[str, Any]]:
    """The fields of the body that the operation takes."""
    schema = _body(operation).get("schema", {})
    name = schema.get("$ref", "").rpartition("/")[2]
    if not name:
        return []
    described = document["components"]["schemas"][name]
    required = described.get("required", [])
    return [
        {
            "name": field,
            "required": field in required,
            "type": _type(rules),
            "notes": _notes(rules),
        }
        for field, rules in described.get("properties", {}).items()
        if not rules.get("description", "").startswith("Accepted and ignored")
    ]


def _type(rules: dict[str, Any]) -> str:
    types = rules.get("type", "object")
    return types if isinstance(types, str) else " or ".join(types)


def _notes(rules: dict[str, Any]) -> str:
    values = [str(value) for value in rules.get("enum", ()) if value is not None]
    allowed = f"One of {', '.join(values)}." if values else ""
    return f"{rules.get('description', '')} {allowed}".strip()


def _example(operation: dict[str, Any]) -> str | None:
    example = _body(operation).get("example")
    return json.dumps(example, indent=2) if example is not None else None


def _body(operation: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = operation.get("requestBody", {}).get("content", {})
    body: dict[str, Any] = content.get("application/json", {})
    return body
