from typing import Any

from marshmallow import fields, post_dump, validate

from app.accounts.models import LONGEST_PASSWORD
from app.accounts.schemas import (
    AccountChanges,
    RoleRow,
    email,
    image_path,
    root_role,
    username,
)
from app.core.db import MAX_ID
from app.core.permissions import PROJECT_ROLES, ROOT_ROLES, Role
from app.web.listing import MAX_DIGITS, PageQuery, Sort
from app.web.schemas import (
    Ignored,
    Key,
    OrEmpty,
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


class RootRole(RoleId):
    """The id or the name of a root role."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(ROOT_ROLES, kind="root", **kwargs)
        names = ", ".join(f"{role.value} or {role.title}" for role in self.roles)
        # Generators of clients can't read an enumeration of numbers and texts.
        self.metadata = {"type": ["integer", "string"], "description": f"{names}."}

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Role:
        ids = {role.title: role.value for role in self.roles}
        known = ids.get(value, value) if isinstance(value, str) else value
        return super()._deserialize(known, *args, **kwargs)


class Password(Schema):
    """Limits the length alone; the service decides what a good password is."""

    password = fields.String(required=True, validate=validate.Length(max=LONGEST_PASSWORD))
    old_password = Ignored()
    confirm_password = Ignored()


class _IdOrText(WholeNumber):
    def _validated(self, value: Any) -> int:
        is_text = isinstance(value, str) and value.isascii() and value.isdigit()
        return super()._validated(int(value[:MAX_DIGITS]) if is_text else value)


class UserId(Schema):
    id = _IdOrText(
        low=1,
        high=MAX_ID,
        required=True,
        metadata={"type": ["integer", "string"], "description": "The user’s id, also as a text."},
    )


class NewUser(Schema):
    username = username()
    email = email()
    name = SingleLine(high=255)
    root_role = root_role(required=True)


class Invitation(NewUser):
    root_role = RootRole(required=True)
    password = fields.String(
        validate=validate.Length(max=LONGEST_PASSWORD),
        metadata={"description": "Without one, the person chooses it by a link."},
    )
    send_email = StrictBoolean(
        load_default=True,
        metadata={"description": "Whether to send the link by mail, if that is possible."},
    )


class UserChanges(AccountChanges):
    account_type = Ignored()
    root_role = RootRole()
    email = email(allow_none=True)


class UserSearch(Schema):
    q = SingleLine(
        low=0,
        high=100,
        load_default="",
        metadata={"description": "Part of the username, name or email."},
    )


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
    account_type = fields.String(attribute="kind.account_type")
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


class PasswordLink(Schema):
    reset_password_url = fields.String()


class UserList(Schema):
    extended = frozenset({"version", "total"})

    version = fields.Constant(1)
    users = fields.List(fields.Nested(UserDetail), attribute="items")
    root_roles = fields.List(fields.Nested(RoleRow), dump_default=ROOT_ROLES)
    total = fields.Integer()


class FoundUser(Schema):
    """What a search says of a user."""

    id = fields.Integer()
    name = fields.String(allow_none=True)
    username = fields.String(allow_none=True)
    email = OrEmpty()
    image_url = fields.Function(image_path, metadata={"type": "string"})
    account_type = fields.String(attribute="kind.account_type")


class GroupName(Schema):
    id = fields.Integer()
    name = fields.String()


class UsersAndGroups(Schema):
    users = fields.List(fields.Nested(FoundUser))
    groups = fields.List(fields.Nested(GroupName))


class AdminCount(Schema):
    password = fields.Integer(metadata={"description": "Admins with a password."})
    no_password = fields.Integer(metadata={"description": "Admins without one."})
    service = fields.Integer(metadata={"description": "Service accounts that are Admins."})


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
