import sys
from datetime import datetime, timedelta
from typing import Any

import click

from app.access.scim_tokens import schemas as scim_schemas
from app.access.scim_tokens.models import ScimToken
from app.access.security_log import service as security_log
from app.access.security_log.models import SecurityKind
from app.access.security_log.service import LogEntry
from app.accounts import service as accounts
from app.accounts.models import Account
from app.accounts.tokens import schemas
from app.accounts.tokens import service as tokens
from app.accounts.tokens.models import Issued, Secret, Token
from app.accounts.tokens.secrets import TokenKind
from app.catalogue.sdk_tokens import schemas as sdk_schemas
from app.catalogue.sdk_tokens.models import SdkToken
from app.core.actor import COMMAND_LINE, Actor
from app.core.clock import utcnow
from app.core.errors import NotFound
from app.operations.cli.commands import (
    UNLIMITED,
    Output,
    change_command,
    find_account,
    json_option,
    print_output,
    query_command,
    table,
    validated,
)
from app.operations.server.instance import write_transaction

_name = click.argument("name")
days_option = click.option(
    "--days",
    type=click.IntRange(1, 3_650),
    help="How many days the token is valid; without it, it never expires.",
)
_id = click.argument("id", type=click.IntRange(1))


@click.group()
def token() -> None:
    """Manage access tokens. NAME is a user or a service account."""


@token.command("list")
@_name
@query_command
def list_tokens(_actor: Actor, name: str) -> Output:
    """List the tokens of NAME, without their secrets."""
    page = tokens.search(find_account(name).id, limit=UNLIMITED, offset=0)
    headings = ("id", "created", "last used", "expires", "description")
    return Output(schemas.TokenList().dump(page), table(headings, map(_row, page.items)))


@token.command()
@_name
@click.option(
    "--description",
    required=True,
    help="What the token is for. Must differ from the account's others.",
)
@days_option
@change_command
def create(actor: Actor, name: str, description: str, days: int | None) -> Output:
    """Create a token for NAME and print its secret."""
    values = validated(schemas.NewToken, {"description": description})
    account = find_account(name)
    issued = tokens.issue(actor, account.id, _kind(account), expires_at=expiry(days), **values)
    return _issued(issued)


@token.command()
@_name
@_id
@click.option(
    "--overlap-hours", type=int, help="How long the old token keeps working. Default: 24."
)
@days_option
@change_command
def rotate(actor: Actor, name: str, id: int, overlap_hours: int | None, days: int | None) -> Output:
    """Replace the token ID of NAME with a new one and print its secret."""
    values = validated(schemas.Rotation, {"overlapHours": overlap_hours})
    account = find_account(name)
    overlap = timedelta(hours=values["overlap_hours"])
    issued = tokens.rotate(
        actor, account.id, id, _kind(account), overlap=overlap, expires_at=expiry(days)
    )
    return _issued(issued)


@token.command()
@_name
@_id
@change_command
def revoke(actor: Actor, name: str, id: int) -> Output:
    """Revoke the token ID of NAME."""
    account = find_account(name)
    tokens.revoke(actor, account.id, id)
    return Output({"id": id, "userId": account.id}, f"Revoked token {id} of {account.label}.")


@token.command()
@json_option
def whose(*, as_json: bool) -> None:
    """Look up whose token is on standard input, for example one that leaked. It isn't stored."""
    secret = sys.stdin.readline().strip()
    with write_transaction(even_in_maintenance=True):
        found, sdk_token = Token.known_by(secret), SdkToken.known_by(secret)
        scim_token = ScimToken.known_by(secret)
        owner = accounts.find(found.account_id) if found else None
        unowned = sdk_token or scim_token
        detail = unowned.label if unowned else security_log.looked_up(found, owner)
        security_log.record(LogEntry.by(COMMAND_LINE, SecurityKind.TOKEN_LOOKED_UP, detail))
    if sdk_token is not None:
        print_output(_of_sdk(sdk_token), as_json=as_json)
        return
    if scim_token is not None:
        print_output(_of_scim(scim_token), as_json=as_json)
        return
    if found is None or owner is None:
        raise NotFound("This token was not issued here.")
    state = _state(found)
    output = Output(
        schemas.TokenRow().dump(found) | {"owner": owner.called, "state": state},
        f"Token {found.id} of {owner.called}, {found.description!r}: {state}.",
    )
    print_output(output, as_json=as_json)


def _of_sdk(found: SdkToken) -> Output:
    state = _state(found)
    return Output(
        sdk_schemas.SdkTokenRow().dump(found) | {"state": state},
        f"SDK token {found.id}, {found.name!r}, for {found.environment}. "
        f"It reads {found.reads}: {state}.",
    )


def _of_scim(found: ScimToken) -> Output:
    state = _state(found)
    return Output(
        scim_schemas.ScimTokenRow().dump(found) | {"state": state},
        f"SCIM token {found.id}, {found.name!r}, with which a directory manages users and "
        f"groups: {state}.",
    )


def _issued(issued: Issued[Token]) -> Output:
    value: dict[str, Any] = schemas.CreatedToken().dump(issued)
    return Output(value, "", secrets={"secret": value.pop("secret")})


def _kind(account: Account) -> TokenKind:
    return TokenKind.PERSONAL if account.is_person else TokenKind.SERVICE_ACCOUNT


def expiry(days: int | None) -> datetime | None:
    """When a token that is valid for so many days expires."""
    return utcnow() + timedelta(days=days) if days else None


def _state(found: Secret) -> str:
    if found.revoked_at is not None:
        return "revoked"
    return "expired" if found.is_expired else "valid"


def _row(found: Token) -> tuple[object, ...]:
    times = (found.created_at, found.last_seen_at, found.expires_at)
    return found.id, *map(day, times), found.description


def day(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d}" if at else "never"
