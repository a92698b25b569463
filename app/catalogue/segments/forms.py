from typing import Any, cast

from wtforms import SelectField, StringField

from app.catalogue.constraints import forms as constraints
from app.catalogue.constraints.models import Constraint
from app.catalogue.constraints.words import describe_all, plain
from app.catalogue.segments import schemas
from app.catalogue.segments.models import Segment
from app.web.conflicts import Values
from app.web.forms import ReasonField
from app.web.parts import PartsForm


class _Fields(PartsForm):
    kinds = {"constraint": constraints.KIND}  # noqa: RUF012 - read from the class

    name = StringField("Name")
    description = StringField("Description")
    project = SelectField("Available in")
    reason = ReasonField()

    def __init__(self, projects: list[tuple[str, str]], data: Values) -> None:
        super().__init__(data)
        self.name.flags.required = True
        self.project.choices = [("", "All projects"), *projects]

    def payload(self) -> dict[str, Any]:
        return super().payload() | {
            "constraints": [constraints.as_json(each) for each in self.parts["constraint"]]
        }


class NewSegmentForm(_Fields):
    schema = schemas.NewSegment


class SegmentForm(_Fields):
    schema = schemas.SegmentChanges


EMPTY: Values = {
    "name": "",
    "description": "",
    "project": "",
    "constraints": [dict(constraints.KIND.empty)],
}


def form_data(segment: Segment) -> Values:
    """The segment as the form's values."""
    return {
        "name": segment.name,
        "description": segment.description or "",
        "project": segment.project_id or "",
        "constraints": [constraints.as_inputs(each) for each in segment.constraints],
    }


def display_values(settings: Values) -> Values:
    """The settings with the constraints as a sentence."""
    found = [cast(Constraint, constraints.as_json(each)) for each in settings["constraints"]]
    return settings | {
        "constraints": plain(describe_all(found)) if found else "",
        "project": settings["project"] or "all projects",
    }
