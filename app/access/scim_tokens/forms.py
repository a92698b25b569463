from typing import Any

from wtforms import SelectChoice, SelectField, StringField

from app.access.scim_tokens import schemas
from app.accounts.tokens.forms import DAYS, NEVER, in_days
from app.core.clock import utcnow
from app.web.forms import ReasonField, SchemaForm
from app.web.schemas import Timestamp


class ScimTokenForm(SchemaForm):
    schema = schemas.NewScimToken

    token_name = StringField("Name", description="Which directory it is for.")
    lasts = SelectField(
        "Expires",
        choices=[
            *(SelectChoice(days, f"In {days} days") for days in DAYS),
            SelectChoice(NEVER, "Never"),
        ],
    )
    reason = ReasonField()

    def __init__(self) -> None:
        super().__init__(data={"lasts": DAYS[-1]})

    def payload(self) -> dict[str, Any]:
        at = in_days(self.lasts.data, utcnow())
        return {
            "tokenName": self.token_name.data or "",
            "expiresAt": Timestamp().serialize("at", {"at": at}),
        }
