from marshmallow import fields

from app.accounts.schemas import email, username
from app.core.schemas import Line, Schema


class SignIn(Schema):
    name = Line(high=255, required=True)
    password = fields.String(required=True)


class Code(Schema):
    code = Line(high=40, required=True)


class NewPassword(Schema):
    """What a good password is, the service judges."""

    new_password = fields.String(required=True)


class FirstAdmin(NewPassword):
    username = username(required=True)
    name = Line(high=255, allow_none=True)
    email = email(allow_none=True)
