from collections.abc import Sequence
from typing import Any

from wtforms import HiddenField, RadioField, StringField

from app.catalogue.releases.models import ReleaseTemplate
from app.catalogue.segments.models import Segment
from app.releases.plans import schemas
from app.releases.plans.schemas import BEGINNINGS
from app.releases.plans.service import ENDINGS, OFF
from app.releases.templates.forms import FIRST, StepsForm, step_data
from app.releases.templates.service import TemplateView
from app.web import moments
from app.web.conflicts import Values
from app.web.forms import ReasonField, SchemaForm
from app.web.moments import MinuteField
from app.web.templating import zone_name

NO_TEMPLATE = ""


class StartForm(StepsForm):
    """A release to start. ``templates``: those that it can take its steps from."""

    schema = schemas.StartInput

    template_id = RadioField("Template")
    steps_of = HiddenField()
    """The template whose steps the form shows."""
    begins = RadioField("First step starts", choices=BEGINNINGS)
    start_at = MinuteField("Date and time")
    when_stopped = RadioField("If the release is stopped", choices=ENDINGS)
    reason = ReasonField()

    def __init__(
        self,
        segments: Sequence[Segment],
        templates: Sequence[TemplateView],
        chosen: ReleaseTemplate | None,
    ) -> None:
        super().__init__(segments, form_data(chosen))
        self.templates = templates
        self.template_id.choices = [*(each.template.id for each in templates), NO_TEMPLATE]
        self.start_at.description = f"In {zone_name()}."

    @property
    def has_other_steps(self) -> bool:
        """Whether another template was chosen since its steps were taken."""
        return self.sent is not None and self.steps_of.data != self.template_id.data

    def take_steps(self, template: ReleaseTemplate | None) -> None:
        """Show the steps of a template, or of none, instead of those that were sent."""
        data = form_data(template)
        self.parts["step"] = data["milestones"]
        self.advance.data, self.last.data = data["advance"], data["last"]
        self.steps_of.data = data["steps_of"]

    def payload(self) -> dict[str, Any]:
        sent = super().payload()
        if not sent.get("templateId"):
            sent.pop("templateId", None)
        if sent["begins"] == "at" and (text := sent.get("startAt")):
            sent["startAt"] = moments.moment(text, "startAt")
        else:
            sent["startAt"] = None
        return sent


def form_data(template: ReleaseTemplate | None) -> Values:
    """Initial values, with the steps of a template; None: one step."""
    steps = step_data(template.steps if template else [])
    if template is None:
        steps["milestones"] = [dict(FIRST)]
    id = template.id if template else NO_TEMPLATE
    return {
        "template_id": id,
        "steps_of": id,
        "begins": BEGINNINGS[0],
        "start_at": "",
        "when_stopped": OFF,
        **steps,
    }


class StopForm(SchemaForm):
    """Why a release is stopped or put on hold."""

    schema = schemas.ReleaseReason

    reason = StringField("Reason", description="Goes into the event log.")
