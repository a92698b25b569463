import re
from functools import partial
from typing import Any

from marshmallow import ValidationError, fields, validate, validates_schema

from app.core.events.event_types import EventType
from app.core.targets import PATTERN, Target, parse
from app.delivery.webhooks.models import ALL, MAX_CHANNEL, MAX_URL, DeliveryStatus
from app.delivery.webhooks.traffic import WebhookState
from app.web.listing import PageQuery
from app.web.schemas import Key, Schema, SingleLine, StrictBoolean, StrictList, Timestamp

MAX_CHOSEN = 500

_is_url = re.compile(PATTERN).fullmatch


class _Url(fields.String):
    """A URL, with its host in lower case and without the default port."""

    default_error_messages = {  # noqa: RUF012 - marshmallow's own way to set it
        "invalid": "Must be a string.",
        "url": "Enter an address like https://hooks.example.com/flagstaff, without a user name.",
    }

    def __init__(self, **kwargs: Any) -> None:
        metadata = {"pattern": PATTERN, "description": "Its host must be allowed by the operator."}
        length = validate.Length(max=MAX_URL, error=f"Enter at most {MAX_URL} characters.")
        super().__init__(metadata=metadata, validate=length, **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> str:
        text: str = super()._deserialize(value, *args, **kwargs).strip()
        target = self._target(text)
        return f"{target.origin}{target.path}"

    def _target(self, text: str) -> Target:
        if not _is_url(text):
            raise self.make_error("url")
        try:
            return parse(text)
        except ValueError:
            raise self.make_error("url") from None


class _EventTypeOrAll(fields.String):
    default_error_messages = {  # noqa: RUF012 - as above
        "invalid": "Must be a string.",
        "unknown": "Must be * or a type of event, such as change-request-opened.",
    }
    known = (ALL, *(type.value for type in EventType))

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(metadata={"enum": list(self.known)}, **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> str:
        text: str = super()._deserialize(value, *args, **kwargs)
        if text not in self.known:
            raise self.make_error("unknown")
        return text


class _KeyOrAll(Key):
    def __init__(self, **kwargs: Any) -> None:
        metadata = {"pattern": r"^(\*|(?!\.\.?$)[A-Za-z0-9_~.-]+)$"}
        super().__init__(metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> str:
        return ALL if value == ALL else super()._deserialize(value, *args, **kwargs)


def _chosen(inner: fields.Field[Any], description: str) -> StrictList:
    error = f"Choose 1 to {MAX_CHOSEN}."
    return StrictList(
        inner,
        validate=validate.Length(min=1, max=MAX_CHOSEN, error=error),
        metadata={"minItems": 1, "maxItems": MAX_CHOSEN, "description": description},
    )


_channel = partial(
    SingleLine,
    high=MAX_CHANNEL,
    metadata={"description": "Instead of `url`: the name of a channel, from the operator."},
)


class _Settings(Schema):
    name = SingleLine(high=100, metadata={"description": "Must differ from other webhooks."})
    url = _Url()
    event_types = _chosen(_EventTypeOrAll(), "Which events are sent; `*` for all.")
    channel = _channel()
    projects = _chosen(
        _KeyOrAll(),
        "Whose events are sent; `*` for all, also those that belong to no project.",
    )
    environments = _chosen(
        _KeyOrAll(),
        "Only events about one of these; `*` for all, also those about no environment.",
    )
    paused = StrictBoolean(
        metadata={"description": "While it is paused, events are not sent, and not later either."}
    )


class NewWebhook(_Settings):
    name = SingleLine(
        high=100, required=True, metadata={"description": "Must differ from other webhooks."}
    )
    url = _Url(allow_none=True)
    channel = _channel(allow_none=True)

    @validates_schema
    def _has_one_target(self, data: dict[str, Any], **_: Any) -> None:
        if bool(data.get("url")) is bool(data.get("channel")):
            raise ValidationError("Enter an address, or choose a channel.", "url")


class WebhookChanges(_Settings):
    """What is left out stays as it is."""


class WebhookRow(Schema):
    """A webhook without its secret, which is shown only once."""

    volatile = frozenset({"state", "waiting", "failing", "lastDeliveredAt", "missedEvents"})

    id = fields.Integer(attribute="webhook.id")
    name = fields.String(attribute="webhook.name")
    url = fields.Function(
        lambda view: view.webhook.url or None, metadata={"type": ["string", "null"]}
    )
    channel = fields.String(attribute="webhook.channel", allow_none=True)
    event_types = fields.List(fields.String(), attribute="webhook.event_types")
    projects = fields.List(fields.String(), attribute="webhook.projects")
    environments = fields.List(fields.String(), attribute="webhook.environments")
    paused = fields.Boolean(attribute="webhook.paused")
    hint = fields.String(
        attribute="webhook.hint", metadata={"description": "How the secret ends, before any =."}
    )
    old_secret_until = Timestamp(
        attribute="webhook.old_until",
        allow_none=True,
        metadata={"description": "Until when messages are signed with the old secret too."},
    )
    created_at = Timestamp(attribute="webhook.created_at")
    state = fields.Enum(WebhookState, by_value=True)
    waiting = fields.Integer(
        attribute="traffic.waiting", metadata={"description": "Messages to send."}
    )
    failing = fields.Integer(
        attribute="traffic.failing", metadata={"description": "Those of them that were tried."}
    )
    last_delivered_at = Timestamp(attribute="traffic.last_delivered_at", allow_none=True)
    missed_events = fields.Integer(
        attribute="webhook.missed",
        metadata={"description": "Events removed from the log before they could be sent, at most."},
    )


class WebhookList(Schema):
    version = fields.Constant(1)
    webhooks = fields.List(fields.Nested(WebhookRow), attribute="items")
    total = fields.Integer()


class CreatedWebhook(WebhookRow):
    """The only response with the secret."""

    secret = fields.String()


class DeliveryQuery(PageQuery):
    status = fields.Enum(DeliveryStatus, by_value=True)


class DeliveryRow(Schema):
    id = fields.Integer()
    message_id = fields.String(
        metadata={"description": "The header `webhook-id`, the same each time it is sent."}
    )
    event_id = fields.Integer(allow_none=True)
    event_type = fields.String(allow_none=True, metadata={"description": "`null` for a test."})
    status = fields.Enum(DeliveryStatus, by_value=True)
    attempts = fields.Integer()
    created_at = Timestamp()
    next_attempt_at = Timestamp(attribute="next_at", allow_none=True)
    ended_at = Timestamp(allow_none=True)
    answer_status = fields.Integer(allow_none=True)
    error = fields.String(allow_none=True)
    answer = fields.String(
        allow_none=True, metadata={"description": "The first 1,024 bytes of the last answer."}
    )


class DeliveryList(Schema):
    version = fields.Constant(1)
    deliveries = fields.List(fields.Nested(DeliveryRow), attribute="items")
    total = fields.Integer()
