from typing import Any

from marshmallow import fields, post_dump

from app.accounts.schemas import RootRole, image_path, username
from app.core.schemas import Line, Schema, Timestamp
from app.tokens.schemas import TokenRow


class NewServiceAccount(Schema):
    username = username()
    name = Line(high=255)
    root_role = RootRole(required=True)


class ServiceAccountDetail(Schema):
    id = fields.Integer(attribute="account.id")
    name = fields.String(attribute="account.name")
    username = fields.String(attribute="account.username")
    image_url = fields.Function(lambda row: image_path(row.account), metadata={"type": "string"})
    root_role = fields.Integer(attribute="account.role")
    created_at = Timestamp(attribute="account.created_at")
    tokens = fields.List(fields.Nested(TokenRow))
    is_api = fields.Constant(constant=False, data_key="isAPI", metadata={"deprecated": True})
    login_attempts = fields.Constant(0, metadata={"deprecated": True})
    email_sent = fields.Constant(constant=False, metadata={"deprecated": True})
    seen_at = fields.Constant(None, metadata={"deprecated": True, "nullable": True})

    @post_dump
    def _leave_out_missing(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {key: value for key, value in data.items() if key != "name" or value is not None}
