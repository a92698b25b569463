from typing import Any

from wtforms import BooleanField, SelectChoice, SelectField, StringField, TextAreaField

from app.core.conflicts import Values
from app.core.forms import ReasonField, SchemaForm
from app.features import schemas
from app.features.models import FeatureType
from app.features.queries import FeatureView
from app.features.tagging import Edit
from app.tags.schemas import TagRef

SHOWN_IN_BODY = 20

TYPES = {
    FeatureType.RELEASE: "Release: hides unfinished work",
    FeatureType.EXPERIMENT: "Experiment: compares variants",
    FeatureType.OPERATIONAL: "Operational: moves from one system to another",
    FeatureType.KILL_SWITCH: "Kill switch: turns something off in an emergency",
    FeatureType.PERMISSION: "Permission: lets some have it and others not",
}


class _FeatureForm(SchemaForm):
    type = SelectField(
        "Type", choices=[SelectChoice(type.value, words) for type, words in TYPES.items()]
    )
    description = TextAreaField("Description", description="What it switches, and who to ask.")
    impression_data = BooleanField("Impression data: programs tell each time they ask for it")


class NewFeatureForm(_FeatureForm):
    schema = schemas.NewFeature

    name = StringField(
        "Name",
        description="Programs ask for it by this name, so it can’t be changed later. Letters, "
        "digits and . _ ~ -",
    )

    @property
    def api_body(self) -> dict[str, Any]:
        return self.payload()


class FeatureForm(_FeatureForm):
    schema = schemas.FeatureSettings

    stale = BooleanField("Stale: no longer needed, waiting to be removed from the code")
    parent = StringField(
        "Depends on",
        description="It works only while this feature does. Leave empty for none.",
    )
    reason = ReasonField()

    @property
    def settings(self) -> Values:
        """What the valid form says, in the words of ``settings_of``."""
        return {
            "type": self.values["type"].value,
            "description": self.values["description"] or "",
            "stale": self.values["stale"],
            "impression_data": self.values["impression_data"],
            "parent": self.values["parent"] or "",
        }

    @property
    def api_body(self) -> dict[str, Any]:
        """What the API takes of it in the request for the feature itself."""
        return {name: value for name, value in self.payload().items() if name != "parent"}


class NewTagForm(SchemaForm):
    """A tag to add, on the page of the picker."""

    schema = TagRef

    type = StringField("Type", name="new_type", id="new-type")
    value = StringField("Value")


def settings_of(view: FeatureView) -> Values:
    """The feature in the words of the form."""
    return {
        "type": view.feature.type.value,
        "description": view.feature.description or "",
        "stale": view.feature.stale,
        "impression_data": view.feature.impression_data,
        "parent": view.dependencies[0] if view.dependencies else "",
    }


def tagging_body(names: list[str], edit: Edit) -> dict[str, Any]:
    """The edit as the API takes it, its features cut where nobody reads on."""
    shown = [*names[:SHOWN_IN_BODY], "…"] if len(names) > SHOWN_IN_BODY else names
    return {
        "features": shown,
        "tags": {
            "addedTags": [tag._asdict() for tag in edit.added],
            "removedTags": [tag._asdict() for tag in edit.removed],
        },
    }
