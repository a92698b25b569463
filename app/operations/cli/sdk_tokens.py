from datetime import timedelta
from typing import Any

import click

from app.accounts.tokens.models import Issued
from app.catalogue.sdk_tokens import schemas, service
from app.catalogue.sdk_tokens.models import SdkToken, SdkTokenState, SdkTokenType
from app.core.actor import Actor
from app.core.words import spoken
from app.operations.cli.commands import (
    UNLIMITED,
    Output,
    change_command,
    query_command,
    table,
    validated,
)
from app.operations.cli.tokens import day, days_option, expiry

HEADINGS = ("id", "type", "environment", "projects", "last used", "expires", "name", "used by")
_id = click.argument("id", type=click.IntRange(1))


@click.group()
def sdk_token() -> None:
    """Manage SDK tokens, which applications read features with."""


@sdk_token.command("list")
@click.option("--text", help="Part of the name or an application, or the end of the secret.")
@click.option("--environment", help="What they read.")
@click.option("--type", type=click.Choice([type.value for type in SdkTokenType]))
@click.option(
    "--state",
    type=click.Choice([state.value for state in SdkTokenState]),
    help="expiring: within 30 days; unused: for 90 days.",
)
@query_command
def list_tokens(_actor: Actor, **given: Any) -> Output:
    """List SDK tokens by name, without their secrets."""
    query = validated(schemas.SdkTokenQuery, given) | {"limit": UNLIMITED}
    page = service.search(**query)
    return Output(schemas.SdkTokenList().dump(page), table(HEADINGS, map(_row, page.items)))


@sdk_token.command()
@click.argument("name")
@click.option("--environment", required=True, help="Where the application runs.")
@click.option("--project", "projects", multiple=True, help="What it reads. Default: all projects.")
@click.option(
    "--type",
    type=click.Choice([type.value for type in SdkTokenType]),
    default=SdkTokenType.CLIENT.value,
    show_default=True,
    help="client: for servers; frontend: for browsers and phones.",
)
@days_option
@change_command
def create(
    actor: Actor, name: str, projects: tuple[str, ...], days: int | None, **given: Any
) -> Output:
    """Create the SDK token NAME and print its secret."""
    body = {"tokenName": name, "projects": list(projects) or None, **given}
    values = validated(schemas.NewSdkToken, body)
    return _issued(service.create(actor, **values, expires_at=expiry(days)))


@sdk_token.command()
@_id
@click.option(
    "--overlap-hours", type=int, help="How long the old token keeps working. Default: 24."
)
@change_command
def rotate(actor: Actor, id: int, overlap_hours: int | None) -> Output:
    """Replace the SDK token ID with a new one and print its secret."""
    values = validated(schemas.SdkTokenRotation, {"overlapHours": overlap_hours})
    old = service.get(str(id), for_change=True)
    return _issued(service.rotate(actor, old, overlap=timedelta(hours=values["overlap_hours"])))


@sdk_token.command()
@_id
@change_command
def revoke(actor: Actor, id: int) -> Output:
    """Revoke the SDK token ID. Applications that use it get no more changes."""
    token = service.get(str(id), for_change=True)
    service.revoke(actor, token)
    return Output({"id": id}, f"Revoked SDK token {token.name} (id {id}).")


def _issued(issued: Issued[SdkToken]) -> Output:
    value: dict[str, Any] = schemas.CreatedSdkToken().dump(issued)
    return Output(value, "", secrets={"secret": value.pop("secret")})


def _row(token: SdkToken) -> tuple[object, ...]:
    reads = (token.type, token.environment, ", ".join(token.projects))
    days = (day(token.last_seen_at), day(token.expires_at))
    return token.id, *reads, *days, token.name, spoken(token.applications)
