"""The variants of a strategy, or of all strategies of a feature in an environment."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from marshmallow import ValidationError, fields, post_load, validate, validates_schema

from app.catalogue.constraints.models import MAX_CONSTRAINTS, MAX_VALUES
from app.catalogue.context.models import MAX_VALUE
from app.catalogue.strategies import models
from app.web.schemas import Schema, SingleLine, StrictList, WholeNumber

WEIGHTS = 1_000
PAYLOAD_TYPES = ("string", "number", "json", "csv")
MAX_PAYLOAD = 10_000
MAX_VARIANTS = 100

_percent = re.compile(r"([0-9]{1,3})(?:\.([0-9]))?").fullmatch


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
            except (ValueError, RecursionError) as error:
                raise ValidationError(_not_valid(data["type"], error), "value") from None
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
    stickiness = SingleLine(high=100, metadata={"description": "Without it, that of the strategy."})
    payload = fields.Nested(Payload)

    @post_load
    def _store(self, data: dict[str, Any], **_: Any) -> models.Variant:
        stored = models.Variant(
            name=data["name"],
            weight=data["weight"],
            weightType=data["weight_type"],
            stickiness=data.get("stickiness", models.AS_STRATEGY),
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
    stickiness = SingleLine(high=100, load_default="default")
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
    """Variants with different names, whose weights are completed to 1,000.

    ``keeps_weights``: those that add up to 1,000 stay exactly as they are, because any other
    weights would give people other variants than they had.
    """

    def __init__(
        self, kind: type[Variant] = Variant, *, keeps_weights: bool = False, **kwargs: Any
    ) -> None:
        metadata = {"maxItems": MAX_VARIANTS, "description": "Split those who get the feature."}
        super().__init__(fields.Nested(kind), metadata=metadata, **kwargs)
        self.keeps_weights = keeps_weights

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> list[Any]:
        found = super()._deserialize(value, *args, **kwargs)
        is_complete = sum(variant["weight"] for variant in found) == WEIGHTS
        return _checked(found, completed=self.keeps_weights and is_complete)


class PayloadRow(Schema):
    type = fields.String(metadata={"enum": [*PAYLOAD_TYPES]})
    value = fields.String()


class VariantRow(Schema):
    name = fields.String()
    weight = fields.Integer(metadata={"description": "Of 1,000."})
    weight_type = fields.String(attribute="weightType", metadata={"enum": ["variable", "fix"]})
    stickiness = fields.String()
    payload = fields.Nested(PayloadRow)


class OverrideRow(Schema):
    context_name = fields.String(attribute="contextName")
    values = fields.Function(  # not by name, which every dictionary has for something else
        lambda override: override["values"],
        metadata={"type": "array", "items": {"type": "string"}},
    )


class FeatureVariantRow(VariantRow):
    overrides = fields.List(fields.Nested(OverrideRow))


class VariantList(Schema):
    version = fields.Constant(1)
    variants = fields.List(fields.Nested(FeatureVariantRow))


def thousandths(percent: str) -> int | str:
    """A weight, from what people write in percent; what is no such weight stays as it is."""
    found = _percent(percent.strip() or "0")
    return int(found[1]) * 10 + int(found[2] or 0) if found else percent


def refuse_same_names(found: Sequence[Mapping[str, Any]], message: str) -> None:
    names = [each["name"] for each in found]
    faults: dict[int, Any] = {
        place: {"name": [message]} for place, name in enumerate(names) if name in names[:place]
    }
    if faults:
        raise ValidationError(faults)


def _checked(variants: list[models.Variant], *, completed: bool = False) -> list[models.Variant]:
    """The variants, if they have different names, with weights that add up to 1,000.

    ``completed``: they do so already.
    """
    if len(variants) > MAX_VARIANTS:
        raise ValidationError(f"Must have at most {MAX_VARIANTS} variants.")
    refuse_same_names(variants, "Another variant has this name.")
    return variants if completed else _completed(variants)


def _completed(variants: list[models.Variant]) -> list[models.Variant]:
    """The variants with weights that add up to 1,000: variable ones share what fixed ones leave."""
    if not variants:
        return []
    fixed = sum(variant["weight"] for variant in variants if variant["weightType"] == "fix")
    free = [variant for variant in variants if variant["weightType"] != "fix"]
    if fixed > WEIGHTS or (fixed < WEIGHTS and not free):
        raise ValidationError(
            f"The weights add up to {fixed / 10:g}%. Make them 100%, or let one variant take what "
            "is left."
        )
    if not free:  # SDKs need one, and its share is what the others leave anyway
        variants[-1]["weightType"] = "variable"
        return variants
    share, rest = divmod(WEIGHTS - fixed, len(free))
    for place, variant in enumerate(free):
        variant["weight"] = share + (place < rest)
    return variants


def _not_valid(type: str, error: Exception) -> str:
    """Why a payload can't be read as a number, or as JSON."""
    if type == "number":
        return "Must be a number."
    if not isinstance(error, json.JSONDecodeError):
        return "The payload isn’t valid JSON."
    what = error.msg[0].lower() + error.msg[1:]
    return f"The payload isn’t valid JSON: {what} at line {error.lineno}, character {error.colno}."


def _refuse(constant: str) -> None:
    raise ValueError(constant)
