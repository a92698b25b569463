from marshmallow import fields
from marshmallow.validate import OneOf

from app.core.events.event_types import EventType, Subject
from app.web.listing import NewestQuery
from app.web.schemas import QueryNumber, Schema, SingleLine, Timestamp


class EventQuery(NewestQuery):
    type = fields.String(
        validate=OneOf([*EventType, *Subject]),
        metadata={"description": "A type of event, or what types are about, such as switching."},
    )
    project = SingleLine(high=100)
    feature = SingleLine(high=100)
    account = QueryNumber(
        data_key="actor", metadata={"description": "The id of the account that acted."}
    )
    by = SingleLine(
        high=255,
        metadata={"description": "The user name or the e-mail of the account that acted."},
    )
    about = QueryNumber(
        metadata={
            "description": "The id of an account: only events about it and its tokens, "
            "such as a new password, or a role in a project."
        }
    )
    segment = QueryNumber(
        metadata={"description": "The id of a segment: only what happened to it."}
    )
    token = QueryNumber(
        metadata={"description": "The id of a token: only what it did, and what happened to it."}
    )
    from_ = Timestamp(data_key="from", metadata={"description": "At this time or later."})
    to = Timestamp(metadata={"description": "Before this time."})
    batch = SingleLine(high=36, metadata={"description": "Only events of one act, by batchId."})
    text = SingleLine(
        high=100,
        metadata={"description": "Text in createdBy, project, featureName or reason."},
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
        allow_none=True,
        metadata={"description": "Where the next page starts. null on the last page."},
    )


class Undone(Schema):
    undone = fields.List(fields.Integer(), metadata={"description": "The ids of the events."})
    batch_id = fields.String(
        metadata={"description": "The batch of what undid them, which can be undone too."}
    )
