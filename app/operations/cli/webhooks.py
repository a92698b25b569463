from typing import Any

import click

from app.core.actor import Actor
from app.delivery.webhooks import schemas, service, traffic
from app.delivery.webhooks.models import Webhook
from app.delivery.webhooks.service import Allowed, IssuedSecret
from app.delivery.webhooks.traffic import WebhookView
from app.operations.cli.commands import (
    UNLIMITED,
    Output,
    change_command,
    query_command,
    table,
    validated,
)
from app.web.current import current_key, current_settings

HEADINGS = ("id", "state", "waiting", "last delivery", "address", "name")
_id = click.argument("id", type=int)
_types = click.option(
    "--type", "event_types", multiple=True, help="A type of event. Default: all of them."
)
_projects = click.option(
    "--project", "projects", multiple=True, help="Whose events are sent. Default: all projects."
)
_environments = click.option(
    "--environment",
    "environments",
    multiple=True,
    help="Only events about it. Default: all, and those about none.",
)


@click.group()
def webhook() -> None:
    """Manage webhooks, which send events to your own addresses and to channels."""


@webhook.command("list")
@query_command
def list_webhooks(_actor: Actor) -> Output:
    """List webhooks by name, without their secrets."""
    page = service.search(limit=UNLIMITED, offset=0)
    found = page.of(traffic.views(page.items))
    return Output(schemas.WebhookList().dump(found), table(HEADINGS, map(_row, found.items)))


@webhook.command()
@click.argument("name")
@click.argument("url", required=False)
@click.option("--channel", help="Instead of URL: a channel of FLAGSTAFF_CHANNELS.")
@_types
@_projects
@_environments
@change_command
def create(actor: Actor, name: str, **given: Any) -> Output:
    """Create the webhook NAME, which sends events to URL, and print its secret."""
    values = validated(schemas.NewWebhook, {"name": name, **_fields(given)})
    allowed = Allowed.by(current_settings())
    issued = service.create(actor, key=current_key(), allowed=allowed, **values)
    return _output(issued.webhook) if issued.webhook.channel else _issued(issued)


@webhook.command()
@_id
@click.option("--name", help="Another name.")
@click.option("--url", help="Another address.")
@click.option("--channel", help="Another channel.")
@_types
@_projects
@_environments
@click.option("--paused/--not-paused", default=None, help="Whether nothing is sent.")
@change_command
def update(actor: Actor, id: int, **given: Any) -> Output:
    """Change the webhook ID. Options that are left out change nothing."""
    values = validated(schemas.WebhookChanges, _fields(given))
    found = service.get(id, for_change=True)
    service.update(actor, found, allowed=Allowed.by(current_settings()), **values)
    return _output(found)


@webhook.command()
@_id
@change_command
def rotate(actor: Actor, id: int) -> Output:
    """Replace the secret of the webhook ID and print the new one."""
    return _issued(service.rotate(actor, service.get(id, for_change=True), key=current_key()))


@webhook.command()
@_id
@change_command
def test(_actor: Actor, id: int) -> Output:
    """Let the server send a test to the webhook ID."""
    found = service.get(id, for_change=True)
    delivery = service.send_test(found)
    said = f"The server sends a test to {found.name}. Its page says what the receiver answers."
    return Output(schemas.DeliveryRow().dump(delivery), said)


@webhook.command()
@_id
@change_command
def delete(actor: Actor, id: int) -> Output:
    """Delete the webhook ID. What waits to be sent is dropped."""
    found = service.get(id, for_change=True)
    service.remove(actor, found)
    return Output({"id": id}, f"Deleted webhook {found.name} (id {id}).")


def _fields(given: dict[str, Any]) -> dict[str, Any]:
    """The options by the names they have in the API."""
    chosen = {"eventTypes": "event_types", "projects": "projects", "environments": "environments"}
    return {key: list(given.pop(name)) or None for key, name in chosen.items()} | given


def _issued(issued: IssuedSecret) -> Output:
    output = _output(issued.webhook)
    return Output(output.data, "", secrets={"secret": issued.secret})


def _output(found: Webhook) -> Output:
    view = traffic.view(found)
    return Output(schemas.WebhookRow().dump(view), table(HEADINGS, [_row(view)]))


def _row(view: WebhookView) -> tuple[object, ...]:
    last = view.traffic.last_delivered_at
    day = f"{last:%Y-%m-%d %H:%M}" if last else "never"
    state = (view.webhook.id, view.state.value, view.traffic.waiting, day)
    return *state, view.webhook.target, view.webhook.name
