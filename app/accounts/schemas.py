from typing import Any
from urllib.parse import quote

from marshmallow import fields, post_dump, validate

from app.accounts.models import LONGEST_PASSWORD
from app.core.paging import PageQuery, Sort
from app.core.permissions import ROOT_ROLES
from app.core.schemas import (
    Ignored,
    Line,
    Many,
    QueryNumber,
    QueryTruth,
    RoleId,
    Schema,
    Timestamp,
    WholeNumber,
)
from app.core.templating import initials


def root_role(**kwargs: Any) -> RoleId:
    return RoleId(ROOT_ROLES, kind="root", **kwargs)


def username(**kwargs: Any) -> Line:
    return Line(
        high=255,
        metadata={"description": "Unique over users and service accounts, whatever its case."},
        **kwargs,
    )


def image_path(account: Any) -> str:
    """A picture from this server, made of the initials alone: its address tells nothing else."""
    name = account.name or account.username or account.email or ""
    return f"/avatars/{quote(initials(name))}.svg"


def email(**kwargs: Any) -> fields.Email:
    longest = validate.Length(max=254, error="Must have at most 254 characters.")
    return fields.Email(validate=longest, **kwargs)


class NewUser(Schema):
    username = username()
    email = email()
    name = Line(high=255)
    root_role = root_role(required=True)


class AccountChanges(Schema):
    """Takes all that reading a user or service account gives; what can't be changed is ignored."""

    username = username(allow_none=True)
    name = Line(high=255, allow_none=True)
    root_role = root_role()
    id = Ignored()
    is_api = Ignored(data_key="isAPI")
    image_url = Ignored()
    login_attempts = Ignored()
    email_sent = Ignored()
    seen_at = Ignored()
    created_at = Ignored()


class UserChanges(AccountChanges):
    email = email(allow_none=True)


class QueryRole(RoleId, QueryNumber):
    """The id of a root role in an address, where everything is text."""


class UserQuery(PageQuery):
    sort = Sort("id", "username", "name", "createdAt", "seenAt")
    text = Line(high=100, metadata={"description": "Part of the username, name or email."})
    root_role = QueryRole(ROOT_ROLES, kind="root")
    deleted = QueryTruth(
        load_default=False, metadata={"description": "Those who can be restored instead."}
    )


class PasswordChange(Schema):
    """What a good password is, the service judges; this bounds the work of doing so."""

    old_password = fields.String(required=True, validate=validate.Length(max=LONGEST_PASSWORD))
    new_password = fields.String(required=True, validate=validate.Length(max=LONGEST_PASSWORD))


class UserDetail(Schema):
    volatile = frozenset({"seenAt", "loginAttempts"})

    id = fields.Integer()
    is_api = fields.Constant(constant=False, data_key="isAPI", metadata={"deprecated": True})
    name = fields.String(allow_none=True)
    email = fields.String()
    username = fields.String(allow_none=True)
    image_url = fields.Function(image_path, metadata={"type": "string"})
    login_attempts = fields.Integer()
    email_sent = fields.Constant(constant=False)
    root_role = fields.Integer(attribute="role")
    seen_at = Timestamp(allow_none=True, attribute="last_sign_in_at")
    created_at = Timestamp()

    @post_dump
    def _leave_out_missing(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {key: value for key, value in data.items() if key != "email" or value is not None}


class CreatedUser(UserDetail):
    invite_link = fields.String(
        metadata={"description": "One-time link to set the password, valid for 48 hours."}
    )


class UserList(Schema):
    version = fields.Constant(1)
    users = fields.List(fields.Nested(UserDetail), attribute="items")
    total = fields.Integer()


class UserIds(Schema):
    ids = Many(WholeNumber(), required=True, metadata={"description": "User ids."})


class InactiveUser(Schema):
    id = fields.Integer(attribute="Account.id")
    name = fields.String(attribute="Account.name", allow_none=True)
    email = fields.String(attribute="Account.email", allow_none=True)
    username = fields.String(attribute="Account.username", allow_none=True)
    seen_at = Timestamp(attribute="Account.last_sign_in_at", allow_none=True)
    created_at = Timestamp(attribute="Account.created_at")
    pat_seen_at = Timestamp(allow_none=True)


class InactiveUserList(Schema):
    version = fields.Constant(1)
    inactive_users = fields.List(fields.Nested(InactiveUser), attribute="items")
    total = fields.Integer()
