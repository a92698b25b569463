from typing import Any

from marshmallow import fields, post_dump

from app.accounts.schemas import AccountChanges, RoleRow, image_path, root_role, username
from app.accounts.tokens.schemas import TokenRow
from app.core.permissions import ROOT_ROLES
from app.web.listing import PageQuery, Sort
from app.web.schemas import Ignored, Schema, SingleLine, Timestamp


class NewServiceAccount(Schema):
    username = username()
    name = SingleLine(high=255)
    root_role = root_role(required=True)


class ServiceAccountChanges(AccountChanges):
    """The username can be changed but not removed."""

    username = username()
    tokens = Ignored()


class ServiceAccountDetail(Schema):
    volatile = frozenset({"tokens"})

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


class ServiceAccountQuery(PageQuery):
    sort = Sort("id", "username", "name", "createdAt")
    text = SingleLine(high=100, metadata={"description": "Part of the username or name."})


class ServiceAccountList(Schema):
    version = fields.Constant(1)
    service_accounts = fields.List(fields.Nested(ServiceAccountDetail), attribute="items")
    root_roles = fields.List(fields.Nested(RoleRow), dump_default=ROOT_ROLES)
    total = fields.Integer()
