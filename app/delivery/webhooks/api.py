from dataclasses import dataclass
from typing import Any

from flask import Flask, Response, url_for

from app.core.paging import Page
from app.core.permissions import Permission
from app.delivery.webhooks import outbox, schemas, service, traffic
from app.delivery.webhooks.models import Delivery, Webhook
from app.delivery.webhooks.service import Allowed, IssuedSecret
from app.delivery.webhooks.traffic import WebhookView
from app.web.current import current_actor, current_key, current_settings
from app.web.listing import PageQuery
from app.web.requests import check_if_match
from app.web.routes import ApiBlueprint, no_body

EXAMPLE = {
    "name": "Payments channel",
    "url": "https://hooks.example.com/flagstaff",
    "eventTypes": ["feature-environment-enabled", "feature-environment-disabled"],
    "projects": ["default"],
}

bp = ApiBlueprint(
    "webhooks",
    __name__,
    url_prefix="/api/admin/webhooks",
    description="Addresses and channels that events are sent to.",
)


def init_app(app: Flask) -> None:
    """Add what waits to be sent to the metrics."""
    app.extensions["flagstaff.metrics"].watch(
        "flagstaff_webhook_messages_waiting",
        "Messages that wait to be sent to webhooks.",
        outbox.number_waiting,
    )


@bp.get("", needs=Permission.ADMIN)
@bp.arguments(PageQuery, location="query")
@bp.response(200, schemas.WebhookList)
def index(query: dict[str, Any]) -> Page[WebhookView]:
    """List webhooks"""
    page = service.search(**query)
    return page.of(traffic.views(page.items))


@bp.post("", needs=Permission.ADMIN, answers_with_secret=True)
@bp.arguments(schemas.NewWebhook, example=EXAMPLE)
@bp.response(201, schemas.CreatedWebhook)
def create(data: dict[str, Any]) -> tuple["Issued", dict[str, str]]:
    """Create a webhook

    It gets events from now on: signed requests to `url`, whose host must be in
    FLAGSTAFF_WEBHOOK_HOSTS, or messages for people to `channel`, one of FLAGSTAFF_CHANNELS. This
    response is the only one that contains the secret, which a channel doesn't need.
    """
    allowed = Allowed.by(current_settings())
    issued = service.create(current_actor, key=current_key(), allowed=allowed, **data)
    return Issued.of(issued), {"Location": url_for(".show", id=issued.webhook.id)}


@bp.get("/<id:id>", needs=Permission.ADMIN)
@bp.response(200, schemas.WebhookRow, etag=True)
def show(id: int) -> WebhookView:
    """Read a webhook, without its secret"""
    return traffic.view(service.get(id))


@bp.put("/<id:id>", needs=Permission.ADMIN, refuses=(409, 412))
@bp.arguments(schemas.WebhookChanges, example={"paused": True})
@bp.response(204)
def update(data: dict[str, Any], id: int) -> Response:
    """Update a webhook

    Fields that are left out stay as they are. While a webhook is paused, events are not sent, and
    not later either.
    """
    webhook = _get_for_change(id)
    service.update(current_actor, webhook, allowed=Allowed.by(current_settings()), **data)
    return no_body(204)


@bp.delete("/<id:id>", needs=Permission.ADMIN, refuses=(412,))
@bp.response(204)
def remove(id: int) -> Response:
    """Delete a webhook

    What waits to be sent is dropped.
    """
    service.remove(current_actor, _get_for_change(id))
    return no_body(204)


@bp.post("/<id:id>/rotate", needs=Permission.ADMIN, answers_with_secret=True)
@bp.response(201, schemas.CreatedWebhook)
def rotate(id: int) -> "Issued":
    """Replace the secret of a webhook

    For 24 hours messages are signed with the old secret too, so that you have time to switch.
    """
    webhook = service.get(id, for_change=True)
    return Issued.of(service.rotate(current_actor, webhook, key=current_key()))


@bp.post("/<id:id>/test", needs=Permission.ADMIN)
@bp.response(202, schemas.DeliveryRow)
def send_test(id: int) -> Delivery:
    """Send a test

    Within seconds, and once. The list of deliveries says what the receiver answered.
    """
    return service.send_test(service.get(id, for_change=True))


@bp.get("/<id:id>/deliveries", needs=Permission.ADMIN)
@bp.arguments(schemas.DeliveryQuery, location="query")
@bp.response(200, schemas.DeliveryList)
def index_deliveries(query: dict[str, Any], id: int) -> Page[Delivery]:
    """List the deliveries of a webhook

    Newest first: those that wait, and the last 1,000 others.
    """
    return service.deliveries(service.get(id).id, **query)


@bp.post("/<id:id>/deliveries/<id:delivery_id>/send-again", needs=Permission.ADMIN, refuses=(409,))
@bp.response(202, schemas.DeliveryRow)
def send_again(id: int, delivery_id: int) -> Delivery:
    """Send a message again

    With the same `webhook-id`, within seconds, whatever else waits.
    """
    return service.send_again(service.get(id, for_change=True), delivery_id)


@dataclass(frozen=True, slots=True)
class Issued(WebhookView):
    """A webhook with its new secret."""

    secret: str

    @classmethod
    def of(cls, issued: IssuedSecret) -> "Issued":
        seen = traffic.view(issued.webhook)
        return cls(seen.webhook, seen.traffic, issued.secret)


def _get_for_change(id: int) -> Webhook:
    """The webhook, if the caller knows its present state."""
    webhook = service.get(id, for_change=True)
    check_if_match(schemas.WebhookRow, traffic.view(webhook))
    return webhook
