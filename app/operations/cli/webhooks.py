from typing import Any

import click

from app.core.actor import Actor
from app.delivery.webhooks import schemas, service, traffic
from app.delivery.webhooks.models import Webhook
from app.delivery.webhooks.service import IssuedSecret
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


@click.group()
def webhook() -> None:
    """Manage webhooks, which send events to your own addresses."""


@webhook.command("list")
@query_command
def list_webhooks(_actor: Actor) -> Output:
    """List webhooks by name, without their secrets."""
    page = service.search(limit=UNLIMITED, offset=0)
    found = page.of(traffic.views(page.items))
    return Output(schemas.WebhookList().dump(found), table(HEADINGS, map(_row, found.items)))


@webhook.command()
@click.argument("name")
@click.argument("url")
@_types
@_projects
@change_command
def create(actor: Actor, name: str, url: str, **given: Any) -> Output:
    """Create the webhook NAME, which sends events to URL, and print its secret."""
    values = validated(schemas.NewWebhook, {"name": name, "url": url, **_fields(given)})
    hosts = current_settings().webhook_hosts
    return _issued(service.create(actor, key=current_key(), hosts=hosts, **values))


@webhook.command()
@_id
@click.option("--name", help="Another name.")
@click.option("--url", help="Another address.")
@_types
@_projects
@click.option("--paused/--not-paused", default=None, help="Whether nothing is sent.")
@change_command
def update(actor: Actor, id: int, **given: Any) -> Output:
    """Change the webhook ID. Options that are left out change nothing."""
    values = validated(schemas.WebhookChanges, _fields(given))
    found = service.get(id, for_change=True)
    service.update(actor, found, hosts=current_settings().webhook_hosts, **values)
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
    types, projects = given.pop("event_types"), given.pop("projects")
    return {"eventTypes": list(types) or None, "projects": list(projects) or None, **given}


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
    return *state, view.webhook.shown_url, view.webhook.name
