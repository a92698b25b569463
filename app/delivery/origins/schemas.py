import re
from typing import Any

from marshmallow import fields

from app.delivery.origins.service import ANY, MAX_ORIGIN, MAX_ORIGINS
from app.web.schemas import Schema, SingleLine, StrictList

PATTERN = (
    r"^(\*|[A-Za-z][A-Za-z0-9+.-]*://([A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\])"
    r"(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?)$"
)
USUAL_PORTS = {"http": "80", "https": "443"}

_is_origin = re.compile(PATTERN).fullmatch


class Origin(SingleLine):
    """An origin as browsers send it: in lower case, without the default port."""

    default_error_messages = {  # noqa: RUF012 - marshmallow's own way to set it
        "origin": (
            "Use * for all sites, or a scheme and a host such as https://shop.example.com, with a "
            "port if it has one, and without a path."
        ),
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(high=MAX_ORIGIN, metadata={"pattern": PATTERN}, **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> str:
        text = super()._deserialize(value, *args, **kwargs)
        if not _is_origin(text):
            raise self.make_error("origin")
        if text == ANY:
            return text
        scheme, _, host = text.lower().partition("://")
        name, _, port = host.rpartition(":")
        is_usual = port == USUAL_PORTS.get(scheme)
        return f"{scheme}://{name if is_usual else host}"


class Origins(StrictList):
    default_error_messages = {  # noqa: RUF012 - as above
        "many": f"Must have at most {MAX_ORIGINS} origins. Use * for all."
    }

    def __init__(self, **kwargs: Any) -> None:
        metadata = {
            "maxItems": MAX_ORIGINS,
            "description": "The sites whose pages may read features; `*` for all, empty for none.",
        }
        super().__init__(Origin(), metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> list[Any]:
        found = super()._deserialize(value, *args, **kwargs)
        if len(found) > MAX_ORIGINS:
            raise self.make_error("many")
        return found


class CorsSettings(Schema):
    frontend_api_origins = Origins(required=True)


class OpenSourceVersion(Schema):
    oss = fields.String()


class VersionInfo(Schema):
    current = fields.Nested(OpenSourceVersion)
    latest = fields.Dict(dump_default=dict)
    is_latest = fields.Constant(constant=True)


class UiConfig(Schema):
    """What clients of Unleash read about a server before anything else."""

    name = fields.String()
    version = fields.String()
    unleash_url = fields.String(metadata={"description": "The address that people use."})
    base_uri_path = fields.String(metadata={"description": "The path before all others, if any."})
    frontend_api_origins = fields.List(fields.String())
    maintenance_mode = fields.Boolean()
    version_info = fields.Nested(VersionInfo)
