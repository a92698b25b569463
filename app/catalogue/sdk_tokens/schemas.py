from typing import Any

from marshmallow import ValidationError, fields, pre_load, validate

from app.catalogue.sdk_tokens.models import ALL, SdkTokenState, SdkTokenType
from app.web.listing import PageQuery
from app.web.schemas import Key, Schema, SingleLine, StrictList, Timestamp, WholeNumber

BACKEND = "backend"
"""What newer clients call the type ``client``."""
USUAL_ENVIRONMENT = "development"
"""Where a token is for that names no environment, as in Unleash."""
MAX_PROJECTS = 100
EXPIRY = {"description": "A time in the future. Null or absent: never."}


class _Type(fields.Enum[SdkTokenType]):
    def __init__(self, **kwargs: Any) -> None:
        names = [*(type.value for type in SdkTokenType), BACKEND]
        metadata = {"enum": names, "description": f"`{BACKEND}` means the same as `client`."}
        super().__init__(SdkTokenType, by_value=True, metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        known = SdkTokenType.CLIENT.value if value == BACKEND else value
        return super()._deserialize(known, *args, **kwargs)


class _ProjectOrAll(Key):
    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> str:
        return ALL if value == ALL else super()._deserialize(value, *args, **kwargs)


class NewProjectToken(Schema):
    """A token for the project of the address."""

    token_name = SingleLine(
        high=255,
        required=True,
        metadata={"description": "Which application it is for. Must differ from other SDK tokens."},
    )
    type = _Type(required=True)
    environment = Key(load_default=USUAL_ENVIRONMENT)
    expires_at = Timestamp(allow_none=True, metadata=EXPIRY)


class NewSdkToken(NewProjectToken):
    projects = StrictList(
        _ProjectOrAll(metadata={"pattern": r"^(\*|(?!\.\.?$)[A-Za-z0-9_~.-]+)$"}),
        validate=validate.Length(min=1, max=MAX_PROJECTS),
        metadata={
            "minItems": 1,
            "maxItems": MAX_PROJECTS,
            "description": "Whose features it gives; `*`, or absent, for all projects.",
        },
    )
    project = _ProjectOrAll(
        metadata={
            "pattern": r"^(\*|(?!\.\.?$)[A-Za-z0-9_~.-]+)$",
            "description": "One project, as older clients send it, instead of `projects`.",
        }
    )

    @pre_load
    def _merge(self, data: Any, **_: Any) -> Any:
        if isinstance(data, dict) and "project" in data and "projects" in data:
            raise ValidationError("Send either project or projects.", "project")
        return data

    def load(self, *args: Any, **kwargs: Any) -> Any:
        values = super().load(*args, **kwargs)
        if "project" in values:
            values["projects"] = [values.pop("project")]
        return values


class SdkTokenChanges(Schema):
    expires_at = Timestamp(required=True, allow_none=True, metadata=EXPIRY)


class SdkTokenRotation(Schema):
    overlap_hours = WholeNumber(
        load_default=24,
        low=0,
        high=720,
        metadata={"description": "How long the old token keeps working; 0 stops it now."},
    )


class SdkTokenRow(Schema):
    """A token without its secret, which is shown only once."""

    volatile = frozenset({"seenAt", "applications"})
    extended = frozenset({"id", "hint", "applications"})

    id = fields.Integer()
    token_name = fields.String(attribute="name")
    type = fields.Enum(SdkTokenType, by_value=True)
    environment = fields.String()
    project = fields.String(metadata={"description": "`[]` for several, `*` for all."})
    projects = fields.List(fields.String())
    hint = fields.String(metadata={"description": "How the secret ends."})
    created_at = Timestamp()
    expires_at = Timestamp(allow_none=True)
    seen_at = Timestamp(allow_none=True, attribute="last_seen_at")
    applications = fields.List(
        fields.String(),
        metadata={"description": "Those that used it in the last 7 days, at most 100."},
    )


class SdkTokenList(Schema):
    extended = frozenset({"version", "total"})

    version = fields.Constant(1)
    tokens = fields.List(fields.Nested(SdkTokenRow), attribute="items")
    total = fields.Integer()


class SdkTokenQuery(PageQuery):
    text = SingleLine(
        high=255,
        metadata={
            "description": "Part of the name or of that of an application that uses it, or the end "
            "of the secret."
        },
    )
    environment = Key(metadata={"description": "Reads this environment."})
    type = fields.Enum(SdkTokenType, by_value=True)
    state = fields.Enum(
        SdkTokenState,
        by_value=True,
        metadata={"description": "Expires within 30 days, or was not used for 90."},
    )


class CreatedSdkToken(Schema):
    """The only response with the secret."""

    extended = frozenset({"id"})

    secret = fields.String()
    id = fields.Integer(attribute="token.id")
    token_name = fields.String(attribute="token.name")
    type = fields.Enum(SdkTokenType, by_value=True, attribute="token.type")
    environment = fields.String(attribute="token.environment")
    project = fields.String(attribute="token.project")
    projects = fields.List(fields.String(), attribute="token.projects")
    created_at = Timestamp(attribute="token.created_at")
    expires_at = Timestamp(allow_none=True, attribute="token.expires_at")
