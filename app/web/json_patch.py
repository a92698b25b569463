"""Requests that change parts of something: JSON Patch (RFC 6902)."""

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import jsonpatch
import jsonpointer
from marshmallow import ValidationError, fields, validate

from app.core.errors import Invalid, problems
from app.web.schemas import Schema, SingleLine

OPERATIONS = ("add", "remove", "replace", "move", "copy", "test")
GROWING = {"add", "replace", "copy"}
MAX_OPERATIONS = 100
MAX_SIZE = 1_000_000
"""Characters of the document and of all that the operations put into it."""


class Operation(Schema):
    op = fields.String(required=True, validate=validate.OneOf(OPERATIONS))
    path = SingleLine(
        low=0, high=500, required=True, metadata={"description": "A JSON pointer into the object."}
    )
    value = fields.Raw(allow_none=True)
    from_ = SingleLine(low=0, high=500, data_key="from")


def patched(
    schema: Schema,
    present: Mapping[str, Any] | list[Any],
    operations: list[dict[str, Any]],
    *,
    kept: Sequence[str] = (),
) -> Any:
    """What to store: ``present``, as a read returns it, after the operations, as loaded.

    ``kept``: fields that no operation may remove.

    Raises:
        Invalid: if an operation can't be applied, or ``schema`` refuses the result.

    """
    if len(operations) > MAX_OPERATIONS:
        raise Invalid.at("", f"Must have at most {MAX_OPERATIONS} operations.")
    wanted: Any = deepcopy(present)
    kind, name = (list, "a list") if isinstance(present, list) else (dict, "an object")
    size = len(json.dumps(present))
    for place, operation in enumerate(operations):
        wanted, more = _applied(operation, wanted, f"/{place}", MAX_SIZE - size)
        size += more
    if not isinstance(wanted, kind):
        raise Invalid.at("", f"The operations must leave {name}.")
    if lost := [name for name in kept if name in present and name not in wanted]:
        raise Invalid.because(
            [{"path": f"/{name}", "message": "This field can't be removed."} for name in lost]
        )
    try:
        return schema.load(wanted)
    except ValidationError as error:
        details = [{"path": path, "message": text} for path, text in problems(error.messages_dict)]
        raise Invalid.because(details) from None


def _applied(operation: dict[str, Any], document: Any, path: str, room: int) -> tuple[Any, int]:
    """The document, changed in place, and the characters that came in. ``room``: for how many.

    Without the limit, a few copies could make it grow without end.
    """
    sent = {"from" if key == "from_" else key: value for key, value in operation.items()}
    try:
        added = sent.get("value")
        if sent["op"] == "copy":
            added = jsonpointer.resolve_pointer(document, sent.get("from", ""))
        size = len(json.dumps(added)) if sent["op"] in GROWING else 0
        if size > room:
            raise Invalid.at(path, "What comes of this operation is too large.")
        return jsonpatch.apply_patch(document, [sent], in_place=True), size
    except jsonpatch.JsonPatchTestFailed:
        raise Invalid.at(path, "The test fails: something else is there.") from None
    except RecursionError:
        raise Invalid.at(path, "What comes of this operation is nested too deeply.") from None
    except (
        jsonpatch.JsonPatchException,
        jsonpointer.JsonPointerException,
        TypeError,
        KeyError,
        ValueError,
    ):
        message = "This operation can't be applied. Check its path, its value and its from."
        raise Invalid.at(path, message) from None
