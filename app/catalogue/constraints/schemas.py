from datetime import datetime
from typing import Any

from marshmallow import ValidationError, fields, missing, post_load, validates_schema

from app.catalogue.constraints import models
from app.catalogue.constraints.models import MAX_CONSTRAINTS, MAX_VALUES
from app.catalogue.constraints.operators import Operator, problem
from app.catalogue.context.models import MAX_VALUE
from app.core.clock import in_text
from app.web.schemas import Schema, SingleLine, StrictBoolean, StrictList

MAX_PATTERN = 255


class ConstraintValue(SingleLine):
    """A text, or a number that is kept as its text: SDKs can't read constraints with numbers."""

    def __init__(self, *, high: int = MAX_VALUE, **kwargs: Any) -> None:
        metadata = {"type": ["string", "number"]} | kwargs.pop("metadata", {})
        super().__init__(high=high, metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> str:
        if isinstance(value, int | float) and not isinstance(value, bool):
            value = f"{value:.15f}".rstrip("0").rstrip(".") if isinstance(value, float) else value
            value = str(value)
        return super()._deserialize(value, *args, **kwargs)


class Constraint(Schema):
    """A condition on one context field, in the shape that SDKs read."""

    context_name = SingleLine(
        high=100, required=True, metadata={"description": "A context field that exists."}
    )
    operator = fields.Enum(Operator, by_value=True, required=True)
    values = StrictList(
        ConstraintValue(),
        metadata={
            "maxItems": MAX_VALUES,
            "description": "For IN, NOT_IN, STR_… and IN_CIDR: any of these.",
        },
    )
    value = ConstraintValue(
        low=0,
        high=MAX_PATTERN,
        allow_none=True,
        metadata={"description": "For the other operators: the value to compare with."},
    )
    inverted = StrictBoolean(load_default=False)
    case_insensitive = StrictBoolean(
        load_default=False, metadata={"description": "For STR_… and REGEX."}
    )

    @validates_schema
    def _check(self, data: dict[str, Any], **_: Any) -> None:
        operator: Operator = data["operator"]
        values, value = data.get("values") or [], data.get("value") or ""
        faults = (_faults_of_list if operator.takes_list else _faults_of_one)(
            operator, values, value
        )
        if data["inverted"] and operator is Operator.REGEX:
            faults["inverted"] = ["REGEX cannot be inverted."]
        if data["case_insensitive"] and not operator.can_ignore_case:
            faults["caseInsensitive"] = [f"{operator} cannot ignore case."]
        if faults:
            raise ValidationError(faults)

    @post_load
    def _store(self, data: dict[str, Any], **_: Any) -> models.Constraint:
        operator: Operator = data["operator"]
        stored = models.Constraint(
            contextName=data["context_name"],
            operator=operator.value,
            inverted=data["inverted"],
            caseInsensitive=data["case_insensitive"],
        )
        if operator.takes_list:
            stored["values"] = list(dict.fromkeys(data["values"]))
        elif operator in {Operator.DATE_AFTER, Operator.DATE_BEFORE}:
            # With milliseconds at most: SDKs can't read finer times.
            stored["value"] = in_text(datetime.fromisoformat(data["value"]))
        else:
            stored["value"] = data["value"]
        return stored


class Constraints(StrictList):
    """All of them must hold."""

    def __init__(self, **kwargs: Any) -> None:
        metadata = {"maxItems": MAX_CONSTRAINTS, "description": "All of them must hold."}
        super().__init__(fields.Nested(Constraint), metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> list[Any]:
        if isinstance(value, list) and len(value) > MAX_CONSTRAINTS:
            raise ValidationError(f"Must have at most {MAX_CONSTRAINTS} constraints.")
        return super()._deserialize(value, *args, **kwargs)


class ConstraintRow(Schema):
    context_name = fields.String(attribute="contextName")
    operator = fields.String()
    values = fields.Function(  # not by name, which every dictionary has for something else
        lambda constraint: constraint.get("values", missing),
        metadata={"type": "array", "items": {"type": "string"}},
    )
    value = fields.String()
    inverted = fields.Boolean()
    case_insensitive = fields.Boolean(attribute="caseInsensitive")


def _faults_of_list(operator: Operator, values: list[str], value: str) -> dict[str, Any]:
    faults: dict[str, Any] = {}
    if value:
        faults["value"] = [f"{operator} compares with values, not with a value."]
    wrong = {place: problem(operator, value) for place, value in enumerate(values)}
    if not values:
        faults["values"] = ["Enter at least one value."]
    elif len(dict.fromkeys(values)) > MAX_VALUES:
        faults["values"] = [f"Must have at most {MAX_VALUES} values."]
    elif any(wrong.values()):
        faults["values"] = {place: [message] for place, message in wrong.items() if message}
    return faults


def _faults_of_one(operator: Operator, values: list[str], value: str) -> dict[str, Any]:
    faults: dict[str, Any] = {}
    if values:
        faults["values"] = [f"{operator} compares with a value, not with values."]
    if not value:
        faults["value"] = ["Enter a value."]
    elif message := problem(operator, value):
        faults["value"] = [message]
    return faults
