"""Fields that only Flagstaff has: in an answer if ``?extended=true`` asks for them.

Clients that were generated from Unleash's document refuse answers with fields that it doesn't have.
"""

from typing import Any, cast

from flask import request
from marshmallow import fields

from app.core.errors import Invalid
from app.web.schemas import Schema

PARAMETER = "extended"

Fields = dict[str, Any]
"""Names of fields: None for one of Flagstaff's, else the ``Fields`` of the objects inside."""


def in_schema(schema: Schema) -> Fields:
    """The fields that ``Schema.extended`` names, here and in the schemas inside."""
    found: Fields = {}
    for field in schema.dump_fields.values():
        key = field.data_key or ""
        inner = field.inner if isinstance(field, fields.List) else field
        if key in schema.extended:
            found[key] = None
        elif isinstance(inner, fields.Nested) and not isinstance(inner, fields.Pluck):
            found |= {key: own} if (own := in_schema(cast(Schema, inner.schema))) else {}
    return found


def are_wanted() -> bool:
    asked = request.args.get(PARAMETER, "false")
    if asked not in {"true", "false"}:
        raise Invalid.at(f"?{PARAMETER}", "Must be true or false.")
    return asked == "true"


def shown(schema: Schema, data: Any) -> Any:
    """What ``schema`` dumped, as the request asks for it."""
    return data if are_wanted() else left_out(data, in_schema(schema))


def left_out(data: Any, own: Fields) -> Any:
    """The data without these fields."""
    if isinstance(data, list):
        return [left_out(each, own) for each in data]
    if not isinstance(data, dict):
        return data
    return {
        key: left_out(value, own[key]) if key in own else value
        for key, value in data.items()
        if key not in own or own[key] is not None
    }
