from wtforms import SelectChoice, SelectField, StringField

from app.catalogue.environments import schemas
from app.catalogue.environments.models import EnvironmentType
from app.web.forms import ReasonField, SchemaForm

TYPES = [SelectChoice(type.value, type.value.capitalize()) for type in EnvironmentType]


class NewEnvironmentForm(SchemaForm):
    schema = schemas.NewEnvironment

    name = StringField(
        "Name",
        description="Applications use this name, so it can’t be changed later. "
        "Letters, digits and _ ~ . -",
    )
    type = SelectField("Type", choices=[SelectChoice("", "Choose a type"), *TYPES])
    sort_order = StringField(
        "Position",
        description="A number. Environments are listed from low to high. "
        "Leave empty to put this one last.",
    )
    reason = ReasonField()


class EnvironmentForm(SchemaForm):
    schema = schemas.EnvironmentChanges

    type = SelectField("Type", choices=TYPES)
    sort_order = StringField(
        "Position", description="A number. Environments are listed from low to high."
    )
    reason = ReasonField()
