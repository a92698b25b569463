from marshmallow import fields

from app.core.schemas import Line, Schema
from app.tags.models import SIMPLE


class TagRef(Schema):
    value = Line(high=50, required=True)
    type = Line(high=50, load_default=SIMPLE, metadata={"default": SIMPLE})


class TagRow(Schema):
    value = fields.String()
    type = fields.String()
    used = fields.Integer(metadata={"description": "Features that carry it."})


class TagList(Schema):
    version = fields.Constant(1)
    tags = fields.List(fields.Nested(TagRow), attribute="items")
    total = fields.Integer()


class TagTypeRow(Schema):
    name = fields.String()
    description = fields.String(allow_none=True)
    hue = fields.Integer(metadata={"description": "The colour's number, 1 to 8."})


class TagTypeList(Schema):
    version = fields.Constant(1)
    tag_types = fields.List(fields.Nested(TagTypeRow), attribute="items")
    total = fields.Integer()
