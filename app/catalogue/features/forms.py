from collections.abc import Iterable
from typing import Any

from wtforms import (
    BooleanField,
    RadioField,
    SelectChoice,
    SelectField,
    StringField,
    TextAreaField,
)

from app.catalogue.features import schemas
from app.catalogue.features.bulk import Settings
from app.catalogue.features.models import FEATURE_TYPES, CompletedStatus, Stage, StaleReason
from app.catalogue.features.queries import FeatureView
from app.catalogue.features.stale import USUAL, StaleFilter, UsageFilter
from app.core.words import counted
from app.web.conflicts import Values
from app.web.forms import ReasonField, SchemaForm, as_inputs
from app.web.parts import PartKind, PartsForm

TYPE_NAMES = {type.value: words.partition(":")[0] for type, words in FEATURE_TYPES.items()}
STATES = {"true": "Stale", "false": "Not stale"}
STAGES = {
    Stage.INITIAL.value: "Initial",
    Stage.PRE_LIVE.value: "Pre-live",
    Stage.LIVE.value: "Live",
    Stage.COMPLETED.value: "Completed",
    Stage.ARCHIVED.value: "Archived",
}
ENTERED = {
    Stage.INITIAL.value: "Created",
    Stage.PRE_LIVE.value: "First checked",
    Stage.LIVE.value: "First on in production",
    Stage.COMPLETED.value: "Marked as completed",
    Stage.ARCHIVED.value: "Archived",
}
"""How a feature enters each stage."""
COMPLETIONS = {
    CompletedStatus.KEPT.value: "Kept: its code stays, for everyone",
    CompletedStatus.DISCARDED.value: "Discarded: its code is removed",
}
SHOWN_IN_BODY = 20


def cut(names: list[str]) -> list[str]:
    """Names for an example of an API request: the first SHOWN_IN_BODY, then “…”."""
    return [*names[:SHOWN_IN_BODY], "…"] if len(names) > SHOWN_IN_BODY else names


class _FeatureForm(SchemaForm):
    type = SelectField(
        "Type", choices=[SelectChoice(type.value, words) for type, words in FEATURE_TYPES.items()]
    )
    description = TextAreaField("Description", description="What it’s for and who to ask about it.")
    impression_data = BooleanField("Impression data: SDKs raise an event for each check")


class NewFeatureForm(_FeatureForm):
    schema = schemas.NamedFeature

    name = StringField(
        "Name",
        description="Applications ask for the feature by this name, so it can’t be changed later. "
        "Use letters, digits and . _ ~ -",
    )


class PasteForm(SchemaForm):
    schema = schemas.PastedList

    names = TextAreaField(
        "Feature names",
        description="One per line, or separated by commas or spaces, as copied from a table or a "
        "file. The next page shows which names were not found, before anything changes.",
    )


class FeatureForm(_FeatureForm):
    schema = schemas.FeatureSettings

    stale = BooleanField("Stale: ready to be removed from code")
    reason = ReasonField()

    @property
    def settings(self) -> Values:
        """Values of a valid form, in the shape of ``inputs_of``."""
        return as_inputs(self.values)


class LinksForm(PartsForm):
    """A line for each link. Those without an address and a title are not there."""

    schema = schemas.LinkLines
    kinds = {  # noqa: RUF012 - read from the class
        "link": PartKind("links", "Link", empty={"id": "", "url": "", "title": ""}, main="url")
    }

    reason = ReasonField()

    def validate(self, extra_validators: Any = None) -> bool:
        lines = self.parts["link"]
        self.parts["link"] = [line for line in lines if line["url"] or line["title"]]
        return super().validate(extra_validators)

    def payload(self) -> dict[str, Any]:
        return super().payload() | {"links": self.parts["link"]}

    @classmethod
    def inputs_of(cls, thing: Any) -> Values:
        return {"links": [as_inputs(link._asdict()) for link in thing.links]}


class CompletionForm(SchemaForm):
    schema = schemas.Completion

    status = RadioField(
        "Outcome",
        choices=[SelectChoice(value, words) for value, words in COMPLETIONS.items()],
    )
    status_value = StringField("Variant", description="Which variant was kept, if it had several.")
    reason = ReasonField()


class ParentForm(SchemaForm):
    schema = schemas.ChosenParent

    parent = StringField(
        "Depends on",
        description="The feature is off wherever this parent is off. Leave empty for none.",
    )
    reason = ReasonField()


def proposals(days: int) -> dict[str, str]:
    """Why features are proposed as stale, in words."""
    span = f"for {counted(days, 'day')}"
    return {
        StaleReason.UNUSED.value: f"Unused {span}",
        StaleReason.EVERYWHERE.value: f"On for everyone {span}",
        StaleReason.LIFETIME.value: "Past its lifetime",
    }


def filter_choices(days: int, environments: Iterable[str] = ()) -> dict[str, dict[str, str]]:
    """Options of filters of lists, with labels.

    ``days``: FLAGSTAFF_STALE_AFTER_DAYS. ``environments``: in which to filter by state.
    """
    return {
        "state": {
            f"{state}:{name}": f"{state.capitalize()} in {name}"
            for name in environments
            for state in ("on", "off")
        },
        "type": TYPE_NAMES,
        "stale": STATES,
        "stage": STAGES,
        "usage": {
            UsageFilter.USED.value: f"In the last {counted(days or USUAL.days, 'day')}",
            UsageFilter.UNUSED.value: f"Not for {counted(days or USUAL.days, 'day')}",
            UsageFilter.NEVER.value: "Never",
        },
        "staleProposal": {
            StaleFilter.ANY.value: "Any reason",
            StaleFilter.UNUSED.value: "Unused",
            StaleFilter.EVERYWHERE.value: "On for everyone",
            StaleFilter.LIFETIME.value: "Past its lifetime",
        },
    }


def parent_of(view: FeatureView) -> Values:
    """The feature's parent by the name of the form's field."""
    return {"parent": view.dependencies[0].feature if view.dependencies else ""}


def bulk_requests(project_id: str, names: list[str], settings: Settings) -> list[tuple[str, Any]]:
    """The paths and bodies of the API requests that apply the settings."""
    return [
        (f"/api/admin/projects/{project_id}/{key}", {"features": cut(names), key: value})
        for key, value in settings.items()
    ]


def archive_body(names: list[str], detach: list[str]) -> dict[str, Any]:
    """The plan as a body of the API; a long list of features is cut."""
    body: dict[str, Any] = {"features": cut(names)}
    return body | {"removeDependenciesOn": detach} if detach else body
