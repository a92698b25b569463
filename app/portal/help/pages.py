from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from typing import Any

import flask_swagger_ui
from flask import (
    Response,
    current_app,
    json,
    render_template,
    request,
    send_from_directory,
    url_for,
)
from flask.typing import ResponseReturnValue

from app.core.permissions import Access
from app.core.quotas import NOTHING
from app.web.assets import YEAR
from app.web.browsers import (
    ADMIN_API,
    CONFIRMATION_VALID,
    identify_if_signed_in,
    must_prove,
    require_password,
)
from app.web.current import current_actor
from app.web.openapi import openapi_document
from app.web.redirects import redirect_to
from app.web.routes import PageBlueprint

bp = PageBlueprint("docs_pages", __name__)

SWAGGER_UI = Path(flask_swagger_ui.__file__).parent / "dist"

Described = dict[str, Any]
"""A part of the OpenAPI document, or what the page shows of one."""


@bp.get("/api/", needs=Access.PUBLIC)
def api() -> str:
    """Describe the API for people, on one page."""
    identify_if_signed_in()
    document = openapi_document(current_app)
    operations = _operations(document)
    areas = [
        (tag, [each for each in operations if tag["name"] in each["tags"]])
        for tag in document["tags"]
    ]
    return render_template(
        "portal/help/api.html",
        document=document,
        areas=areas,
        objects=_objects(document, operations),
        refusals=_refusals(document),
    )


@bp.form("/api/try", needs=Access.SIGNED_IN, keeps=NOTHING, even_in_maintenance=True)
def try_api() -> ResponseReturnValue:
    """Send requests to the API from a page; the form confirms who changes something with them."""
    if request.method == "POST":
        require_password("change something with requests from this page")
        return redirect_to("docs_pages.try_api")
    at = current_actor.proved_at
    return render_template(
        "portal/help/try_api.html",
        trail=[("The API", url_for("docs_pages.api"))],
        must_prove=must_prove(current_actor),
        until=at and at + CONFIRMATION_VALID,
        version=version("flask-swagger-ui"),
    )


@bp.get("/api/try/swagger-ui.css", needs=Access.PUBLIC)
def swagger_css() -> Response:
    """The style sheet of Swagger UI."""
    return _file_of_swagger("swagger-ui.css")


@bp.get("/api/try/swagger-ui-bundle.js", needs=Access.PUBLIC)
def swagger_script() -> Response:
    """The script of Swagger UI."""
    return _file_of_swagger("swagger-ui-bundle.js")


def _file_of_swagger(name: str) -> Response:
    answer = send_from_directory(SWAGGER_UI, name, max_age=YEAR)
    answer.cache_control.public = answer.cache_control.immutable = True
    return answer


def _operations(document: Described) -> list[Described]:
    return [
        operation
        | {
            "method": method.upper(),
            "path": path,
            "id": operation["operationId"] if path.startswith(ADMIN_API) else None,
            **_access(operation["x-needs"]),
            "parameters": _parameters(operations, operation),
            "body": _rows(document, _content(operation.get("requestBody", {})).get("schema", {})),
            "example": _example(operation),
            "answers": _answers(operation),
            "refusals": [s for s, answer in operation["responses"].items() if "$ref" in answer],
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
    if "token" in needs:
        return {"access": f"Needs {needs}."}
    return {"permission": needs}


def _parameters(shared: Described, operation: Described) -> list[Described]:
    """What the operation takes in its path and its query."""
    given = [*shared.get("parameters", ()), *operation.get("parameters", ())]
    return [
        {
            "name": parameter["name"],
            "place": parameter["in"],
            "required": parameter.get("required", False),
            **_type(parameter["schema"]),
            "notes": _notes(parameter["schema"] | parameter),
        }
        for parameter in given
        if "$ref" not in parameter  # the page describes those once
    ]


def _answers(operation: Described) -> list[Described]:
    """What the operation answers if it succeeds."""
    return [
        {
            "status": status,
            "phrase": HTTPStatus(int(status)).phrase,
            **_type(_content(answer).get("schema")),
        }
        for status, answer in operation["responses"].items()
        if "$ref" not in answer
    ]


def _refusals(document: Described) -> list[Described]:
    """Each status of a refusal with what it means."""
    responses = document["components"]["responses"]
    return sorted(
        (
            {"status": HTTPStatus[name].value, "phrase": HTTPStatus[name].phrase, **response}
            for name, response in responses.items()
        ),
        key=lambda refusal: refusal["status"],
    )


def _objects(document: Described, operations: list[Described]) -> list[Described]:
    """All objects in answers and in fields, with theirs."""
    waiting = [answer["object"] for each in operations for answer in each["answers"]]
    waiting += [field["object"] for each in operations for field in each["body"]]
    found: dict[str, list[Described]] = {}
    while waiting:
        name = waiting.pop()
        if name is not None and name not in found:
            found[name] = _rows(document, {"$ref": f"#/components/schemas/{name}"})
            waiting += [field["object"] for field in found[name]]
    return [{"name": name, "fields": found[name]} for name in sorted(found)]


def _rows(document: Described, schema: Described) -> list[Described]:
    """The fields of an object, or of those in a list."""
    name = _name(schema.get("items", schema))
    if not name:
        return []
    described = document["components"]["schemas"][name]
    required = described.get("required", [])
    return [
        {"name": field, "required": field in required, **_type(rules), "notes": _notes(rules)}
        for field, rules in described.get("properties", {}).items()
        if not rules.get("description", "").startswith("Accepted and ignored")
    ]


def _type(schema: Described | None) -> Described:
    """``type``: in words. ``object``: the name of the object that it is, or is made of."""
    if schema is None:
        return {"type": "nothing", "object": None}
    if "items" in schema:
        inner = _type(schema["items"])
        return inner | {"type": f"list of {inner['type']}".removesuffix(" of any")}
    for kind in ("anyOf", "allOf", "oneOf"):
        if kind in schema:
            return _type(schema[kind][0])
    if "$ref" in schema:
        return {"type": "object", "object": _name(schema)}
    types = schema.get("type", "string" if "enum" in schema else "any")
    words = types if isinstance(types, str) else " or ".join(types)
    return {"type": schema.get("format", words), "object": None}


def _notes(rules: Described) -> str:
    values = [str(value) for value in rules.get("enum", ()) if value is not None]
    allowed = f"One of {', '.join(values)}." if values else ""
    default = rules.get("default")
    usual = f"Default: {json.dumps(default)}." if default not in (None, "") else ""
    return " ".join(filter(None, (rules.get("description"), allowed, usual)))


def _example(operation: Described) -> str | None:
    example = _content(operation.get("requestBody", {})).get("example")
    return json.dumps(example, indent=2) if example is not None else None


def _content(message: Described) -> Described:
    """The JSON of a request or an answer."""
    content: Described = message.get("content", {}).get("application/json", {})
    return content


def _name(reference: Described) -> str:
    """``Project``, of ``{"$ref": "#/components/schemas/Project"}``."""
    name: str = reference.get("$ref", "").rpartition("/")[2]
    return name
