from collections.abc import Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Any

from wtforms import RadioField, SelectChoice, SelectField, SelectMultipleField, StringField

from app.catalogue.sdk_tokens import schemas
from app.catalogue.sdk_tokens.models import SdkTokenType
from app.core.clock import utcnow
from app.web.forms import ReasonField, SchemaForm
from app.web.schemas import Timestamp

LASTS = (("", "Never"), ("30", "In 30 days"), ("90", "In 90 days"), ("365", "In 1 year"))


class TokenPlace(StrEnum):
    """Where an application runs, and so which token and code it needs."""

    SERVER = "server"
    BROWSER = "browser"
    OPEN_FEATURE = "openfeature"

    @property
    def token_type(self) -> SdkTokenType:
        return SdkTokenType.FRONTEND if self is TokenPlace.BROWSER else SdkTokenType.CLIENT

    @property
    def heading(self) -> str:
        return PLACE_WORDS[self][0]

    @property
    def words(self) -> str:
        return PLACE_WORDS[self][1]


PLACE_WORDS = {
    TokenPlace.SERVER: (
        "On a server",
        (
            "Node, Next.js, Python, Java, Go, .NET, Ruby or PHP. Reads the rules and decides "
            "itself, so it works when Flagstaff is down. Keep the token secret."
        ),
    ),
    TokenPlace.BROWSER: (
        "In a browser or on a phone",
        (
            "JavaScript, React, Swift, Kotlin or Flutter. Flagstaff decides. The application gets "
            "only what is on for its user. The token can be public."
        ),
    ),
    TokenPlace.OPEN_FEATURE: (
        "On a server, with OpenFeature",
        "Any language with an OFREP provider. Flagstaff decides. Keep the token secret.",
    ),
}
USUAL = {"lasts": "365", "place": TokenPlace.SERVER.value}


class ConnectForm(SchemaForm):
    """A token for one project, which is in the address."""

    schema = schemas.NewProjectToken

    token_name = StringField(
        "Application name",
        description="For example “web-shop”. The same in each environment that it reads.",
    )
    place = RadioField("Where it runs", choices=[place.value for place in TokenPlace])
    environment = RadioField("Environment")
    lasts = SelectField("Expires", choices=[SelectChoice(*choice) for choice in LASTS])
    reason = ReasonField()

    def __init__(self, environments: Sequence[str], **chosen: Any) -> None:
        """``environments``: to choose from. ``chosen``: further initial values."""
        usual = "development" if "development" in environments else None
        if len(environments) == 1:
            [usual] = environments
        super().__init__(data={**USUAL, "environment": usual, **chosen})
        self.place.validate_choice = False
        self.environment.choices = environments
        self.environment.validate_choice = False

    def validate(self, extra_validators: Any = None) -> bool:
        super().validate(extra_validators)
        if not self.environment.data:
            self.environment.errors = ["Choose an environment"]
        return not self.problems

    @property
    def where(self) -> TokenPlace:
        """Where the application runs; by default on a server."""
        known = {place.value: place for place in TokenPlace}
        return known.get(self.place.data, TokenPlace.SERVER)

    def payload(self) -> dict[str, Any]:
        days = self.lasts.data or ""
        at = utcnow() + timedelta(days=int(days)) if days in dict(LASTS) and days else None
        return super().payload() | {
            "type": self.where.token_type.value,
            "expiresAt": Timestamp().serialize("at", {"at": at}),
        }


class ConnectAnywhereForm(ConnectForm):
    """A token for any projects."""

    schema = schemas.NewSdkToken

    projects = SelectMultipleField("Projects")

    def __init__(self, environments: Sequence[str], projects: Sequence[str]) -> None:
        """``projects``: the ids to choose from. The only one is chosen already."""
        super().__init__(environments, projects=projects if len(projects) == 1 else [])
        self.projects.validate_choice = False

    def validate(self, extra_validators: Any = None) -> bool:
        super().validate(extra_validators)
        if not self.projects.data:
            self.projects.errors = ["Choose at least one project, or all projects"]
        return not self.problems
