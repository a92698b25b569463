"""Requests that change parts of something: JSON Patch (RFC 6902)."""

from collections.abc import Mapping
from typing import Any

import jsonpatch
import jsonpointer
from marshmallow import ValidationError, fields, validate

from app.core.errors import Invalid, problems
from app.web.schemas import Schema, SingleLine

OPERATIONS = ("add", "remove", "replace", "move", "copy", "test")
MAX_OPERATIONS = 100


class Operation(Schema):
    op = fields.String(required=True, validate=validate.OneOf(OPERATIONS))
    path = SingleLine(
        low=0, high=500, required=True, metadata={"description": "A JSON pointer into the object."}
    )
    value = fields.Raw(allow_none=True)
    from_ = SingleLine(low=0, high=500, data_key="from")


def patched(
    schema: Schema, present: Mapping[str, Any], operations: list[dict[str, Any]]
) -> dict[str, Any]:
    """The fields to store: of ``present``, as a read returns it, after the operations.

    Raises:
        Invalid: when an operation can't be applied, or ``schema`` refuses what comes of it.

    """
    if len(operations) > MAX_OPERATIONS:
        raise Invalid.at("", f"Must have at most {MAX_OPERATIONS} operations.")
    sent = [{key.rstrip("_"): value for key, value in each.items()} for each in operations]
    try:
        wanted = jsonpatch.apply_patch(dict(present), sent)
    except (
        jsonpatch.JsonPatchException,
        jsonpointer.JsonPointerException,
        TypeError,
        KeyError,
    ) as error:
        raise Invalid.at("", f"The patch cannot be applied: {error}") from None
    try:
        found: dict[str, Any] = schema.load(wanted)
    except ValidationError as error:
        details = [{"path": path, "message": text} for path, text in problems(error.messages_dict)]
        raise Invalid.because(details) from None
    return found
