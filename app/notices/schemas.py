from marshmallow import fields

from app.core.db import MAX_ID
from app.event_log.schemas import EventRow
from app.web.listing import DEFAULT_LIMIT, MAX_LIMIT
from app.web.schemas import QueryNumber, Schema, WholeNumber


class NoticeQuery(Schema):
    limit = QueryNumber(
        load_default=DEFAULT_LIMIT,
        low=1,
        high=MAX_LIMIT,
        metadata={"description": "The greatest number of notices to return."},
    )
    before = QueryNumber(
        metadata={
            "description": "Only those of events with an id below this: "
            "nextBefore of the previous page."
        }
    )


class NoticeRow(Schema):
    event = fields.Nested(EventRow)
    count = fields.Integer(
        metadata={"description": "How many events of this type the act made, the last is `event`."}
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
