from marshmallow import fields

from app.core.schemas import Schema
from app.environments.models import EnvironmentType


class EnvironmentRow(Schema):
    name = fields.String()
    type = fields.Enum(EnvironmentType, by_value=True)
    sort_order = fields.Integer()
    deprecated = fields.Boolean()


class EnvironmentList(Schema):
    version = fields.Constant(1)
    environments = fields.List(fields.Nested(EnvironmentRow), attribute="items")
    total = fields.Integer()
