from marshmallow import fields

from app.core.paging import DEFAULT_LIMIT, MAX_LIMIT
from app.core.schemas import Line, QueryNumber, Schema, Timestamp
from app.events.models import EventType


class EventQuery(Schema):
    limit = QueryNumber(
        load_default=DEFAULT_LIMIT,
        low=1,
        high=MAX_LIMIT,
    )
    before = QueryNumber(
        metadata={
            "description": "Only events with an id below this: nextBefore of the page before."
        }
    )
    type = fields.Enum(EventType, by_value=True)
    project = Line(high=100)
    feature = Line(high=100)
    account = QueryNumber(
        data_key="actor", metadata={"description": "The id of the account that acted."}
    )
    from_ = Timestamp(data_key="from", metadata={"description": "Not before this time."})
    to = Timestamp(metadata={"description": "Before this time."})
    batch = Line(high=36)
    text = Line(
        high=100,
        metadata={"description": "In the name of who acted, the project, feature or reason."},
    )


class EventRow(Schema):
    id = fields.Integer()
    type = fields.Enum(EventType, by_value=True)
    created_at = Timestamp()
    created_by = fields.String()
    created_by_user_id = fields.Integer(allow_none=True)
    token_id = fields.Integer(allow_none=True)
    ip = fields.String(allow_none=True)
    project = fields.String(allow_none=True)
    feature_name = fields.String(allow_none=True)
    data = fields.Dict(allow_none=True)
    pre_data = fields.Dict(allow_none=True)
    reason = fields.String(allow_none=True)
    batch_id = fields.String(allow_none=True)


class EventList(Schema):
    version = fields.Constant(1)
    events = fields.List(fields.Nested(EventRow))
    total = fields.Integer()
    next_before = fields.Integer(
        allow_none=True, metadata={"description": "Where the next page begins; null at the end."}
    )
