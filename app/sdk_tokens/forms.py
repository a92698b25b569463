from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from wtforms import RadioField, SelectChoice, SelectField, SelectMultipleField, StringField

from app.core.clock import utcnow
from app.sdk_tokens import schemas
from app.sdk_tokens.models import SdkTokenType
from app.web.forms import ReasonField, SchemaForm
from app.web.schemas import Timestamp

LASTS = (("", "Never"), ("30", "In 30 days"), ("90", "In 90 days"), ("365", "In 1 year"))
USUAL = {"lasts": "365"}


class ConnectForm(SchemaForm):
    """A token for one project, which the address names."""

    schema = schemas.NewProjectToken

    token_name = StringField(
        "Application name", description="For example “web-shop”. Must differ from other SDK tokens."
    )
    environment = RadioField("Environment")
    lasts = SelectField("Expires", choices=[SelectChoice(*choice) for choice in LASTS])
    reason = ReasonField()

    def __init__(self, environments: Sequence[str]) -> None:
        super().__init__(data=USUAL)
        self.environment.choices = environments
        self.environment.validate_choice = False

    def validate(self, extra_validators: Any = None) -> bool:
        super().validate(extra_validators)
        if not self.environment.data:
            self.environment.errors = ["Choose an environment"]
        return not self.problems

    def payload(self) -> dict[str, Any]:
        days = self.lasts.data or ""
        at = utcnow() + timedelta(days=int(days)) if days in dict(LASTS) and days else None
        return super().payload() | {
            "type": SdkTokenType.CLIENT.value,
            "expiresAt": Timestamp().serialize("at", {"at": at}),
        }


class ConnectAnywhereForm(ConnectForm):
    """A token for the projects that are chosen."""

    schema = schemas.NewSdkToken

    projects = SelectMultipleField("Projects")

    def __init__(self, environments: Sequence[str]) -> None:
        super().__init__(environments)
        self.projects.validate_choice = False

    def validate(self, extra_validators: Any = None) -> bool:
        super().validate(extra_validators)
        if not self.projects.data:
            self.projects.errors = ["Choose at least one project, or all projects"]
        return not self.problems
