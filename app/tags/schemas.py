from marshmallow import fields, validate

from app.core.paging import PageQuery, Sort
from app.core.schemas import Ignored, Line, QueryTruth, Schema, WholeNumber
from app.tags.models import HUES, SIMPLE


class TagRef(Schema):
    value = Line(high=50, required=True)
    type = Line(high=50, load_default=SIMPLE, metadata={"default": SIMPLE})


class TagQuery(PageQuery):
    sort = Sort("type", "value", "used")
    text = Line(high=100, metadata={"description": "Part of the value."})
    type = Line(high=50, metadata={"description": "Only tags of this type."})
    unused = QueryTruth(metadata={"description": "Only those on no feature, or the rest."})


class TagRow(Schema):
    value = fields.String()
    type = fields.String()
    used = fields.Integer(metadata={"description": "Features that carry it."})


class TagList(Schema):
    version = fields.Constant(1)
    tags = fields.List(fields.Nested(TagRow), attribute="items")
    total = fields.Integer()


class TagTypeChanges(Schema):
    description = Line(low=0, high=255, allow_none=True)
    hue = WholeNumber(
        low=1,
        high=HUES,
        metadata={"description": "The number of its colour."},
    )


class NewTagType(TagTypeChanges):
    name = fields.String(
        required=True,
        validate=validate.Regexp(
            r"[a-z0-9][a-z0-9_-]{0,49}\Z",
            error="Use 1 to 50 of a-z 0-9 _ - and begin with a letter or digit.",
        ),
        metadata={"pattern": "^[a-z0-9][a-z0-9_-]{0,49}$"},
    )


class TagTypeUpdate(TagTypeChanges):
    """Takes what reading a tag type gives; its name can't be changed."""

    name = Ignored()


class TagTypeRow(Schema):
    name = fields.String()
    description = fields.String(allow_none=True)
    hue = fields.Integer(metadata={"description": "The colour's number, 1 to 8."})


class TagTypeList(Schema):
    version = fields.Constant(1)
    tag_types = fields.List(fields.Nested(TagTypeRow), attribute="items")
    total = fields.Integer()
