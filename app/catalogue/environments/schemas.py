from typing import Any

from marshmallow import INCLUDE, ValidationError, fields, validates_schema

from app.catalogue.environments.models import MAX_ORDER, EnvironmentType
from app.web.schemas import Ignored, Key, Schema, StrictBoolean, WholeNumber


class EnvironmentChanges(Schema):
    """Accepts what a read returns. The name cannot be changed."""

    name = Ignored()
    enabled = Ignored()
    protected = Ignored()
    type = fields.Enum(EnvironmentType, by_value=True)
    sort_order = WholeNumber(low=0, high=MAX_ORDER)
    deprecated = StrictBoolean()


class _EnvironmentName(Key):
    default_error_messages = {  # noqa: RUF012 - marshmallow's own way to set it
        "dot": "Use no dot: SDKs read the environment out of their token, up to the first dot."
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(metadata={"pattern": r"^[A-Za-z0-9_~-]+$"}, **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> str:
        name = super()._deserialize(value, *args, **kwargs)
        if "." in name:
            raise self.make_error("dot")
        return name


class NewEnvironment(Schema):
    name = _EnvironmentName(required=True)
    type = fields.Enum(EnvironmentType, by_value=True, required=True)
    sort_order = WholeNumber(
        low=0, high=MAX_ORDER, metadata={"description": "Without it, the environment comes last."}
    )


class SortOrder(Schema):
    """Places by the names of environments."""

    class Meta:
        unknown = INCLUDE

    @validates_schema
    def _check(self, data: dict[str, Any], **_: Any) -> None:
        place, faults = WholeNumber(low=0, high=MAX_ORDER), {}
        for name, value in data.items():
            try:
                place.deserialize(value)
            except ValidationError as error:
                faults[name] = error.messages
        if faults:
            raise ValidationError(faults)


class EnvironmentRow(Schema):
    extended = frozenset({"deprecated"})

    name = fields.String()
    type = fields.Enum(EnvironmentType, by_value=True)
    enabled = fields.Function(
        lambda row: not row.deprecated,
        metadata={"type": "boolean", "description": "Not deprecated: new projects use it."},
    )
    protected = fields.Constant(constant=False)
    sort_order = fields.Integer()
    deprecated = fields.Boolean()


class EnvironmentList(Schema):
    extended = frozenset({"total"})

    version = fields.Constant(1)
    environments = fields.List(fields.Nested(EnvironmentRow), attribute="items")
    total = fields.Integer()
