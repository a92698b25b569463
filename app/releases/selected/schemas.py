from typing import Any

from marshmallow import ValidationError, fields, validate

from app.catalogue.features.schemas import BulkSettings
from app.catalogue.tags import service as tags
from app.catalogue.tags.models import TagName
from app.catalogue.tags.schemas import TagRef
from app.web.schemas import Key, SingleLine

ACTS = ("on", "off", "tags", "settings", "stale", "archive")


class Tags(SingleLine):
    """Tags in an address, separated by commas: ``type:value``, or a value of type simple."""

    def deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        text = super().deserialize(value, *args, **kwargs)
        if not isinstance(text, str):
            return text  # absent
        found = [TagName.read(part.strip()) for part in text.split(",") if part.strip()]
        if bad := [tag for tag in found if TagRef().validate(tag._asdict())]:
            raise ValidationError(f"{bad[0]} isn’t a tag. Write type:value.")
        if unknown := tags.unknown_types({tag.type for tag in found}):
            raise ValidationError(f"There is no tag type {min(unknown)}. Create it first.")
        return found


class SelectedQuery(BulkSettings):
    """What to do with selected features. ``to``: the act; the others are its values."""

    to = fields.String(load_default="tags", validate=validate.OneOf(ACTS))
    environment = Key()
    add = Tags(high=1_000, load_default=list)
    remove = Tags(high=1_000, load_default=list)
