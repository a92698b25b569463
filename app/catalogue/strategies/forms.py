from collections.abc import Iterable
from typing import Any

from wtforms import StringField

from app.catalogue.strategies import schemas_types as schemas
from app.catalogue.strategies.models import CustomParameter, StrategyType
from app.web.conflicts import Values
from app.web.forms import ReasonField
from app.web.parts import PartKind, PartsForm

PARAMETER = PartKind(
    path="parameters",
    title="Parameter",
    empty={"name": "", "type": "string", "description": "", "required": False},
    main="name",
)
TYPES = {
    "string": "text",
    "percentage": "percentage",
    "list": "list",
    "number": "number",
    "boolean": "true or false",
}
"""Labels of the types of parameters."""


class _Fields(PartsForm):
    kinds = {"parameter": PARAMETER}  # noqa: RUF012 - read from the class

    description = StringField("Description", description="Who it chooses.")
    reason = ReasonField()

    def payload(self) -> dict[str, Any]:
        return super().payload() | {"parameters": self.parts["parameter"]}


class NewStrategyTypeForm(_Fields):
    schema = schemas.NewStrategyType

    name = StringField(
        "Name",
        description="As applications know it, so it can’t be changed later. Letters, digits and "
        "_ ~ . -",
    )


class StrategyTypeForm(_Fields):
    schema = schemas.StrategyTypeChanges


EMPTY: Values = {"description": "", "parameters": []}


def form_data(type: StrategyType) -> Values:
    """The type as the form's values."""
    return {
        "description": type.description or "",
        "parameters": [dict(parameter) for parameter in type.parameters],
    }


def display_values(settings: Values) -> Values:
    """The settings with the parameters in a few words each."""
    return settings | {"parameters": parameter_labels(settings["parameters"])}


def parameter_labels(parameters: Iterable[CustomParameter]) -> list[str]:
    """Each like ``regions (list, required)``."""
    return [
        f"{each['name']} ({TYPES[each['type']]}{', required' if each['required'] else ''})"
        for each in parameters
    ]
