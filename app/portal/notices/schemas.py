from marshmallow import fields

from app.core.db import MAX_ID
from app.portal.event_log.schemas import EventRow
from app.web.schemas import Schema, WholeNumber


class NoticeRow(Schema):
    event = fields.Nested(EventRow, attribute="act.event")
    count = fields.Integer(
        attribute="act.count",
        metadata={"description": "How many events of this type the act made, the last is `event`."},
    )
    unread = fields.Boolean(attribute="is_unread")


class NoticeList(Schema):
    version = fields.Constant(1)
    notices = fields.List(fields.Nested(NoticeRow))
    unread = fields.Integer(
        metadata={"description": "How many the caller has not read, at most 100."}
    )
    next_before = fields.Integer(
        attribute="older",
        allow_none=True,
        metadata={"description": "Where the next page starts. null on the last page."},
    )


class ReadUpTo(Schema):
    event_id = WholeNumber(
        data_key="upTo",
        required=True,
        low=0,
        high=MAX_ID,
        metadata={"description": "The id of an event: its notice and all before it are read."},
    )
