from typing import Any

from wtforms import SelectChoice, SelectField, StringField

from app.catalogue.features.forms import cut
from app.catalogue.tagging.schemas import NewTypeName
from app.catalogue.tagging.service import Edit
from app.catalogue.tags.models import TagName, TagType
from app.catalogue.tags.schemas import TagRef
from app.web.forms import ReasonField, SchemaForm


class NewNameForm(SchemaForm):
    """Another name for a tag."""

    schema = TagRef

    type = SelectField("Type")
    value = StringField("Value")

    def __init__(self, tag: TagName, types: list[TagType]) -> None:
        super().__init__(data=tag._asdict())
        self.type.choices = [SelectChoice(type.name, type.name) for type in types]


class TypeNameForm(SchemaForm):
    """Another name for a tag type."""

    schema = NewTypeName

    to = StringField(
        "New name", description="Lowercase letters, digits, _ and -, at most 50 of them."
    )
    reason = ReasonField()


class NewTagForm(SchemaForm):
    """A new tag, on the page of the picker."""

    schema = TagRef

    type = StringField("Type", name="new_type", id="new-type")
    value = StringField("Value")


def tagging_body(names: list[str], edit: Edit) -> dict[str, Any]:
    """The edit as a body of the API; a long list of features is cut."""
    return {
        "features": cut(names),
        "tags": {
            "addedTags": [tag._asdict() for tag in edit.added],
            "removedTags": [tag._asdict() for tag in edit.removed],
        },
    }
