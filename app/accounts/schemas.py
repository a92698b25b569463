from typing import Any
from urllib.parse import quote

from marshmallow import fields, validate

from app.accounts.models import LONGEST_PASSWORD
from app.core.permissions import ROOT_ROLES
from app.core.words import initials
from app.web.schemas import (
    Ignored,
    RoleId,
    Schema,
    SingleLine,
    StrictBoolean,
)


def root_role(**kwargs: Any) -> RoleId:
    return RoleId(ROOT_ROLES, kind="root", **kwargs)


def username(**kwargs: Any) -> SingleLine:
    return SingleLine(
        high=255,
        metadata={
            "description": "Unique among users and service accounts, ignoring case. "
            "Characters that can be seen, and letters of one alphabet."
        },
        **kwargs,
    )


def email(**kwargs: Any) -> fields.Email:
    longest = validate.Length(max=254, error="Enter at most 254 characters.")
    return fields.Email(validate=longest, **kwargs)


def image_path(account: Any) -> str:
    """The address of an avatar on this server; it contains the initials and nothing else."""
    name = account.name or account.username or account.email or ""
    return f"/avatars/{quote(initials(name))}.svg"


class RoleRow(Schema):
    id = fields.Integer(attribute="value")
    name = fields.String(attribute="title")
    type = fields.Function(
        lambda role: "root" if role in ROOT_ROLES else "project", metadata={"type": "string"}
    )
    description = fields.String(attribute="words")


class AccountChanges(Schema):
    """Accepts what reading an account returns; fields that can't be changed are ignored."""

    username = username(allow_none=True)
    name = SingleLine(high=255, allow_none=True)
    root_role = root_role()
    id = Ignored()
    is_api = Ignored(data_key="isAPI")
    image_url = Ignored()
    login_attempts = Ignored()
    email_sent = Ignored()
    seen_at = Ignored()
    created_at = Ignored()


def revoke_tokens() -> StrictBoolean:
    return StrictBoolean(
        load_default=False,
        metadata={"description": "Also revoke all tokens of the account, as they may be known."},
    )


class PasswordChange(Schema):
    """Limits the length alone; the service decides what a good password is."""

    revoke_tokens = revoke_tokens()

    old_password = fields.String(required=True, validate=validate.Length(max=LONGEST_PASSWORD))
    new_password = fields.String(required=True, validate=validate.Length(max=LONGEST_PASSWORD))
