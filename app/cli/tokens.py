import sys
from datetime import datetime, timedelta
from typing import Any

import click

from app.accounts import service as accounts
from app.accounts.models import Account
from app.cli.commands import ALL, Said, account_of, changing, checked, reading, table
from app.core.actor import Actor
from app.core.db import utcnow
from app.core.errors import NotFound
from app.tokens import schemas
from app.tokens import service as tokens
from app.tokens.models import Token
from app.tokens.secrets import TokenKind

_name = click.argument("name")
_days = click.option(
    "--days", type=click.IntRange(1, 3_650), help="How long it is valid; else for ever."
)
_id = click.argument("id", type=click.IntRange(1))


@click.group()
def token() -> None:
    """Manage access tokens. NAME is that of a person or service account."""


@token.command("list")
@_name
@reading
def list_tokens(_actor: Actor, name: str) -> Said:
    """List the tokens of NAME, without their secrets."""
    page = tokens.search(account_of(name).id, limit=ALL, offset=0)
    headings = ("id", "created", "last used", "expires", "description")
    return Said(schemas.TokenList().dump(page), table(headings, map(_row, page.items)))


@token.command()
@_name
@click.option("--description", required=True, help="What it is for; unique for the account.")
@_days
@changing
def create(actor: Actor, name: str, description: str, days: int | None) -> Said:
    """Create a token for NAME and print its secret, once."""
    values = checked(schemas.NewToken, {"description": description})
    account = account_of(name)
    issued = tokens.issue(actor, account.id, _kind(account), expires_at=_after(days), **values)
    return _issued(issued)


@token.command()
@_name
@_id
@click.option("--overlap-hours", type=int, help="How long the old one stays valid; 24 if left out.")
@_days
@changing
def rotate(actor: Actor, name: str, id: int, overlap_hours: int | None, days: int | None) -> Said:
    """Replace the token ID of NAME by a new one, and print its secret, once."""
    values = checked(schemas.Rotation, {"overlapHours": overlap_hours})
    account = account_of(name)
    overlap = timedelta(hours=values["overlap_hours"])
    issued = tokens.rotate(
        actor, account.id, id, _kind(account), overlap=overlap, expires_at=_after(days)
    )
    return _issued(issued)


@token.command()
@_name
@_id
@changing
def revoke(actor: Actor, name: str, id: int) -> Said:
    """Stop the token ID of NAME at once."""
    account = account_of(name)
    tokens.revoke(actor, account.id, id)
    return Said({"id": id, "userId": account.id}, f"Token {id} of {account.label} is revoked.")


@token.command()
@reading
def whose(_actor: Actor) -> Said:
    """Say whose token is on standard input: "is this ours?" Nothing is remembered of it."""
    found = tokens.known_by(sys.stdin.readline().strip())
    if found is None:
        raise NotFound("This is no token of this instance, and never was.")
    owner = accounts.names([found.account_id])[found.account_id]
    state = _state(found)
    return Said(
        schemas.TokenRow().dump(found) | {"owner": owner, "state": state},
        f"Token {found.id} of {owner}, {found.description!r}: {state}.",
    )


def _issued(issued: tokens.IssuedToken) -> Said:
    value: dict[str, Any] = schemas.CreatedToken().dump(issued)
    return Said(value, "", once={"secret": value.pop("secret")})


def _kind(account: Account) -> TokenKind:
    return TokenKind.PERSONAL if account.is_person else TokenKind.SERVICE_ACCOUNT


def _after(days: int | None) -> datetime | None:
    return utcnow() + timedelta(days=days) if days else None


def _state(found: Token) -> str:
    if found.revoked_at is not None:
        return "revoked"
    return "expired" if found.is_expired else "valid"


def _row(found: Token) -> tuple[object, ...]:
    times = (found.created_at, found.last_seen_at, found.expires_at)
    return found.id, *map(_day, times), found.description


def _day(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d}" if at else "never"
