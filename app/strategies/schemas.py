import json
from typing import Any

from marshmallow import ValidationError, fields, post_load, validate, validates_schema

from app.constraints.schemas import ConstraintRow, Constraints
from app.strategies import models, types
from app.strategies.models import MAX_STRATEGIES
from app.strategies.words import summary
from app.web.schemas import Ignored, Schema, SingleLine, StrictBoolean, StrictList, WholeNumber

WEIGHTS = 1_000
PAYLOAD_TYPES = ("string", "number", "json", "csv")
MAX_PAYLOAD = 10_000
MAX_VARIANTS = 100


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


class Payload(Schema):
    type = fields.String(required=True, validate=validate.OneOf(PAYLOAD_TYPES))
    value = fields.String(
        required=True,
        validate=validate.Length(max=MAX_PAYLOAD),
        metadata={"description": "As text, also of a number."},
    )

    @validates_schema
    def _check(self, data: dict[str, Any], **_: Any) -> None:
        if data["type"] in {"json", "number"}:
            try:
                found = json.loads(data["value"], parse_constant=_refuse)
            except (ValueError, RecursionError):
                raise ValidationError(f"Must be {data['type']}.", "value") from None
            is_number = isinstance(found, int | float) and not isinstance(found, bool)
            if data["type"] == "number" and not is_number:
                raise ValidationError("Must be a number.", "value")


class Variant(Schema):
    name = SingleLine(high=100, required=True)
    weight = WholeNumber(
        low=0,
        high=WEIGHTS,
        load_default=0,
        metadata={"description": "Of 1,000. Variants that are variable share what is left."},
    )
    weight_type = fields.String(
        load_default="variable", validate=validate.OneOf(["variable", "fix"])
    )
    stickiness = SingleLine(high=100, load_default="default")
    payload = fields.Nested(Payload)

    @post_load
    def _store(self, data: dict[str, Any], **_: Any) -> models.Variant:
        stored = models.Variant(
            name=data["name"],
            weight=data["weight"],
            weightType=data["weight_type"],
            stickiness=data["stickiness"],
        )
        if "payload" in data:
            stored["payload"] = data["payload"]
        return stored


class Variants(StrictList):
    """Variants with different names, whose weights are completed to 1,000."""

    def __init__(self, **kwargs: Any) -> None:
        metadata = {"maxItems": MAX_VARIANTS, "description": "Split those who get the feature."}
        super().__init__(fields.Nested(Variant), metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> list[Any]:
        if isinstance(value, list) and len(value) > MAX_VARIANTS:
            raise ValidationError(f"Must have at most {MAX_VARIANTS} variants.")
        found: list[models.Variant] = super()._deserialize(value, *args, **kwargs)
        names = [variant["name"] for variant in found]
        faults: dict[int, Any] = {
            place: {"name": ["Another variant has this name."]}
            for place, name in enumerate(names)
            if name in names[:place]
        }
        if faults:
            raise ValidationError(faults)
        return _completed(found)


class _Fields(Schema):
    title = SingleLine(
        low=0, high=255, allow_none=True, metadata={"description": "Shown to people only."}
    )
    disabled = StrictBoolean(metadata={"description": "A disabled strategy never reaches SDKs."})
    sort_order = WholeNumber(
        low=0, high=MAX_STRATEGIES, metadata={"description": "Its place, from 0."}
    )
    parameters = Parameters()
    constraints = Constraints()
    variants = Variants()

    @validates_schema
    def _check_parameters(self, data: dict[str, Any], **_: Any) -> None:
        found = types.problems(data.get("name", ""), data.get("parameters", {}))
        if found:
            raise ValidationError({"parameters": {key: [text] for key, text in found.items()}})


class NewStrategy(_Fields):
    name = fields.String(
        required=True,
        validate=validate.OneOf(list(types.TYPES)),
        metadata={"description": "The type of strategy."},
    )


class StrategyChanges(_Fields):
    """Accepts what a read returns. Without a name the type stays as it is."""

    name = fields.String(validate=validate.OneOf(list(types.TYPES)))
    id = Ignored()
    environment = Ignored()
    summary = Ignored()
    created_at = Ignored()


class PayloadRow(Schema):
    type = fields.String()
    value = fields.String()


class VariantRow(Schema):
    name = fields.String()
    weight = fields.Integer()
    weight_type = fields.String(attribute="weightType")
    stickiness = fields.String()
    payload = fields.Nested(PayloadRow)


class StrategyRow(Schema):
    id = fields.String()
    name = fields.String()
    title = fields.String(allow_none=True)
    disabled = fields.Boolean()
    sort_order = fields.Integer()
    parameters = fields.Dict(keys=fields.String(), values=fields.String())
    constraints = fields.List(fields.Nested(ConstraintRow))
    variants = fields.List(fields.Nested(VariantRow))
    summary = fields.Function(
        summary, metadata={"type": "string", "description": "What it does, in a sentence."}
    )


class StateRow(Schema):
    name = fields.String(metadata={"description": "The environment."})
    type = fields.String(attribute="environment.type")
    sort_order = fields.Integer(attribute="environment.sort_order")
    enabled = fields.Boolean()
    strategies = fields.List(fields.Nested(StrategyRow))


class StrategyOrder(Schema):
    id = fields.String(required=True)
    sort_order = WholeNumber(low=0, high=MAX_STRATEGIES, required=True)


def _completed(variants: list[models.Variant]) -> list[models.Variant]:
    """The variants with weights that add up to 1,000: variable ones share what fixed ones leave."""
    if not variants:
        return []
    fixed = sum(variant["weight"] for variant in variants if variant["weightType"] == "fix")
    free = [variant for variant in variants if variant["weightType"] != "fix"]
    if not free:
        raise ValidationError("At least one variant must be variable.")
    if fixed > WEIGHTS:
        raise ValidationError(f"Fixed weights must add up to at most {WEIGHTS:,}.")
    share, rest = divmod(WEIGHTS - fixed, len(free))
    for place, variant in enumerate(free):
        variant["weight"] = share + (place < rest)
    return variants


def _refuse(constant: str) -> None:
    raise ValueError(constant)
