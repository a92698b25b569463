import re
from datetime import datetime
from typing import Any

from marshmallow import ValidationError
from wtforms import DateTimeLocalField, HiddenField, StringField, TextAreaField

from app.core.clock import in_text, in_zone
from app.releases.change_requests.schemas import Decision
from app.releases.change_requests.views import View
from app.web.current import current_zone
from app.web.forms import SchemaForm
from app.web.templating import local, zone_name

_is_minute = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?").fullmatch


class _Minute(StringField):
    """A date and a time in the reader's zone, as the browser’s own control sends it."""

    widget = DateTimeLocalField.widget


class DecisionForm(SchemaForm):
    """A decision about a change request. Its buttons are named ``to``."""

    schema = Decision

    version = HiddenField()
    comment = TextAreaField("Comment or reason", description="Needed when you reject.")
    title = StringField("Title")
    description = TextAreaField("Why", description="Helps the people who review it.")
    scheduled_at = _Minute("Date and time")

    def __init__(self, view: View) -> None:
        at = view.request.scheduled_at
        super().__init__(
            data={
                "title": view.request.title or "",
                "description": view.request.description or "",
                "scheduled_at": f"{local(at):%Y-%m-%dT%H:%M}" if at else "",
            }
        )
        self.scheduled_at.description = f"In {zone_name()}."

    def payload(self) -> dict[str, Any]:
        sent = super().payload()
        typed = str(sent.get("scheduledAt") or "")
        if _is_minute(typed):  # browsers leave out zero seconds, and the time zone
            sent["scheduledAt"] = _moment(typed)
        return sent


def _moment(typed: str) -> str:
    """The text of the moment when clocks in the reader's time zone show this."""
    try:
        wall = datetime.fromisoformat(typed)
    except ValueError:
        return typed  # which the schema refuses
    try:
        return in_text(in_zone(wall, current_zone()))
    except (ValueError, OverflowError):
        message = f"{wall:%H:%M} doesn’t exist on that day in {zone_name()}. Choose another time."
        raise ValidationError({"scheduledAt": [message]}) from None
