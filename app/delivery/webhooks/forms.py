from collections.abc import Iterator, Sequence
from typing import Any

from wtforms import BooleanField, SelectMultipleField, StringField

from app.core.events.event_types import EventType, Subject, types_about
from app.delivery.webhooks import schemas
from app.delivery.webhooks.models import ALL, Webhook
from app.web.conflicts import Values, display_value
from app.web.forms import ReasonField, SchemaForm

NEW: Values = {"event_types": [], "projects": [ALL]}


class _Fields(SchemaForm):
    name = StringField("Name", description="For example “Payments channel”.")
    url = StringField("Address", description="The operator decides which hosts are allowed.")
    event_types = SelectMultipleField("Events")
    projects = SelectMultipleField("Projects")
    reason = ReasonField()

    def __init__(self, offered: Sequence[tuple[str, str]], data: Values) -> None:
        super().__init__(data=data)
        self.offered = [*offered]
        known = {ALL, *(id for id, _ in offered)}
        # The list is limited: a webhook can have projects that it doesn't offer.
        sent = [id for id in self.projects.data or () if id.strip() and id not in known]
        self.offered += [(id, id) for id in sent]
        for field in (self.event_types, self.projects):
            field.validate_choice = False

    def validate(self, extra_validators: Any = None) -> bool:
        super().validate(extra_validators)
        for field, what in ((self.event_types, "event"), (self.projects, "project")):
            if not field.data:
                field.errors = [f"Choose at least one {what}, or all"]
        return not self.problems

    @property
    def groups(self) -> Iterator[tuple[str, list[EventType], bool]]:
        """Yield each subject with its types of event, and whether any of them is chosen."""
        chosen = set(self.event_types.data or ())
        for subject in Subject:
            types = list(types_about(subject))
            yield subject.heading, types, not chosen.isdisjoint(types)


class NewWebhookForm(_Fields):
    schema = schemas.NewWebhook


class WebhookForm(_Fields):
    schema = schemas.WebhookChanges

    paused = BooleanField("Paused. Events in the meantime aren’t sent later.")

    def __init__(self, offered: Sequence[tuple[str, str]], data: Values) -> None:
        super().__init__(offered, data)
        self.name.flags.required = self.url.flags.required = True


def form_data(webhook: Webhook) -> Values:
    """The webhook as the form's values."""
    return {
        "name": webhook.name,
        "url": webhook.url,
        "event_types": webhook.event_types,
        "projects": webhook.projects,
        "paused": webhook.paused,
    }


def display_values(settings: Values) -> Values:
    """Return the settings with lists as text, and as ``all`` if they contain ``*``."""
    found = dict(settings)
    for name in ("event_types", "projects"):
        found[name] = "all" if ALL in settings[name] else display_value(settings[name])
    return found
