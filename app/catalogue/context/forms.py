from typing import Any

from wtforms import BooleanField, StringField, TextAreaField

from app.catalogue.context import schemas
from app.catalogue.context.models import ContextField, LegalValue
from app.web.conflicts import Values
from app.web.forms import ReasonField, SchemaForm


class _Fields(SchemaForm):
    description = StringField("Description", description="What it says about the person who asks.")
    stickiness = BooleanField("Can be used for stickiness")
    legal_values = TextAreaField(
        "Legal values",
        description="One per line. Text after a space describes it. Empty means any value is "
        "allowed.",
    )
    reason = ReasonField()

    def payload(self) -> dict[str, Any]:
        return super().payload() | {"legalValues": _read(self.legal_values.data or "")}


class NewContextFieldForm(_Fields):
    schema = schemas.NewContextField

    name = StringField(
        "Name",
        description="As applications send it, so it can’t be changed later. Letters, digits and "
        "_ ~ . -",
    )


class ContextFieldForm(_Fields):
    schema = schemas.ContextFieldChanges


def form_data(field: ContextField) -> Values:
    """The field as the form's values."""
    return {
        "description": field.description or "",
        "stickiness": field.stickiness,
        "legal_values": "\n".join(map(_line, field.legal_values)),
    }


def display_values(settings: Values) -> Values:
    """The settings with one line for all legal values."""
    values = ", ".join(legal["value"] for legal in _read(settings["legal_values"]))
    return settings | {"legal_values": values}


def _read(text: str) -> list[dict[str, Any]]:
    """Each line as a value and, after a space, its description."""
    lines = [line.strip().partition(" ") for line in text.splitlines() if line.strip()]
    return [{"value": value, "description": rest.strip() or None} for value, _, rest in lines]


def _line(legal: LegalValue) -> str:
    return f"{legal['value']} {legal['description'] or ''}".strip()
