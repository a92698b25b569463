from marshmallow import fields

from app.environments.models import MAX_ORDER, EnvironmentType
from app.web.schemas import Ignored, Key, Schema, StrictBoolean, WholeNumber


class EnvironmentChanges(Schema):
    """Accepts what a read returns. The name cannot be changed."""

    name = Ignored()
    type = fields.Enum(EnvironmentType, by_value=True)
    sort_order = WholeNumber(low=0, high=MAX_ORDER)
    deprecated = StrictBoolean()


class NewEnvironment(Schema):
    name = Key(required=True)
    type = fields.Enum(EnvironmentType, by_value=True, required=True)
    sort_order = WholeNumber(
        low=0, high=MAX_ORDER, metadata={"description": "Without it, the environment comes last."}
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
