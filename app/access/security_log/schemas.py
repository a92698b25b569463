from marshmallow import fields

from app.access.security_log.models import SecurityKind
from app.web.listing import NewestQuery
from app.web.schemas import QueryNumber, Schema, SingleLine, Timestamp


class SecurityQuery(NewestQuery):
    kind = fields.Enum(SecurityKind, by_value=True)
    account = QueryNumber(metadata={"description": "The id of the account that is named."})
    ip = SingleLine(high=45, metadata={"description": "The address that the request came from."})
    from_ = Timestamp(data_key="from", metadata={"description": "At this time or later."})
    to = Timestamp(metadata={"description": "Before this time."})


class SecurityRow(Schema):
    id = fields.Integer()
    at = Timestamp()
    kind = fields.Enum(SecurityKind, by_value=True)
    account_id = fields.Integer(allow_none=True)
    name = fields.String(
        allow_none=True,
        metadata={"description": "The name of the account; null if there is none."},
    )
    ip = fields.String(allow_none=True)
    token_id = fields.Integer(allow_none=True)
    detail = fields.String(allow_none=True)
    times = fields.Integer(
        metadata={
            "description": "How often it happened within a minute. The entry describes the first."
        }
    )


class SecurityList(Schema):
    version = fields.Constant(1)
    entries = fields.List(fields.Nested(SecurityRow))
    total = fields.Integer()
    next_before = fields.Integer(
        allow_none=True,
        metadata={"description": "Where the next page starts. null on the last page."},
    )
