from marshmallow import fields

from app.web.schemas import KeySet, Schema


class HiddenParts(Schema):
    hidden = KeySet(
        required=True, metadata={"description": "The parts that the caller does not see."}
    )


class PageRow(Schema):
    page = fields.String()
    parts = fields.List(fields.String(), metadata={"description": "Those that can be hidden."})
    hidden = fields.List(
        fields.String(), metadata={"description": "Those that the caller does not see."}
    )


class PageList(Schema):
    version = fields.Constant(1)
    pages = fields.List(fields.Nested(PageRow))
