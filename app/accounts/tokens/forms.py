from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from wtforms import SelectChoice, SelectField, StringField

from app.accounts.tokens import schemas
from app.core.clock import utcnow
from app.web.forms import ReasonField, SchemaForm
from app.web.schemas import Timestamp

DAYS = ("7", "30", "90", "365")
ON_A_DATE, NEVER = "date", "never"


def in_days(choice: str | None, now: datetime) -> datetime | None:
    """When a token that lasts this many days expires; None if it never does."""
    return now + timedelta(days=int(choice)) if choice in DAYS else None


class TokenForm(SchemaForm):
    schema = schemas.NewToken

    description = StringField(
        "Description", description="What the token is for. Must differ from your other tokens."
    )
    lasts = SelectField(
        "Expires",
        choices=[
            *(SelectChoice(days, f"In {days} days") for days in DAYS),
            SelectChoice(ON_A_DATE, "On a date"),
            SelectChoice(NEVER, "Never"),
        ],
    )
    expires_at = StringField("Date", description="The token expires at the end of that day, UTC.")
    reason = ReasonField()

    def __init__(self) -> None:
        super().__init__(data={"lasts": "90"})

    def validate(self, extra_validators: Any = None) -> bool:
        super().validate(extra_validators)
        if self.lasts.data == ON_A_DATE and self._date() is None:
            self.show([("expires_at", "Enter a date, like 2026-11-21")])
        if self.lasts.data != ON_A_DATE and self.expires_at.data:
            self.show([("expires_at", "Choose “On a date” to use this date, or clear it")])
        return not self.problems

    def payload(self) -> dict[str, Any]:
        at = self._expires_at()
        return {
            "description": self.description.data or "",
            "expiresAt": Timestamp().serialize("at", {"at": at}),
        }

    def _expires_at(self) -> datetime | None:
        if self.lasts.data in DAYS:
            return in_days(self.lasts.data, utcnow())
        day = self._date() if self.lasts.data == ON_A_DATE else None
        return datetime.combine(day, time.max, UTC) if day else None

    def _date(self) -> date | None:
        try:
            return date.fromisoformat(self.expires_at.data or "")
        except ValueError:
            return None


class RotationForm(SchemaForm):
    schema = schemas.Rotation

    overlap_hours = SelectField(
        "Keep the old token working for",
        choices=[
            SelectChoice("0", "0 hours (stop it now)"),
            SelectChoice("1", "1 hour"),
            SelectChoice("24", "24 hours"),
            SelectChoice("168", "7 days"),
        ],
    )
    reason = ReasonField()
