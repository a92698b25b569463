from typing import Any

from marshmallow import fields, post_dump

from app.accounts.schemas import AccountChanges, email, image_path, root_role, username
from app.core.permissions import PROJECT_ROLES, ROOT_ROLES
from app.web.listing import PageQuery, Sort
from app.web.schemas import (
    Key,
    QueryBoolean,
    QueryNumber,
    RoleId,
    Schema,
    SingleLine,
    StrictBoolean,
    StrictList,
    Timestamp,
    WholeNumber,
)


class NewUser(Schema):
    username = username()
    email = email()
    name = SingleLine(high=255)
    root_role = root_role(required=True)


class Invitation(NewUser):
    send_email = StrictBoolean(
        load_default=True,
        metadata={"description": "Whether to send the link by mail, if that is possible."},
    )


class UserChanges(AccountChanges):
    email = email(allow_none=True)


class QueryRole(RoleId, QueryNumber):
    """The id of a root role in an address, where everything is text."""


class UserQuery(PageQuery):
    sort = Sort("id", "username", "name", "createdAt", "seenAt")
    text = SingleLine(high=100, metadata={"description": "Part of the username, name or email."})
    root_role = QueryRole(ROOT_ROLES, kind="root")
    deleted = QueryBoolean(
        load_default=False,
        metadata={"description": "List the deleted users who can be restored instead."},
    )


class UserDetail(Schema):
    volatile = frozenset({"seenAt", "loginAttempts"})
    extended = frozenset({"isAPI", "deactivatedAt"})

    id = fields.Integer()
    is_api = fields.Constant(constant=False, data_key="isAPI", metadata={"deprecated": True})
    name = fields.String(allow_none=True)
    email = fields.String()
    username = fields.String(allow_none=True)
    image_url = fields.Function(image_path, metadata={"type": "string"})
    login_attempts = fields.Integer()
    email_sent: fields.Field[Any] = fields.Constant(constant=False)
    root_role = fields.Integer(attribute="role")
    seen_at = Timestamp(allow_none=True, attribute="last_sign_in_at")
    created_at = Timestamp()
    deactivated_at = Timestamp(
        metadata={"description": "Since when they can’t sign in. Left out for those who can."}
    )

    @post_dump
    def _leave_out_missing(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        optional = {"email", "deactivatedAt"}
        return {k: value for k, value in data.items() if k not in optional or value is not None}


class CreatedUser(UserDetail):
    email_sent = fields.Boolean(
        metadata={"description": "Whether the link is sent to the person by mail."}
    )
    invite_link = fields.String(
        metadata={"description": "One-time link to set the password, valid for 48 hours."}
    )


class UserList(Schema):
    extended = frozenset({"version", "total"})

    version = fields.Constant(1)
    users = fields.List(fields.Nested(UserDetail), attribute="items")
    total = fields.Integer()


class ChangedUsers(Schema):
    version = fields.Constant(1)
    users = fields.List(fields.Nested(UserDetail))


class UserIds(Schema):
    ids = StrictList(WholeNumber(), required=True, metadata={"description": "User ids."})


class BulkChanges(Schema):
    root_role = root_role()
    project = Key()
    project_role = RoleId(PROJECT_ROLES, kind="project")
    sign_out = StrictBoolean()


class InactiveUser(Schema):
    id = fields.Integer(attribute="Account.id")
    name = fields.String(attribute="Account.name", allow_none=True)
    email = fields.String(attribute="Account.email", allow_none=True)
    username = fields.String(attribute="Account.username", allow_none=True)
    seen_at = Timestamp(attribute="Account.last_sign_in_at", allow_none=True)
    created_at = Timestamp(attribute="Account.created_at")
    pat_seen_at = Timestamp(allow_none=True)


class InactiveUserList(Schema):
    extended = frozenset({"total"})

    version = fields.Constant(1)
    inactive_users = fields.List(fields.Nested(InactiveUser), attribute="items")
    total = fields.Integer()
