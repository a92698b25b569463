from wtforms import BooleanField, SelectField, StringField

from app.core.conflicts import Values
from app.core.forms import ReasonField, SchemaForm
from app.environments import schemas
from app.environments.models import Environment, EnvironmentType

TYPES = [type.value for type in EnvironmentType]


class NewEnvironmentForm(SchemaForm):
    schema = schemas.NewEnvironment

    name = StringField(
        "Name",
        description="Programs name it, so it can’t be changed later. Letters, digits _ ~ . -",
    )
    type = SelectField("Type", choices=TYPES)
    sort_order = StringField(
        "Place in the order", description="A number; left empty, it comes last."
    )
    reason = ReasonField()


class EnvironmentForm(SchemaForm):
    schema = schemas.EnvironmentChanges

    type = SelectField("Type", choices=TYPES)
    sort_order = StringField("Place in the order", description="A number; the lowest comes first.")
    deprecated = BooleanField("Deprecated: new projects don’t get it by themselves")
    reason = ReasonField()


def settings_of(environment: Environment) -> Values:
    """The environment in the words of the form."""
    return {
        "type": environment.type.value,
        "sort_order": str(environment.sort_order),
        "deprecated": environment.deprecated,
    }
