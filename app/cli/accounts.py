from datetime import timedelta
from typing import Any

import click
from marshmallow import ValidationError

from app.accounts import passwords
from app.accounts import service as accounts
from app.accounts.models import Account, AccountKind
from app.accounts.schemas import NewUser
from app.auth import second_factor
from app.cli.instance import change
from app.core.actor import COMMAND_LINE
from app.core.db import utcnow
from app.core.errors import Conflict, NotFound
from app.core.permissions import ROOT_ROLES
from app.core.schemas import Schema
from app.tokens import service as tokens
from app.tokens.schemas import NewToken
from app.tokens.secrets import TokenKind

ALL = 1_000_000
ROLES = {role.title: role for role in ROOT_ROLES}


@click.group()
def user() -> None:
    """Manage people."""


@user.command("create")
@click.option("--username", help="The name to sign in with.")
@click.option("--email", help="The e-mail address; enough without a username.")
@click.option("--name", help="The full name.")
@click.option(
    "--role",
    type=click.Choice(list(ROLES), case_sensitive=False),
    default="Viewer",
    show_default=True,
    help="The root role.",
)
def create_user(username: str | None, email: str | None, name: str | None, role: str) -> None:
    """Create a person and print the one-time link to set the password."""
    given = {"username": username, "email": email, "name": name}
    values = _checked(NewUser, given | {"rootRole": ROLES[role].value})
    with change() as settings:
        account = accounts.create(COMMAND_LINE, **values)
        link = settings.address(passwords.make_link(account))
    click.echo(f"Created {account.label} with the id {account.id} as {role}.")
    click.echo(f"Link to set the password, once, within 48 hours: {link}")


@user.command("list")
def list_users() -> None:
    """List people: id, role, last sign-in, name to sign in with."""
    with change():
        page = accounts.search(AccountKind.PERSON, limit=ALL, offset=0)
        for account in page.items:
            seen = account.last_sign_in_at
            when = f"{seen:%Y-%m-%d}" if seen else "never"
            click.echo(f"{account.id:>6}  {account.role.title:<6}  {when:<10}  {account.label}")


@user.command("reset-password")
@click.argument("username")
def reset_password(username: str) -> None:
    """Print a one-time link by which the person USERNAME sets a new password."""
    with change() as settings:
        account = _account(username)
        if not account.is_person:
            raise Conflict(f"{username!r} is a service account, which has no password.")
        link = settings.address(passwords.make_link(account))
    click.echo(link)


@user.command("reset-second-step")
@click.argument("username")
def reset_second_step(username: str) -> None:
    """Let the password be enough for the person USERNAME, who lost his authenticator."""
    with change():
        account = _account(username)
        second_factor.turn_off(COMMAND_LINE, account)
    click.echo(f"Two-step sign-in of {account.label} is off.")


@click.group()
def token() -> None:
    """Manage access tokens."""


@token.command("create")
@click.argument("username")
@click.option("--description", required=True, help="What it is for; unique for the account.")
@click.option("--days", type=click.IntRange(1, 3_650), help="How long it is valid; else for ever.")
def create_token(username: str, description: str, days: int | None) -> None:
    """Create a token for the person or service account USERNAME and print its secret, once."""
    values = _checked(NewToken, {"description": description})
    with change():
        account = _account(username)
        issued = tokens.issue(
            COMMAND_LINE,
            account.id,
            TokenKind.PERSONAL if account.is_person else TokenKind.SERVICE_ACCOUNT,
            expires_at=utcnow() + timedelta(days=days) if days else None,
            **values,
        )
        secret = issued.secret
    click.echo(secret)  # after the commit: what is printed exists


def _account(username: str) -> Account:
    account = accounts.with_username(username)
    if account is None:
        raise NotFound(f"There is no account with the username {username!r}.")
    return account


def _checked(schema: type[Schema], given: dict[str, Any]) -> dict[str, Any]:
    """The options as the API's own rules take them."""
    try:
        values: dict[str, Any] = schema().load({k: v for k, v in given.items() if v is not None})
    except ValidationError as error:
        [(option, messages), *_] = error.messages_dict.items()
        raise click.BadParameter(messages[0], param_hint=f"--{option}") from None
    return values
