from marshmallow import fields

from app.web.schemas import Schema, SingleLine, Timestamp


class NewScimToken(Schema):
    token_name = SingleLine(
        high=255, required=True, metadata={"description": "Which directory it is for."}
    )
    expires_at = Timestamp(
        allow_none=True,
        metadata={"description": "A time in the future. Null or absent: never."},
    )


class ScimTokenRow(Schema):
    """A token without its secret, which is shown only once."""

    id = fields.Integer()
    token_name = fields.String(attribute="name")
    hint = fields.String()
    created_at = Timestamp()
    created_by = fields.String()
    seen_at = Timestamp(allow_none=True, attribute="last_seen_at")
    expires_at = Timestamp(allow_none=True)


class ScimTokenList(Schema):
    tokens = fields.List(fields.Nested(ScimTokenRow))


class Managed(Schema):
    """What directories had here."""

    tokens = fields.Integer()
    users = fields.Integer()
    deactivated = fields.Integer(
        metadata={"description": "Of the users: who can’t sign in until someone reactivates them."}
    )
    groups = fields.Integer()


class CreatedScimToken(Schema):
    """The only response with the secret."""

    id = fields.Integer(attribute="token.id")
    token_name = fields.String(attribute="token.name")
    secret = fields.String()
    expires_at = Timestamp(allow_none=True, attribute="token.expires_at")
