from typing import Any

from marshmallow import ValidationError, fields, post_dump, post_load, pre_load, validate

from app.access.users.schemas import GroupName
from app.accounts.mails.models import MailKind
from app.accounts.models import LONGEST_PASSWORD
from app.accounts.schemas import PasswordChange, RoleRow, image_path
from app.accounts.tokens.schemas import TokenList, TokenRow
from app.core.clock import zones
from app.web.schemas import Ignored, Key, Schema, StrictBoolean, StrictList, Timestamp

NEVER = "9999-12-31T00:00:00.000Z"


class Me(Schema):
    id = fields.Integer()
    is_api = fields.Constant(constant=False, data_key="isAPI", metadata={"deprecated": True})
    name = fields.String(allow_none=True)
    email = fields.String()
    username = fields.String(allow_none=True)
    image_url = fields.Function(image_path, metadata={"type": "string"})
    login_attempts = fields.Integer()
    root_role = fields.Integer(attribute="role")
    seen_at = Timestamp(allow_none=True, attribute="last_sign_in_at")
    created_at = Timestamp()
    account_type = fields.String(
        attribute="kind.account_type", metadata={"enum": ["User", "Service Account"]}
    )
    scim_id = fields.String()

    @post_dump
    def _leave_out_missing(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        absent = {key for key in ("email", "scimId") if data[key] is None}
        return {key: value for key, value in data.items() if key not in absent}


class Held(Schema):
    """A permission that the caller holds, everywhere or in one project."""

    permission = fields.String()
    project = fields.String()


class FeedbackRow(Schema):
    user_id = fields.Integer()
    never_show = fields.Boolean()
    given = Timestamp(allow_none=True)
    feedback_id = fields.String()


class Overview(Schema):
    user = fields.Nested(Me)
    permissions = fields.Function(
        lambda overview: [
            {"permission": permission}
            if project is None
            else {"permission": permission, "project": project}
            for permission, project in overview.permissions
        ],
        metadata={"type": "array", "items": {"type": "object"}},
    )
    feedback = fields.List(fields.Nested(FeedbackRow))
    splash = fields.Function(
        lambda overview: dict.fromkeys(overview.splash, True),
        metadata={"type": "object", "additionalProperties": {"type": "boolean"}},
    )


class OwnPassword(PasswordChange):
    """Accepts ``password`` and ``confirmPassword``, as Unleash’s clients send them, too."""

    password = fields.String(
        validate=validate.Length(max=LONGEST_PASSWORD),
        metadata={"description": "The same as newPassword."},
    )
    confirm_password = fields.String(metadata={"description": "The same once more."})

    @pre_load
    def _rename(self, data: Any, **_: Any) -> Any:
        is_theirs = isinstance(data, dict) and "password" in data and "newPassword" not in data
        return data | {"newPassword": data["password"]} if is_theirs else data

    @post_load
    def _compare(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        data.pop("password", None)
        if data.pop("confirm_password", data["new_password"]) != data["new_password"]:
            raise ValidationError("The two passwords are not the same.", "confirmPassword")
        return data


class Profile(Schema):
    root_role = fields.Nested(RoleRow)
    projects = fields.List(fields.String(), metadata={"description": "Where they have a role."})
    groups = fields.List(fields.Nested(GroupName))
    subscriptions = fields.List(fields.String(), dump_default=())
    features = fields.List(fields.String(), dump_default=())
    can_change_password = fields.Boolean()


class RoleQuery(Schema):
    project_id = Key(metadata={"description": "Also the role in this project."})


class Roles(Schema):
    version = fields.Constant(1)
    roles = fields.List(fields.Nested(RoleRow))


class OwnToken(TokenRow):
    """For clients to whom each token expires: the others do in 9999."""

    @post_dump
    def _expire(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        return data | {"expiresAt": data["expiresAt"] or NEVER}


class OwnTokens(TokenList):
    extended = frozenset({"version", "tokens", "total"})

    pats = fields.List(fields.Nested(OwnToken), attribute="items", dump_only=True)


class FeedbackChanges(Schema):
    never_show = StrictBoolean()
    given = Timestamp(allow_none=True)
    user_id = Ignored()
    feedback_id = Ignored()


class NewFeedback(Schema):
    feedback_id = Key(required=True)
    never_show = StrictBoolean()
    given = Timestamp()


class SplashDetail(Schema):
    user_id = fields.Integer()
    splash_id = fields.String()
    seen = fields.Constant(constant=True)


def _check_zone(name: str) -> None:
    if name not in zones():
        raise ValidationError("Enter the name of a time zone, such as Europe/Stockholm.")


class TimeZone(Schema):
    time_zone = fields.String(
        required=True,
        validate=_check_zone,  # without the list of hundreds of names in the documentation
        metadata={"description": "A name of the IANA database.", "maxLength": 64},
    )


class MailChoices(Schema):
    kinds = StrictList(
        fields.Enum(MailKind, by_value=True),
        required=True,
        metadata={
            "description": "What to send mail about: `reviews` asked for, own `schedules` that "
            "failed, and the `expiry` of tokens. It is sent if the operator set a mail server and "
            "the account has an address."
        },
    )


class ReadTimeZone(Schema):
    time_zone = fields.String(allow_none=True)
