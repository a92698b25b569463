from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from wtforms import SelectChoice, SelectField, StringField

from app.core.db import utcnow
from app.core.forms import ReasonField, SchemaForm
from app.tokens import schemas

DAYS = ("7", "30", "90", "365")
ON_A_DATE, NEVER = "date", "never"


class TokenForm(SchemaForm):
    schema = schemas.NewToken

    description = StringField("What it is for", description="Unique among the tokens here.")
    lasts = SelectField(
        "Expires",
        choices=[
            *(SelectChoice(days, f"In {days} days") for days in DAYS),
            SelectChoice(ON_A_DATE, "On the date below"),
            SelectChoice(NEVER, "Never"),
        ],
    )
    expires_at = StringField("Date", description="At the end of that day, UTC.")
    reason = ReasonField()

    def __init__(self) -> None:
        super().__init__(data={"lasts": "90"})

    def payload(self) -> dict[str, Any]:
        return {"description": self.description.data or "", "expiresAt": self._expires_at()}

    def _expires_at(self) -> str | None:
        lasts = self.lasts.data
        if lasts == NEVER:
            return None
        if lasts in DAYS:
            at = utcnow() + timedelta(days=int(lasts))
        else:
            try:
                day = date.fromisoformat(self.expires_at.data or "")
            except ValueError:
                return self.expires_at.data or "no date"  # the schema says what it wants instead
            at = datetime.combine(day, time.max, UTC)
        return f"{at.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


class RotationForm(SchemaForm):
    schema = schemas.Rotation

    overlap_hours = SelectField(
        "The old one works on for",
        choices=[
            SelectChoice("0", "No time: it stops now"),
            SelectChoice("1", "1 hour"),
            SelectChoice("24", "24 hours"),
            SelectChoice("168", "7 days"),
        ],
    )
    reason = ReasonField()
