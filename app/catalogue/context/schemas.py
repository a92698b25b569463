from typing import Any

from marshmallow import ValidationError, fields, post_load

from app.catalogue.context.models import MAX_LEGAL_VALUES, MAX_ORDER, MAX_VALUE
from app.web.schemas import (
    Ignored,
    Key,
    OrEmpty,
    Schema,
    SingleLine,
    StrictBoolean,
    StrictList,
    Timestamp,
    WholeNumber,
)


class NewLegalValue(Schema):
    value = SingleLine(high=MAX_VALUE, required=True)
    description = SingleLine(low=0, high=MAX_VALUE, allow_none=True, load_default=None)

    @post_load
    def _forget_empty(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        return data | {"description": data["description"] or None}


class LegalValues(StrictList):
    """Values that differ, each with what it means."""

    default_error_messages = {  # noqa: RUF012 - marshmallow's own way to set it
        "many": f"Must have at most {MAX_LEGAL_VALUES} values.",
        "twice": "Is in the list twice.",
    }

    def __init__(self, **kwargs: Any) -> None:
        metadata = {
            "maxItems": MAX_LEGAL_VALUES,
            "uniqueItems": True,
            "description": "The only values that the field may have. Empty: any value will do.",
        }
        super().__init__(fields.Nested(NewLegalValue), metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> list[Any]:
        found = super()._deserialize(value, *args, **kwargs)
        if len(found) > MAX_LEGAL_VALUES:
            raise self.make_error("many")
        seen: set[str] = set()
        faults: dict[int, Any] = {}
        for place, legal in enumerate(found):
            if legal["value"] in seen:
                faults[place] = {"value": [self.error_messages["twice"]]}
            seen.add(legal["value"])
        if faults:
            raise ValidationError(faults)
        return found


class _Fields(Schema):
    project = Ignored()
    description = SingleLine(low=0, high=255, allow_none=True)
    stickiness = StrictBoolean(
        metadata={"description": "Whether rollouts can keep the answer the same by this field."}
    )
    sort_order = WholeNumber(low=0, high=MAX_ORDER)
    legal_values = LegalValues()


class ContextFieldName(Schema):
    name = Key(required=True)


class NewContextField(_Fields):
    name = Key(required=True)


class ContextFieldChanges(_Fields):
    """Accepts what a read returns. The name cannot be changed."""

    name = Ignored()
    created_at = Ignored()


class LegalValueRow(Schema):
    value = fields.String()
    description = OrEmpty()


class ContextFieldRow(Schema):
    name = fields.String()
    description = fields.String(allow_none=True)
    stickiness = fields.Boolean()
    sort_order = fields.Integer()
    legal_values = fields.List(fields.Nested(LegalValueRow))
    created_at = Timestamp()
