from typing import Any

from marshmallow import ValidationError, fields, post_load, validates_schema

from app.catalogue.constraints.schemas import ConstraintRow, Constraints
from app.catalogue.strategies import types
from app.catalogue.strategies.models import MAX_STRATEGIES
from app.catalogue.strategies.schemas_variants import FeatureVariantRow, VariantRow, Variants
from app.catalogue.strategies.words import summary
from app.core.db import MAX_ID
from app.web.schemas import (
    Ignored,
    Schema,
    SingleLine,
    StrictBoolean,
    StrictList,
    Timestamp,
    WholeNumber,
)

MAX_SEGMENTS = 30


class Parameters(fields.Field[dict[str, str]]):
    """Texts by name. Numbers are kept as their text: SDKs can read nothing else."""

    default_error_messages = {  # noqa: RUF012 - marshmallow's own way to set it
        "invalid": "Must be an object.",
        "text": "Must be a text or a number.",
    }

    def __init__(self, **kwargs: Any) -> None:
        metadata = {
            "type": "object",
            "additionalProperties": {"type": ["string", "number"]},
            "description": "What the type of strategy needs, such as rollout and stickiness.",
        }
        super().__init__(metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> dict[str, str]:
        if not isinstance(value, dict):
            raise self.make_error("invalid")
        wrong = {
            name: [self.error_messages["text"]]
            for name, each in value.items()
            if isinstance(each, bool) or not isinstance(each, str | int | float)
        }
        if wrong:
            raise ValidationError(wrong)
        return {name: str(each).strip() for name, each in value.items()}


class Segments(StrictList):
    """The ids of segments, each once."""

    def __init__(self, **kwargs: Any) -> None:
        metadata = {
            "maxItems": MAX_SEGMENTS,
            "uniqueItems": True,
            "description": "Ids of segments. A person has to be in all of them.",
        }
        super().__init__(WholeNumber(low=1, high=MAX_ID), metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> list[Any]:
        if isinstance(value, list) and len(value) > MAX_SEGMENTS:
            raise ValidationError(f"Must have at most {MAX_SEGMENTS} segments.")
        return list(dict.fromkeys(super()._deserialize(value, *args, **kwargs)))


class _Contents(Schema):
    title = SingleLine(
        low=0, high=255, allow_none=True, metadata={"description": "Only shown in Flagstaff."}
    )
    parameters = Parameters()
    constraints = Constraints()
    segments = Segments()
    variants = Variants()

    @validates_schema
    def _check_parameters(self, data: dict[str, Any], **_: Any) -> None:
        name = data.get("name", "")
        known = types.TYPES.get(name)
        if known is None:
            return  # what a custom type takes, the service knows
        if found := types.problems(name, known, data.get("parameters", {})):
            raise ValidationError({"parameters": {key: [text] for key, text in found.items()}})


class _Fields(_Contents):
    disabled = StrictBoolean(
        allow_none=True,
        metadata={"description": "A disabled strategy never reaches SDKs. Null: false."},
    )
    sort_order = WholeNumber(
        low=0, high=MAX_STRATEGIES, metadata={"description": "Its place, from 0."}
    )

    @post_load
    def _read_null(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        return data | {"disabled": bool(data["disabled"])} if "disabled" in data else data


class DefaultStrategy(_Contents):
    """Accepts what a read returns, and what Unleash's clients send."""

    name = SingleLine(high=100, metadata={"description": "The type of strategy."})
    summary = Ignored()
    id = Ignored()
    disabled = Ignored()
    sort_order = Ignored()


class NewStrategy(_Fields):
    name = SingleLine(high=100, required=True, metadata={"description": "The type of strategy."})


class StrategyChanges(_Fields):
    """Accepts what a read returns. Without a name the type stays as it is."""

    name = SingleLine(high=100)
    id = Ignored()
    environment = Ignored()
    summary = Ignored()
    created_at = Ignored()


class SegmentId(Schema):
    id = fields.Integer()


class StrategyRow(Schema):
    extended = frozenset({"summary"})

    id = fields.String()
    name = fields.String()
    title = fields.String(allow_none=True)
    disabled = fields.Boolean()
    sort_order = fields.Integer()
    parameters = fields.Dict(keys=fields.String(), values=fields.String())
    constraints = fields.List(fields.Nested(ConstraintRow))
    segments = fields.List(fields.Pluck(SegmentId, "id"))
    variants = fields.List(fields.Nested(VariantRow))
    summary = fields.Function(
        summary, metadata={"type": "string", "description": "What it does, in a sentence."}
    )


class DefaultStrategyRow(StrategyRow):
    class Meta:
        exclude = ("id", "disabled", "sort_order")


class StateRow(Schema):
    name = fields.String(metadata={"description": "The environment."})
    type = fields.String(attribute="environment.type")
    enabled = fields.Boolean()
    sort_order = fields.Integer(attribute="environment.sort_order")
    last_seen_at = Timestamp(
        allow_none=True,
        attribute="use.last_seen_at",
        metadata={"description": "When an application last checked the feature here."},
    )
    strategies = fields.List(fields.Nested(StrategyRow))
    variants = fields.List(
        fields.Nested(FeatureVariantRow),
        metadata={"description": "Shared by all strategies, as older instances have them."},
    )
    variant_count = fields.Integer()
    has_strategies = fields.Function(
        lambda state: bool(state.strategies), metadata={"type": "boolean"}
    )
    has_enabled_strategies = fields.Boolean(attribute="has_active_strategies")
    yes = fields.Integer(
        attribute="use.yes",
        metadata={"description": "How often applications got “on” in this hour and the last one."},
    )
    no = fields.Integer(attribute="use.no", metadata={"description": "How often “off”."})


class ListedState(StateRow):
    """What a list of features says of each environment."""

    extended = frozenset({"strategies", "variants", "yes", "no"})


class FeatureState(StateRow):
    """The state of one feature in one environment."""

    name = fields.String(attribute="feature_name", dump_only=True)
    feature_name = fields.String()
    environment = fields.String(attribute="name")


class StrategyOrder(Schema):
    id = fields.String(required=True)
    sort_order = WholeNumber(low=0, high=MAX_STRATEGIES, required=True)
