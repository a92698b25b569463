import click

from app.access.service_accounts import schemas, service
from app.access.service_accounts.service import ServiceAccount
from app.accounts import service as accounts
from app.core.actor import Actor
from app.core.errors import Conflict
from app.core.permissions import ROOT_ROLES
from app.operations.cli.commands import (
    UNLIMITED,
    Output,
    change_command,
    find_account,
    query_command,
    role_option,
    table,
    validated,
)

HEADINGS = ("id", "role", "tokens", "username", "name")
_username = click.argument("username")


@click.group("service-account")
def service_account() -> None:
    """Manage accounts for scripts. For their tokens see: flagstaff token."""


@service_account.command("list")
@click.option("--text", help="Part of the username or name.")
@query_command
def list_service_accounts(_actor: Actor, text: str | None) -> Output:
    """List service accounts."""
    query = validated(schemas.ServiceAccountQuery, {"text": text}) | {"limit": UNLIMITED}
    page = service.search(**query)
    return Output(schemas.ServiceAccountList().dump(page), table(HEADINGS, map(_row, page.items)))


@service_account.command()
@click.option("--username", help="Created from the name if left out.")
@click.option("--name", help="The name that people see.")
@role_option(ROOT_ROLES, default="Viewer", show_default=True)
@change_command
def create(actor: Actor, username: str | None, name: str | None, role: int) -> Output:
    """Create a service account."""
    given = {"username": username, "name": name, "rootRole": role}
    found = service.create(actor, **validated(schemas.NewServiceAccount, given))
    return _output(found)


@service_account.command()
@_username
@click.option("--username", "new_username", help="The new username.")
@click.option("--name", help="The name that people see.")
@role_option(ROOT_ROLES)
@change_command
def update(
    actor: Actor, username: str, new_username: str | None, name: str | None, role: int | None
) -> Output:
    """Change the service account USERNAME. Options that are left out change nothing."""
    found = _found(username)
    given = {"username": new_username, "name": name, "rootRole": role}
    accounts.update(actor, found.account, **validated(schemas.ServiceAccountChanges, given))
    return _output(found)


@service_account.command()
@_username
@change_command
def delete(actor: Actor, username: str) -> Output:
    """Delete the service account USERNAME and revoke its tokens."""
    account = _found(username).account
    label = account.label
    accounts.remove(actor, account)
    return Output({"id": account.id}, f"Deleted {label} (id {account.id}).")


def _found(username: str) -> ServiceAccount:
    account = find_account(username)
    if account.is_person:
        raise Conflict(f"{username!r} is a user, not a service account.")
    return service.get_for_change(account.id)


def _output(found: ServiceAccount) -> Output:
    return Output(schemas.ServiceAccountDetail().dump(found), table(HEADINGS, [_row(found)]))


def _row(found: ServiceAccount) -> tuple[object, ...]:
    account = found.account
    return account.id, account.role.title, len(found.tokens), account.label, account.name
