from wtforms import RadioField, SelectChoice, StringField

from app.core.conflicts import Values
from app.core.forms import ReasonField, SchemaForm
from app.tags import schemas
from app.tags.models import TagType

COLOURS = ("petrol", "violet", "rust", "green", "pink", "blue", "olive", "grey")


class _TagTypeFields(SchemaForm):
    description = StringField("Description", description="What tags of this type say.")
    hue = RadioField(
        "Colour", choices=[SelectChoice(str(hue), name) for hue, name in enumerate(COLOURS, 1)]
    )
    reason = ReasonField()


class TagTypeForm(_TagTypeFields):
    schema = schemas.TagTypeUpdate


class NewTagTypeForm(_TagTypeFields):
    schema = schemas.NewTagType

    name = StringField(
        "Name",
        description="Stands before the colon of each of its tags, so it can’t be changed later. "
        "Small letters, digits, _ and -",
    )


def settings_of(tag_type: TagType) -> Values:
    """The tag type in the words of the form."""
    return {"description": tag_type.description or "", "hue": str(tag_type.hue)}


def in_words(settings: Values) -> Values:
    """The settings for people's eyes, who know colours by name."""
    return settings | {"hue": COLOURS[int(settings["hue"]) - 1]}
