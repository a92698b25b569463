from typing import Any

from wtforms import HiddenField, StringField, TextAreaField

from app.releases.change_requests.schemas import Decision
from app.releases.change_requests.views import View
from app.web import moments
from app.web.forms import SchemaForm
from app.web.moments import MinuteField
from app.web.templating import zone_name


class DecisionForm(SchemaForm):
    """A decision about a change request. Its buttons are named ``to``."""

    schema = Decision

    version = HiddenField()
    comment = TextAreaField("Comment or reason", description="Needed when you reject.")
    title = StringField("Title")
    description = TextAreaField("Why", description="Helps the people who review it.")
    scheduled_at = MinuteField("Date and time")

    def __init__(self, view: View) -> None:
        at = view.request.scheduled_at
        super().__init__(
            data={
                "title": view.request.title or "",
                "description": view.request.description or "",
                "scheduled_at": moments.typed(at),
            }
        )
        self.scheduled_at.description = f"In {zone_name()}."

    def payload(self) -> dict[str, Any]:
        sent = super().payload()
        if text := sent.get("scheduledAt"):
            sent["scheduledAt"] = moments.moment(text, "scheduledAt")
        return sent
