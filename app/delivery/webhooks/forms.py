from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from wtforms import BooleanField, SelectChoice, SelectField, SelectMultipleField, StringField

from app.core.events.event_types import EventType, Subject, types_about
from app.delivery.webhooks import schemas
from app.delivery.webhooks.models import ALL, Webhook
from app.web.conflicts import Values, display_value
from app.web.forms import ReasonField, SchemaForm

NEW: Values = {"event_types": [], "projects": [ALL], "environments": [ALL]}


class Offered(NamedTuple):
    """What the forms offer: ids and names of projects, and names of environments and channels."""

    projects: Sequence[tuple[str, str]]
    environments: Sequence[str]
    channels: Sequence[str]


def _others(field: SelectMultipleField, known: Collection[str]) -> list[str]:
    """What was chosen besides what is offered."""
    return [one for one in field.data or () if one.strip() and one != ALL and one not in known]


def _choice(channel: str) -> SelectChoice:
    return SelectChoice(channel, f"Channel {channel}")


class _Fields(SchemaForm):
    name = StringField("Name", description="For example “Payments channel”.")
    channel = SelectField("Send to")
    url = StringField("Address", description="The operator decides which hosts are allowed.")
    event_types = SelectMultipleField("Events")
    projects = SelectMultipleField("Projects")
    environments = SelectMultipleField("Environments")
    reason = ReasonField()

    def __init__(self, offered: Offered, data: Values) -> None:
        super().__init__(data=data)
        # The list of projects is limited: a webhook can have some that it doesn't offer.
        others = _others(self.projects, {id for id, _ in offered.projects})
        self.offered = [*offered.projects, *((id, id) for id in others)]
        names = offered.environments
        self.offered_environments = [*names, *_others(self.environments, names)]
        own = SelectChoice("", "Your own address, in signed requests")
        self.channel.choices = [own, *map(_choice, offered.channels)]
        for field in (self.event_types, self.projects, self.environments):
            field.validate_choice = False

    def validate(self, extra_validators: Any = None) -> bool:
        super().validate(extra_validators)
        for field, what in (
            (self.event_types, "event"),
            (self.projects, "project"),
            (self.environments, "environment"),
        ):
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

    def __init__(self, offered: Offered, data: Values) -> None:
        super().__init__(offered, data)
        self.url.flags.required = not offered.channels


class WebhookForm(_Fields):
    schema = schemas.WebhookChanges

    paused = BooleanField("Paused. Events in the meantime aren’t sent later.")

    def __init__(self, offered: Offered, data: Values) -> None:
        super().__init__(offered, data)
        other = "url" if data["channel"] else "channel"
        del self[other], self.rules[other]
        self.name.flags.required = True
        if data["channel"]:
            names = sorted({data["channel"], *offered.channels})
            self.channel.choices = [*map(_choice, names)]
        else:
            self.url.flags.required = True


def form_data(webhook: Webhook) -> Values:
    """The webhook as the form's values."""
    return {
        "name": webhook.name,
        "url": webhook.url,
        "channel": webhook.channel,
        "event_types": webhook.event_types,
        "projects": webhook.projects,
        "environments": webhook.environments,
        "paused": webhook.paused,
    }


def display_values(settings: Values) -> Values:
    """Return the settings with lists as text, and as ``all`` if they contain ``*``."""
    found = dict(settings)
    for name in ("event_types", "projects", "environments"):
        found[name] = "all" if ALL in settings[name] else display_value(settings[name])
    return found
