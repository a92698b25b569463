from marshmallow import fields

from app.accounts.schemas import email, revoke_tokens, username
from app.web.schemas import Schema, SingleLine


class SignIn(Schema):
    name = SingleLine(high=255, required=True)
    password = fields.String(required=True)


class Code(Schema):
    code = SingleLine(high=40, required=True)


class NewPassword(Schema):
    """The service decides what a good password is."""

    new_password = fields.String(required=True)


class PasswordByLink(NewPassword):
    revoke_tokens = revoke_tokens()


class FirstAdmin(NewPassword):
    username = username(required=True)
    name = SingleLine(high=255, allow_none=True)
    email = email(allow_none=True)
