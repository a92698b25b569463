import re
from typing import Any

from wtforms import DateTimeLocalField, HiddenField, StringField, TextAreaField

from app.releases.change_requests.schemas import Decision
from app.releases.change_requests.views import View
from app.web.forms import SchemaForm

_is_minute = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?").fullmatch


class _UtcMinute(StringField):
    """A date and a time in UTC, as the browser’s own control sends it."""

    widget = DateTimeLocalField.widget


class DecisionForm(SchemaForm):
    """A decision about a change request. Its buttons are named ``to``."""

    schema = Decision

    version = HiddenField()
    comment = TextAreaField("Comment or reason", description="Needed when you reject.")
    title = StringField("Title")
    description = TextAreaField("Why", description="Helps the people who review it.")
    scheduled_at = _UtcMinute("Date and time", description="In UTC, not in your own time zone.")

    def __init__(self, view: View) -> None:
        at = view.request.scheduled_at
        super().__init__(
            data={
                "title": view.request.title or "",
                "description": view.request.description or "",
                "scheduled_at": f"{at:%Y-%m-%dT%H:%M}" if at else "",
            }
        )

    def payload(self) -> dict[str, Any]:
        sent = super().payload()
        typed = str(sent.get("scheduledAt") or "")
        if _is_minute(typed):  # browsers leave out zero seconds, and the time zone
            sent["scheduledAt"] = f"{typed if typed.count(':') > 1 else typed + ':00'}Z"
        return sent
