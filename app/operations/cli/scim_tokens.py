import click

from app.access.scim_tokens import disconnecting, schemas
from app.access.scim_tokens import service as tokens
from app.access.scim_tokens.models import ScimToken
from app.core.actor import Actor
from app.core.words import counted
from app.operations.cli.commands import Output, change_command, query_command, table, validated
from app.operations.cli.tokens import day, days_option, expiry

HEADINGS = ("id", "created", "last used", "expires", "name")


@click.group()
def scim_token() -> None:
    """Manage SCIM tokens, with which directories manage users and groups."""


@scim_token.command("list")
@query_command
def list_tokens(_actor: Actor) -> Output:
    """List SCIM tokens, without their secrets."""
    found = tokens.list_all()
    data = schemas.ScimTokenList().dump({"tokens": found})
    return Output(data, table(HEADINGS, map(_row, found)))


@scim_token.command()
@click.argument("name")
@days_option
@change_command
def create(actor: Actor, name: str, days: int | None) -> Output:
    """Create the SCIM token NAME and print its secret."""
    values = validated(schemas.NewScimToken, {"tokenName": name})
    issued = tokens.create(actor, **values | {"expires_at": expiry(days)})
    value = dict(schemas.CreatedScimToken().dump(issued))
    return Output(value, "", secrets={"secret": value.pop("secret")})


@scim_token.command()
@click.argument("id", type=click.IntRange(1))
@change_command
def revoke(actor: Actor, id: int) -> Output:
    """Revoke the SCIM token with the id ID."""
    token = tokens.get(id)
    tokens.revoke(actor, id)
    return Output({"id": id}, f"Revoked SCIM token {token.name}.")


@scim_token.command()
@change_command
def disconnect(actor: Actor) -> Output:
    """Revoke all SCIM tokens, and manage users and groups by hand again."""
    ended = disconnecting.disconnect(actor)
    said = (
        f"Disconnected. {counted(ended.users, 'user')} and {counted(ended.groups, 'group')} are "
        "managed by hand now."
    )
    return Output(schemas.Managed().dump(ended), said)


def _row(token: ScimToken) -> tuple[object, ...]:
    created, seen, ends = map(day, (token.created_at, token.last_seen_at, token.expires_at))
    return token.id, created, seen, ends, token.name
