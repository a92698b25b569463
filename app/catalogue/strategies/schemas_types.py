"""The types of strategies: those that every SDK knows, and those that people create."""

from typing import Any

from marshmallow import ValidationError, fields, validate

from app.catalogue.strategies import types
from app.catalogue.strategies.schemas_variants import refuse_same_names
from app.web.schemas import Ignored, Key, Schema, SingleLine, StrictBoolean, StrictList

MAX_PARAMETERS = 50


class TypeParameter(Schema):
    name = SingleLine(high=100, required=True)
    type = fields.String(load_default="string", validate=validate.OneOf(list(types.CHECKS)))
    description = SingleLine(low=0, high=255, load_default="")
    required = StrictBoolean(load_default=False)


class TypeParameters(StrictList):
    """Parameters with different names."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            fields.Nested(TypeParameter), metadata={"maxItems": MAX_PARAMETERS}, **kwargs
        )

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> list[Any]:
        if isinstance(value, list) and len(value) > MAX_PARAMETERS:
            raise ValidationError(f"Must have at most {MAX_PARAMETERS} parameters.")
        found = super()._deserialize(value, *args, **kwargs)
        refuse_same_names(found, "Another parameter has this name.")
        return found


class _TypeFields(Schema):
    description = SingleLine(low=0, high=255, allow_none=True)
    parameters = TypeParameters()


class _Ignored(Schema):
    """What Unleash's clients send and a read returns, but no request changes."""

    title = Ignored()
    display_name = Ignored()
    editable = Ignored()
    deprecated = Ignored()


class NewStrategyType(_TypeFields):
    name = Key(required=True)


class StrategyTypeRequest(NewStrategyType, _Ignored):
    """Accepts what Unleash’s clients send."""


class StrategyTypeChanges(_TypeFields, _Ignored):
    """Accepts what a read returns. The name cannot be changed."""

    name = Ignored()


class StrategyTypeRow(Schema):
    name = fields.String()
    display_name = fields.Constant(None, metadata={"type": "string"})
    description = fields.String(allow_none=True)
    parameters = fields.List(fields.Nested(TypeParameter))
    deprecated = fields.Boolean()
    editable = fields.Function(
        lambda row: row.name not in types.TYPES,
        metadata={"type": "boolean", "description": "False: a type that every SDK knows."},
    )


class StrategyTypeList(Schema):
    version = fields.Constant(1)
    strategies = fields.List(fields.Nested(StrategyTypeRow))
