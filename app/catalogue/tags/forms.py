from wtforms import RadioField, SelectChoice, StringField

from app.catalogue.tags import schemas
from app.web.conflicts import Values
from app.web.forms import ReasonField, SchemaForm

COLOURS = ("petrol", "violet", "rust", "green", "pink", "blue", "olive", "grey")


class _TagTypeFields(SchemaForm):
    description = StringField("Description", description="What tags of this type are for.")
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
        description="Written before each tag, as in team:payments. Lowercase letters, digits, "
        "_ and -",
    )


def display_values(settings: Values) -> Values:
    """The settings with the name of the colour instead of its number."""
    return settings | {"hue": COLOURS[int(settings["hue"]) - 1]}
