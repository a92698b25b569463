from typing import Any

from marshmallow import fields, post_dump
from marshmallow.validate import OneOf

from app.core.events.event_types import EventType, Subject
from app.portal.event_log.unleash import nearest_in_unleash
from app.web.extended import are_wanted
from app.web.listing import IS, Compared, NewestQuery, PageQuery
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
    type: fields.Field[Any] = fields.Enum(EventType, by_value=True)
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


class ListedEvent(EventRow):
    """With the type that Unleash would name it, unless all fields are asked for."""

    extended = frozenset({"tokenId", "reason", "batchId"})

    type = fields.Function(
        lambda event: event.type if are_wanted() else nearest_in_unleash(event.type),
        metadata={
            "type": "string",
            "description": "The nearest type that Unleash has; with `extended=true` the type here.",
        },
    )
    environment = fields.Function(
        lambda event: (event.data or event.pre_data or {}).get("environment"),
        metadata={"type": ["string", "null"]},
    )
    group_id = fields.String(attribute="batch_id", dump_only=True)

    @post_dump
    def _leave_out_group(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {key: value for key, value in data.items() if key != "groupId" or value is not None}


class EventList(Schema):
    extended = frozenset({"total", "nextBefore"})

    version = fields.Constant(1)
    events = fields.List(fields.Nested(ListedEvent))
    total = fields.Integer(dump_only=True)
    total_events = fields.Integer(attribute="total", dump_only=True)
    next_before = fields.Integer(
        allow_none=True,
        metadata={"description": "Where the next page starts. null on the last page."},
    )


class FeatureEvents(Schema):
    version = fields.Constant(1)
    toggle_name = fields.String()
    events = fields.List(fields.Nested(ListedEvent))
    total_events = fields.Integer(attribute="total", dump_only=True)


class EventSearch(PageQuery):
    query = SingleLine(high=100, metadata={"description": "As `text` of the list of events."})
    id = Compared(*IS, kind=QueryNumber())
    group_id = Compared(*IS, description="The batchId.")
    type = Compared(*IS, description="As Unleash or Flagstaff names it.")
    project = Compared(*IS)
    feature = Compared(*IS)
    environment = Compared(*IS)
    created_by = Compared(*IS, kind=QueryNumber(), description="Ids of accounts.")
    from_ = Compared("IS", kind=fields.Date(), data_key="from")
    to = Compared("IS", kind=fields.Date(), description="The last day.")


class FoundEvents(Schema):
    events = fields.List(fields.Nested(ListedEvent), attribute="items")
    total = fields.Integer()


class EventCreator(Schema):
    id = fields.Integer()
    name = fields.String(attribute="called")


class Undone(Schema):
    undone = fields.List(fields.Integer(), metadata={"description": "The ids of the events."})
    batch_id = fields.String(
        metadata={"description": "The batch of what undid them, which can be undone too."}
    )
