from marshmallow import fields

from app.portal.saved_filters.models import MAX_NAME
from app.portal.saved_filters.schemas_lists import ListAddress
from app.web.schemas import Schema, SingleLine, Timestamp


class SavedFilterUpdate(Schema):
    name = SingleLine(required=True, low=1, high=MAX_NAME)


class NewSavedFilter(SavedFilterUpdate):
    address = ListAddress(required=True)


class SavedFilterRow(Schema):
    id = fields.Integer()
    name = fields.String()
    address = fields.String(
        metadata={"description": "Of the list with these filters, on this server."}
    )
    short_address = fields.String(
        metadata={"description": "Leads there, for everyone who can sign in."}
    )
    created_at = Timestamp()


class SavedFilterList(Schema):
    version = fields.Constant(1)
    filters = fields.List(fields.Nested(SavedFilterRow))
