from marshmallow import fields

from app.web.schemas import Schema, SingleLine, Timestamp, WholeNumber


class NewToken(Schema):
    description = SingleLine(
        high=255,
        required=True,
        metadata={"description": "Must differ from the account's other tokens."},
    )
    expires_at = Timestamp(
        allow_none=True,
        metadata={
            "description": "A time in the future, not later than the expiry of the token of this "
            "request. Null or absent: that expiry, or never if it has none."
        },
    )


class Rotation(Schema):
    overlap_hours = WholeNumber(
        load_default=24,
        low=0,
        high=168,
        metadata={"description": "How long the old token keeps working; 0 stops it now."},
    )
    expires_at = Timestamp(
        metadata={
            "description": "When the new token expires. If absent, it is valid for as long as the "
            "old one was."
        }
    )


class TokenRow(Schema):
    """A token without its secret, which is shown only once."""

    id = fields.Integer()
    created_at = Timestamp()
    seen_at = Timestamp(allow_none=True, attribute="last_seen_at")
    last_seen = Timestamp(
        dump_only=True,
        allow_none=True,
        attribute="last_seen_at",
        metadata={"description": "The same as seenAt."},
    )
    user_id = fields.Integer(attribute="account_id")
    description = fields.String()
    expires_at = Timestamp(allow_none=True)


class TokenList(Schema):
    version = fields.Constant(1)
    tokens = fields.List(fields.Nested(TokenRow), attribute="items")
    total = fields.Integer()


class CreatedToken(Schema):
    """The only response with the secret."""

    id = fields.Integer(attribute="token.id")
    secret = fields.String()
    created_at = Timestamp(attribute="token.created_at")
    seen_at = Timestamp(allow_none=True, attribute="token.last_seen_at")
    user_id = fields.Integer(attribute="token.account_id")
    description = fields.String(attribute="token.description")
    expires_at = Timestamp(allow_none=True, attribute="token.expires_at")
