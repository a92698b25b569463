import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from marshmallow import ValidationError, fields, post_load, validate, validates_schema

from app.constraints.models import MAX_CONSTRAINTS, MAX_VALUES
from app.constraints.schemas import ConstraintRow, Constraints
from app.context.models import MAX_VALUE
from app.core.db import MAX_ID
from app.strategies import models, types
from app.strategies.models import MAX_STRATEGIES
from app.strategies.words import summary
from app.web.schemas import (
    Ignored,
    Key,
    Schema,
    SingleLine,
    StrictBoolean,
    StrictList,
    WholeNumber,
)

WEIGHTS = 1_000
PAYLOAD_TYPES = ("string", "number", "json", "csv")
MAX_PAYLOAD = 10_000
MAX_VARIANTS = 100
MAX_SEGMENTS = 30
MAX_PARAMETERS = 50

_percent = re.compile(r"([0-9]{1,3})(?:\.([0-9]))?").fullmatch


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


class Override(Schema):
    context_name = SingleLine(high=100, required=True)
    values = StrictList(
        SingleLine(high=MAX_VALUE),
        required=True,
        validate=validate.Length(min=1, max=MAX_VALUES),
        metadata={"maxItems": MAX_VALUES},
    )

    @post_load
    def _store(self, data: dict[str, Any], **_: Any) -> models.Override:
        return models.Override(contextName=data["context_name"], values=data["values"])


class FeatureVariant(Variant):
    overrides = StrictList(
        fields.Nested(Override),
        validate=validate.Length(max=MAX_CONSTRAINTS),
        metadata={
            "maxItems": MAX_CONSTRAINTS,
            "description": "People who get this variant in any case.",
        },
    )

    @post_load
    def _store(self, data: dict[str, Any], **_: Any) -> models.FeatureVariant:
        stored = cast(models.FeatureVariant, super()._store(data))
        if data.get("overrides"):
            stored["overrides"] = data["overrides"]
        return stored

    def load(self, data: Any, **kwargs: Any) -> Any:
        """Of a list, check also what must hold for all variants together."""
        found = super().load(data, **kwargs)
        return _checked(found) if isinstance(found, list) else found


class Variants(StrictList):
    """Variants with different names, whose weights are completed to 1,000."""

    def __init__(self, kind: type[Variant] = Variant, **kwargs: Any) -> None:
        metadata = {"maxItems": MAX_VARIANTS, "description": "Split those who get the feature."}
        super().__init__(fields.Nested(kind), metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> list[Any]:
        return _checked(super()._deserialize(value, *args, **kwargs))


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
        low=0, high=255, allow_none=True, metadata={"description": "Shown to people only."}
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
    disabled = StrictBoolean(metadata={"description": "A disabled strategy never reaches SDKs."})
    sort_order = WholeNumber(
        low=0, high=MAX_STRATEGIES, metadata={"description": "Its place, from 0."}
    )


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


class PayloadRow(Schema):
    type = fields.String()
    value = fields.String()


class VariantRow(Schema):
    name = fields.String()
    weight = fields.Integer()
    weight_type = fields.String(attribute="weightType")
    stickiness = fields.String()
    payload = fields.Nested(PayloadRow)


class SegmentId(Schema):
    id = fields.Integer()


class OverrideRow(Schema):
    context_name = fields.String(attribute="contextName")
    values = fields.Function(  # not by name, which every dictionary has for something else
        lambda override: override["values"],
        metadata={"type": "array", "items": {"type": "string"}},
    )


class FeatureVariantRow(VariantRow):
    overrides = fields.List(fields.Nested(OverrideRow))


class DefaultStrategyRow(Schema):
    name = fields.String()
    title = fields.String(allow_none=True)
    parameters = fields.Dict(keys=fields.String(), values=fields.String())
    constraints = fields.List(fields.Nested(ConstraintRow))
    segments = fields.List(fields.Pluck(SegmentId, "id"))
    variants = fields.List(fields.Nested(VariantRow))
    summary = fields.Function(
        summary, metadata={"type": "string", "description": "What it does, in a sentence."}
    )


class StrategyRow(DefaultStrategyRow):
    id = fields.String()
    disabled = fields.Boolean()
    sort_order = fields.Integer()


class StateRow(Schema):
    name = fields.String(metadata={"description": "The environment."})
    type = fields.String(attribute="environment.type")
    sort_order = fields.Integer(attribute="environment.sort_order")
    enabled = fields.Boolean()
    strategies = fields.List(fields.Nested(StrategyRow))
    variants = fields.List(
        fields.Nested(FeatureVariantRow),
        metadata={"description": "Shared by all strategies, as older instances have them."},
    )


class VariantList(Schema):
    version = fields.Constant(1)
    variants = fields.List(fields.Nested(FeatureVariantRow))


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
        _refuse_same_names(found, "Another parameter has this name.")
        return found


class _TypeFields(Schema):
    description = SingleLine(low=0, high=255, allow_none=True)
    parameters = TypeParameters()


class NewStrategyType(_TypeFields):
    name = Key(required=True)


class StrategyTypeChanges(_TypeFields):
    """Accepts what a read returns. The name cannot be changed."""

    name = Ignored()
    display_name = Ignored()
    editable = Ignored()
    deprecated = Ignored()


class StrategyTypeRow(Schema):
    name = fields.String()
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


class StrategyOrder(Schema):
    id = fields.String(required=True)
    sort_order = WholeNumber(low=0, high=MAX_STRATEGIES, required=True)


def thousandths(percent: str) -> int | str:
    """A weight, from what people write in percent; what is no such weight stays as it is."""
    found = _percent(percent.strip() or "0")
    return int(found[1]) * 10 + int(found[2] or 0) if found else percent


def _refuse_same_names(found: Sequence[Mapping[str, Any]], message: str) -> None:
    names = [each["name"] for each in found]
    faults: dict[int, Any] = {
        place: {"name": [message]} for place, name in enumerate(names) if name in names[:place]
    }
    if faults:
        raise ValidationError(faults)


def _checked(variants: list[models.Variant]) -> list[models.Variant]:
    """The variants, if they have different names, with weights that add up to 1,000."""
    if len(variants) > MAX_VARIANTS:
        raise ValidationError(f"Must have at most {MAX_VARIANTS} variants.")
    _refuse_same_names(variants, "Another variant has this name.")
    return _completed(variants)


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
