from marshmallow import fields

from app.core.schemas import Ignored, Key, Schema, Truth, WholeNumber
from app.environments.models import MAX_ORDER, EnvironmentType


class EnvironmentChanges(Schema):
    """Takes what reading an environment gives; its name can't be changed."""

    name = Ignored()
    type = fields.Enum(EnvironmentType, by_value=True)
    sort_order = WholeNumber(
        low=0,
        high=MAX_ORDER,
    )
    deprecated = Truth()


class NewEnvironment(Schema):
    name = Key(required=True)
    type = fields.Enum(EnvironmentType, by_value=True, required=True)
    sort_order = WholeNumber(
        low=0,
        high=MAX_ORDER,
        metadata={"description": "Absent: after all others."},
    )


class EnvironmentRow(Schema):
    name = fields.String()
    type = fields.Enum(EnvironmentType, by_value=True)
    sort_order = fields.Integer()
    deprecated = fields.Boolean()


class EnvironmentList(Schema):
    version = fields.Constant(1)
    environments = fields.List(fields.Nested(EnvironmentRow), attribute="items")
    total = fields.Integer()
